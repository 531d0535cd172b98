#!/bin/sh
# Drawings of matrices from files: heatmap.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"
: >in

cat >m.jsonl <<'END'
{"source":"the white house","source_symbols":["the","white","house","</s>"],"text":"la maison blanche","score":-1.5,"normalized":-0.375,"symbols":["la","maison","blanche","</s>"],"alignment":[[0.5,0.1,0.4,0],[0.05,0.05,0.9,0],[0.1,0.75,0.1,0.05],[0,0,0,1]]}

{"line":3,"error":"byte 2: not JSON"}
{"source_symbols":["قط","</s>"],"text":"猫","symbols":["猫","</s>"],"alignment":[[1,0],[0,1]],"hypotheses":[{"text":"猫","score":-1,"normalized":-1,"symbols":["猫","</s>"],"alignment":[[1,0],[0,1]]},{"text":"🐈 .","score":-2,"normalized":-2,"symbols":["🐈",".","</s>"],"alignment":[[1,0],[0.5,0.5],[0,1]]}]}
END

# ---- text

cat >expected <<'END'
la maison blanche
score -1.500000, normalized -0.375000
        1  2  3  4 
     la[▒▒]   ▒▒   
 maison      [██]  
blanche   [▓▓]     
   </s>          ██
        1:the 2:white 3:house 4:</s>


(empty: nothing to draw)


(byte 2: not JSON)

猫
score -1.000000, normalized -1.000000
     1  2 
  猫[██]  
</s>    ██
     1:L+قطL+ 2:</s>

🐈 .
score -2.000000, normalized -2.000000
     1  2 
  🐈[██]  
   .[▒▒]▒▒
</s>    ██
     1:L+قطL+ 2:</s>
END
sed "s/L+/$(printf '\342\200\216')/g" expected >wanted
run 0 '' heatmap --matrix m.jsonl --mark largest --n-best 5 --columns 80
cmp -s out wanted || fail "text: $(diff wanted out)"
cp m.jsonl in
run 0 '' heatmap --matrix - --mark largest --n-best 5 --columns 80
cmp -s out wanted || fail 'text: standard input is drawn otherwise'
: >in
run 0 '' heatmap --matrix m.jsonl --color always
grep -q "$(printf '\033\\[48;5;')" out || fail '--color always: no colours'
run 0 '' heatmap --matrix m.jsonl
! grep -q "$(printf '\033')" out || fail 'colours where there is no terminal'

printf '0-0 2-1 1-2\n\n\n0-0\n' >links
sed '/^🐈 \.$/,$d' wanted | sed '$d' >best
run 0 '' heatmap --matrix m.jsonl --links links --columns 80
cmp -s out best || fail "--links: $(diff best out)"
printf '0-0\n\n\n0-0 1-0\n' >links
"$program" heatmap --matrix m.jsonl --links links -o l.svg 2>err
[ $? -eq 1 ] || fail '--links outside: exit status is not 1'
grep -q '^softalign: links:4: link 1-0 is outside: there are 1 source and 1 target words$' err || fail "--links: $(cat err)"
printf '0-0\n' >links
"$program" heatmap --matrix m.jsonl --links links -o l.svg 2>err
grep -q '^softalign: links has only 1 lines' err || fail "--links too short: $(cat err)"
printf '9-9 x-y 1-\n' >links
"$program" heatmap --matrix m.jsonl --links links -o l.svg 2>err
grep -q '^softalign: links:1: ' err || fail "--links: $(cat err)"
[ ! -e l-1.svg ] || fail '--links: a picture in spite of an error'
run 2 'with neither --mark nor --subwords' heatmap --matrix m.jsonl --links links --mark largest
run 1 'nowhere: ' heatmap --matrix m.jsonl --links nowhere

# ---- pictures

run 0 '' heatmap --matrix m.jsonl --n-best 2 -o x.svg
[ "$(echo x-*.svg)" = 'x-1.svg x-2.svg x-3.svg x-4.svg x-5.svg' ] || fail "files of several pictures: $(echo x*)"
grep -q '>2 of 2, score -2.00<' x-5.svg || fail 'no title of a second hypothesis'
grep -q 'direction="rtl"[^>]*>قط<' x-4.svg || fail 'svg: no text from right to left'
head -n 1 m.jsonl >one.jsonl
run 0 '' heatmap --matrix one.jsonl -o y.SVG
[ -e y.SVG ] || fail 'one picture is not in the file of that name'

# number FILE OFFSET: four bytes, the largest first
number() {
    od -An -tu1 -j "$2" -N 4 "$1" | awk '{ print (($1 * 256 + $2) * 256 + $3) * 256 + $4 }'
}
run_pictures() {
    cmp -s x.png y.png && cmp -s x.pdf y.pdf || fail 'equal pictures are other files'
    [ "$(head -c 8 x.png | od -An -tx1)" = ' 89 50 4e 47 0d 0a 1a 0a' ] || fail 'x.png is no PNG'
    width=$(number x.png 16) height=$(number x.png 20)
    # Four cells of 20 points, two pixels a point; labels and a legend.
    [ "$width" -gt 400 ] && [ "$width" -lt 700 ] && [ "$height" -gt 250 ] && [ "$height" -lt 400 ] ||
        fail "x.png is $width x $height"
    grep -aq '/Count 5' x.pdf || fail 'five pictures are not five pages'
    # What is there stays when the disk is full, and nothing half-written remains.
    (ulimit -f 1; run 1 '^softalign: x.png: ' heatmap --matrix one.jsonl --palette viridis -o x.png; exit $failed) ||
        failed=1
    cmp -s x.png y.png || fail 'a picture that could not be written has damaged the old one'
    [ ! -e x.png.tmp ] || fail 'a part of a picture was left'
    cat >empty.conf <<'END'
<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig></fontconfig>
END
    FONTCONFIG_FILE=$work/empty.conf run 2 'no font is installed' heatmap --matrix one.jsonl -o none.png
    FONTCONFIG_FILE=$work/empty.conf run 0 '' heatmap --matrix one.jsonl -o none.svg
    [ ! -e none.png ] || fail 'a picture without fonts was written'
    awk 'BEGIN {
        n = 1500
        printf "{\"source_symbols\":[\"a\""; for (i = 1; i < n; i++) printf ",\"a\""
        printf "],\"symbols\":[\"b\"],\"alignment\":[[1"; for (i = 1; i < n; i++) printf ",0"
        print "]]}"
    }' >wide.jsonl
    run 2 'wide.png: too large for a PNG' heatmap --matrix wide.jsonl -o wide.png
    run 0 '' heatmap --matrix wide.jsonl -o wide.pdf
}
# Where softalign was built without cairo, there is one message for all.
if "$program" heatmap --matrix one.jsonl -o x.png 2>err; then
    run 0 '' heatmap --matrix one.jsonl -o y.png
    # Chinese and emoji may have no font here.
    "$program" heatmap --matrix m.jsonl --n-best 2 -o x.pdf 2>err || fail "pdf: $(cat err)"
    sleep 1 # a date would differ
    "$program" heatmap --matrix m.jsonl --n-best 2 -o y.pdf 2>err
    run_pictures
else
    grep -q 'drawing module cannot be loaded.*or write .svg' err || fail "without a module: $(cat err)"
fi

# ---- what is not drawn

run 2 'x.jpeg: the ending of its name' heatmap --matrix one.jsonl -o x.jpeg
run 1 'none/x.svg' heatmap --matrix one.jsonl -o none/x.svg
run 1 'there is nothing to draw: z.svg is not written' heatmap --matrix /dev/stdin -o z.svg
[ ! -e z.svg ] || fail 'a file for no picture'
run 1 'nowhere.*No such file' heatmap --matrix nowhere
while IFS='	' read -r pattern line; do
    printf '\n%s\n' "$line" >bad.jsonl
    "$program" heatmap --matrix bad.jsonl -o bad.svg >out 2>err </dev/null
    status=$?
    [ "$status" -eq 1 ] || fail "$line: exit status $status"
    grep -q "^softalign: bad.jsonl:2: $pattern" err || fail "$line: $(cat err)"
    [ ! -e bad.svg ] && [ ! -e bad-1.svg ] || fail "$line: a picture was written"
done <<'END'
byte [0-9]*: not JSON	{"symbols":["a"],
not an object	[1,2]
no member "source_symbols"	{"symbols":["a"],"alignment":[[1]]}
no member "symbols"	{"source_symbols":["a"],"alignment":[[1]]}
item 2 of "symbols" is no string	{"source_symbols":["a"],"symbols":["a",5],"alignment":[[1],[1]]}
"alignment" has 1 rows for 2 symbols	{"source_symbols":["a"],"symbols":["a","b"],"alignment":[[1]]}
row 1 of "alignment" has 2 numbers for 1 source symbols	{"source_symbols":["a"],"symbols":["a"],"alignment":[[1,0]]}
row 1 of "alignment" has 0 numbers	{"source_symbols":["a"],"symbols":["a"],"alignment":["x"]}
number 1 of row 1 of "alignment" is none from 0 to 1	{"source_symbols":["a"],"symbols":["a"],"alignment":[["x"]]}
number 1 of row 1 of "alignment" is none from 0 to 1	{"source_symbols":["a"],"symbols":["a"],"alignment":[[1.5]]}
END
run 0 '' heatmap --matrix /dev/stdin
printf '{"source_symbols":["a"],"symbols":["b"],"alignment":null,"text":"b"}\n' >in
run 0 '' heatmap --matrix -
grep -q '^(the model does not attend' out || fail "no alignment: $(cat out)"
printf '{"source_symbols":["\\u001b[31m"],"symbols":["caf\351"],"alignment":[[1]],"text":"x\\u001by"}\n' >in
run 0 'standard input:1:[0-9]*: not UTF-8' heatmap --matrix -
! grep -q "$(printf '\033')" out || fail 'control characters reach the terminal'
run 1 'not UTF-8' heatmap --strict --matrix -

exit $failed
