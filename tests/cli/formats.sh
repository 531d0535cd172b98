#!/bin/sh
# Lines in and out in all formats, long lines, protected items: formats.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"

tab=$(printf '\t')
tiny='--dim-emb 16 --dim-rnn 24 --dim-dec 24 --dim-att 16 --dim-maxout 16 --dropout 0 --dropout-emb 0 --average 0
    --label-smoothing 0 --learning-rate 0.01 --warmup 10 --schedule constant --mini-batch 16 --early-stopping 0 --threads 1'

# expect WHAT: ./out is ./wanted.
expect() {
    cmp -s out wanted || fail "$1: $(diff wanted out | head -n 5)"
}

# "dog sees cat" is "cane vede gatto"; with numbers, in subwords, "see 5 dog 7" is "cane 7 vede 5".
awk 'BEGIN {
    n = split("dog cat horse bear", noun); split("cane gatto cavallo orso", nome)
    split("sees hears", verb); split("vede sente", verbo)
    for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) for (k = 1; k <= 2; k++) {
        print noun[i], verb[k], noun[j] >"src"; print nome[i], verbo[k], nome[j] >"tgt"
        a = i * 37 + j * 101; b = k * 59 + j
        print verb[k], a, noun[i], b >"numbers.src"; print nome[i], b, verbo[k], a >"numbers.tgt"
    }
}'
: >in
# shellcheck disable=SC2086 # a list of arguments
run 0 '' train -q $tiny --vocab-type word --train src tgt --valid src tgt -o words --after 40e --valid-freq 1000
# shellcheck disable=SC2086
run 0 '' train -q $tiny --vocab-type bpe --vocab-size 48 --protect --normalization nfc --train numbers.src numbers.tgt \
    --valid numbers.src numbers.tgt -o numbers --after 40e --valid-freq 1000
words=words/best.safetensors numbers=numbers/best.safetensors

# ---- what a model says of its text

run 0 '' inspect $numbers
grep -q '^normalization *nfc$' out && grep -q '^protect *yes$' out || fail "inspect: $(head -n 5 out)"
run 0 '' inspect $words
grep -q '^normalization *identity$' out && grep -q '^protect *no$' out || fail "inspect: $(head -n 5 out)"
run 0 '' inspect --json $numbers
grep -q '"normalization": "nfc"' out && grep -q '"protect": true' out || fail 'inspect --json: nothing of it'
# shellcheck disable=SC2086
run 2 'protect goes with bpe and unigram' train -q $tiny --vocab-type word --protect --train src tgt --valid src tgt -o no
run 2 'there is no normalization "nfd"' train -q --vocab-type bpe --normalization nfd --train src tgt --valid src tgt -o no
[ ! -e no ] || fail 'a run that could not begin left a folder'

# ---- text, TSV, JSON lines, n-best rows

printf 'dog sees cat\n\nbear hears dog\n' >in
run 0 '' translate -m $words
cp out plain
printf 'cane vede gatto\n\norso sente cane\n' >wanted
expect 'text'
run 0 '' translate -m $words --output-format tsv
cut -f 1 out >fields
cmp -s fields in || fail 'tsv: the first field is not the source'
cut -f 2 out >fields
cmp -s fields plain || fail 'tsv: the second field is not the translation'
awk -F '\t' 'NF != 4 || $3 !~ /^-?[0-9]+\.[0-9]+$/ || $4 !~ /^-?[0-9]+\.[0-9]+$/' out >complaints
[ ! -s complaints ] || fail "tsv: $(cat complaints)"
run 0 '' translate -m $words --output-format jsonl
sed -E 's/-?[0-9]+\.[0-9]{6}/N/g' out >shape
cat >wanted <<'END'
{"source":"dog sees cat","text":"cane vede gatto","score":N,"normalized":N}
{"source":"","text":"","score":N,"normalized":N}
{"source":"bear hears dog","text":"orso sente cane","score":N,"normalized":N}
END
cmp -s shape wanted || fail "jsonl: $(cat shape)"
run 0 '' translate -m $words --output-format n-best
awk -F ' [|][|][|] ' 'NF != 4 || $1 != NR - 1 || $3 !~ /^F0= -?[0-9]+\.[0-9]+$/' out >complaints
[ ! -s complaints ] || fail "n-best: $(cat complaints)"
run 0 '' translate -m $words --n-best 2 --output-format jsonl
[ "$(wc -l <out)" -eq 3 ] || fail 'jsonl --n-best: not one line each'
grep -q '^{"source":"dog sees cat","text":"cane vede gatto",.*"hypotheses":\[{"text":"cane vede gatto",.*},{"text":"' out ||
    fail "jsonl --n-best: $(head -n 1 out)"
run 0 '' translate -m $words --output-format jsonl --alignment --word-scores
grep -Eq '^\{"source":"dog sees cat","source_symbols":\["dog","sees","cat","</s>"\],.*"symbols":\["cane","vede","gatto","</s>"\],"symbol_scores":\[(-?[0-9.]+,){3}-?[0-9.]+\],"alignment":\[(\[([0-9.]+,){3}[0-9.]+\],){3}\[([0-9.]+,){3}[0-9.]+\]\],"links":"0-0 1-1 2-2"\}$' out ||
    fail "--alignment: $(head -n 1 out)"

printf 'one\tdog sees cat\tlast\n\t\ntwo\tbear hears dog\n' >in
run 0 '' translate -m $words --input-format tsv --column 2
printf 'one\tdog sees cat\tlast\tcane vede gatto\n\t\t\ntwo\tbear hears dog\torso sente cane\n' >wanted
sed -E "s/${tab}-?[0-9.]+${tab}-?[0-9.]+\$//" out >shape
mv shape out
expect 'tsv in'

cat >in <<'END'
{"id": 1, "text": "dog sees cat", "more": {"a": [1, 2.5, null, true, "\u00e4\u2028\n"]}}
{"text": "dog sees cat\nbear hears dog", "source": "mine", "score": 9007199254740993}

{"id":2, "text":""}
END
run 0 '' translate -m $words --input-format jsonl
sed -E 's/-?[0-9]+\.[0-9]{6}/N/g' out >shape
cat >wanted <<'END'
{"id":1,"more":{"a":[1,2.5,null,true,"ä\u2028\u000A"]},"source":"dog sees cat","text":"cane vede gatto","score":N,"normalized":N}
{"source":"dog sees cat\u000Abear hears dog","pieces":2,"text":"cane vede gatto\u000Aorso sente cane","score":N,"normalized":N}
{"source":"","text":"","score":N,"normalized":N}
{"id":2,"source":"","text":"","score":N,"normalized":N}
END
cmp -s shape wanted || fail "jsonl in: $(diff shape wanted)"
run 0 '' translate -m $words --input-format jsonl --output-format text
printf 'cane vede gatto\ncane vede gatto orso sente cane\n\n\n' >wanted
expect 'jsonl to text'

# ---- lines that are broken

# broken FORMAT: ./in is answered line by line, with status 1 at the end, and with --strict up to the first.
broken() {
    "$program" translate -m $words --input-format "$@" <in >out 2>err
    [ $? -eq 1 ] || fail "$*: exit status is not 1"
}
deep=$(awk 'BEGIN { for (i = 0; i < 5000; i++) printf "[" }')
cat >in <<END
{"text": "dog sees cat"}
{"text": "dog
["dog"]
{"txt": "dog", "id": 3}
{"text": 7}
{"text": "a", "text": "b"}
{"text": "\\u0000"}
$deep
{"text": "bear hears dog"}
END
broken jsonl
[ "$(wc -l <out)" -eq 9 ] || fail "broken JSON: $(wc -l <out) lines, not 9"
sed -n '1p;9p' out | grep -c '"text":"[co]' | grep -qx 2 || fail 'broken JSON: the good lines were not translated'
for n in 2 3 4 5 6 7 8; do
    sed -n "${n}p" out | grep -q "\"line\":$n,\"error\":\"" || fail "broken JSON: line $n is $(sed -n "${n}p" out)"
    grep -q "^softalign: standard input:$n: " err || fail "broken JSON: no word on line $n"
done
sed -n 4p out | grep -q '^{"id":3,"line":4,' && fail 'broken JSON: unknown members are lost' || :
grep -q '7 of 9 lines could not be read' err || fail 'broken JSON: no count'
broken jsonl --output-format text
printf 'cane vede gatto\n\n\n\n\n\n\n\norso sente cane\n' >wanted
expect 'broken JSON to text'
broken jsonl --strict
[ "$(wc -l <out)" -eq 1 ] || fail "broken JSON, --strict: $(wc -l <out) lines, not 1"
printf 'one\tdog sees cat\nshort\ntwo\tbear hears dog\n' >in
broken tsv --column 2
[ "$(cut -f 3 out | tr '\n' '|')" = 'cane vede gatto||orso sente cane|' ] || fail "broken TSV: $(cat out)"
grep -q 'standard input:2: 1 field, where the text is in field 2' err || fail "broken TSV: $(cat err)"

run 2 'text and tsv have one translation a line' translate -m $words --n-best 2 --output-format tsv
run 2 '.--column goes with --input-format tsv' translate -m $words --column 2
run 2 '.--scores goes with text' translate -m $words --scores --output-format tsv

# ---- long lines and paragraphs

printf 'dog sees cat, bear hears dog, cat sees dog.\n\nbear hears dog\n' >in
run 0 'standard input:1: a sentence longer than 4 symbols; the line was translated in [2-9] pieces' translate -m $words \
    --max-length 4
[ "$(wc -l <out)" -eq 3 ] || fail '--max-length 4: not three lines'
for word in cane gatto orso vede sente; do
    head -n 1 out | grep -q $word || fail "--max-length 4: no $word in $(head -n 1 out)"
done
printf 'dog sees cat. Bear hears dog!  dog sees dog\n' >in
run 0 '' translate -m $words --split-sentences --output-format jsonl
grep -q '"pieces":2' out || fail "--split-sentences: $(cat out)"

# ---- protected items

cat >in <<'END'
sees 123,456.7 dog https://example.org/a?b=1&c=%C3%A4
hears {name} cat 12.03.2021
x@example.org <b>dog</b> &amp; 👨‍👩‍👧 🇩🇪 %1$s 50 %
END
"$program" translate -m $numbers <in >out 2>err || fail "protected: exit status $?"
[ "$(wc -l <out)" -eq 3 ] || fail 'protected: not three lines'
while read -r item; do
    [ "$(grep -oF -- "$item" out | wc -l)" -eq 1 ] || fail "protected: not one $item in $(cat out)"
done <<'END'
123,456.7
https://example.org/a?b=1&c=%C3%A4
{name}
12.03.2021
x@example.org
<b>
</b>
&amp;
👨‍👩‍👧
🇩🇪
%1$s
50
END
printf 'sees 123,456.7 dog 89\n' >in
run 0 '' translate -m $numbers
printf 'cane 89 vede 123,456.7\n' >wanted
expect 'protected numbers'
run 0 '' translate -q -m $numbers --protect
cp out wanted
run 0 '' translate -q -m $numbers
expect '--protect is the default'
run 2 'trained without --protect' translate -m $words --protect
run 2 'exclude each other' translate -m $numbers --protect --no-protect
run 0 '' translate -q -m $numbers --no-protect
grep -q '123,456.7' out && fail '--no-protect protects'
# An untrained model loses none either, and says where it put them.
# shellcheck disable=SC2086
run 0 '' train -q $tiny --vocab-type bpe --vocab-size 48 --protect --train numbers.src numbers.tgt --valid src tgt \
    -o vague --after 1u
printf 'dog 123,456.7 dog {x}\n' >in
run 0 'standard input:1: [12] protected items? (was|were) missing' translate -m vague/best.safetensors
grep -q '123,456.7' out && grep -q '{x}' out || fail "untrained: $(cat out)"

# ---- one letter by two ways

printf 'cafe\314\201\ncaf\303\251\n' >in
run 0 '' translate -m $numbers
[ "$(uniq out | wc -l)" -eq 1 ] || fail "nfc: $(cat out)"
exit $failed
