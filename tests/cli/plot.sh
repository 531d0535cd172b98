#!/bin/sh
# Training curves and scores by length: plot.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"
: >in

# contains N PATTERN FILE
contains() {
    n=$(grep -c -- "$2" "$3")
    [ "$n" -eq "$1" ] || fail "$3: $n lines with $2, not $1"
}

# ---- runs

mkdir -p runs/a runs/b
for run in a b; do
    for k in 1 2 3 4; do
        echo "{\"kind\":\"progress\",\"update\":$k,\"epoch\":0.$k,\"loss\":$((9 - k)).5,\"learning_rate\":0.00$k,\"seconds\":$((k * 60))}"
        echo "{\"kind\":\"validation\",\"update\":$k,\"epoch\":0.$k,\"cross_entropy\":$((8 - k)),\"bleu\":$((k * 9)).1,\"seconds\":$((k * 60))}"
    done >runs/$run/metrics.jsonl
done
run 0 '' plot runs/a/ -o one.svg
for title in 'training loss' 'validation cross-entropy' 'validation BLEU' 'learning rate'; do
    contains 1 ">$title</text>" one.svg
done
contains 4 '>epochs</text>' one.svg
contains 0 '>a</text>' one.svg
contains 4 'stroke="#0072b2"' one.svg
run 0 '' plot runs/a/metrics.jsonl -o file.svg
cmp -s one.svg file.svg || fail 'a folder and its metrics.jsonl are drawn otherwise'
run 0 '' plot runs/a runs/b --x minutes -o two.svg
contains 1 '>a</text>' two.svg
contains 1 '>b</text>' two.svg
contains 4 '>minutes</text>' two.svg
contains 5 'stroke="#d55e00"' two.svg
run 0 '' plot runs/a runs/b --names 'A <big>' 'قطة' -o named.svg
contains 1 '>A &lt;big&gt;</text>' named.svg
contains 1 'direction="rtl".*>قطة</text>' named.svg
run 0 '' plot runs/a
[ -s plot.svg ] || fail 'plot.svg was not written'
head -n 1 runs/a/metrics.jsonl >first.jsonl
run 0 '' plot first.jsonl -o first.svg
contains 2 'height="4" fill="#0072b2"' first.svg

# ---- scores by length

seq 30 | sed 's/.*/a cat sees a dog \0/' >ref
sed 's/dog/cow/; 1~3s/sees/saw/' ref >hyp
awk '{ for (i = 0; i < NR; i++) printf "w "; print "" }' ref >src
run 0 '' evaluate --json --confidence --samples 50 --metrics bleu,chrf --by-length src ref -s hyp ref
mv out scores.json
run 0 '' plot scores.json -o scores.svg
contains 1 '>BLEU</text>' scores.svg
contains 1 '>chrF2</text>' scores.svg
contains 1 '>hyp</text>' scores.svg
contains 4 'fill-opacity="0.16"' scores.svg # a band for each
contains 6 'height="4" fill="#0072b2"' scores.svg
run 0 '' evaluate --json --by-length src ref -s hyp
mv out bare.json
run 0 '' plot bare.json scores.json -o three.svg
contains 4 'fill-opacity="0.16"' three.svg
contains 2 '>hyp</text>' three.svg

# ---- explanations

# records N JSD: N pairs of one symbol each, whose tau are those of -1, -0.9, ... in turn; p of a permutation rises
# with the largest weight
records() {
    awk -v n="$1" -v jsd="$2" 'BEGIN {
        for (i = 0; i < n; i++) {
            tau = -1 + i % 20 / 10
            printf "{\"line\":%d,\"source\":[\"a\",\"b\",\"</s>\"],\"target\":[{\"symbol\":\"x\",\"largest\":%.2f,", i + 1, i / n
            printf "\"tau\":{\"attention, gradient\":{\"tau\":%.2f,\"p\":0.5},", tau + 0.01
            printf "\"attention, leave-one-out\":{\"tau\":null,\"p\":null}},\"permuted\":%.3f%s}]}\n", i / n / 2,
                (jsd ? ",\"adversary\":{\"jsd\":" jsd ",\"tvd\":0.04},\"others\":[{\"jsd\":0.1,\"tvd\":0.2},{\"jsd\":0.3,\"tvd\":0.6}]" : "")
        }
        print "{\"line\":" n + 1 ",\"left_out\":\"a side is blank\"}"
    }'
}
records 100 0 >plain.jsonl
records 40 0.5 >more.jsonl
run 0 '' plot plain.jsonl -o explained.svg
for title in 'attention and gradient' 'permuted weights'; do
    contains 1 ">$title</text>" explained.svg
done
# Correlations that no symbol has, and tests that were not asked for, have no chart.
for title in 'attention and leave-one-out' 'adversarial weights' 'another model'; do
    contains 0 ">$title</text>" explained.svg
done
contains 1 '>plain.jsonl</text>' explained.svg
contains 30 'height="4" fill="#0072b2"' explained.svg # shares in 20 parts, quartiles in 10
contains 1 'fill-opacity="0.16"' explained.svg
# Each of 20 correlations comes alike often: a level line.
[ "$(grep 'height="4" fill="#0072b2"' explained.svg | head -n 20 | sed 's/.* y="\([^"]*\)".*/\1/' | sort -u | wc -l)" -eq 1 ] ||
    fail 'correlations that come alike often are not drawn so'
run 0 '' plot plain.jsonl more.jsonl --names first second -o explained.svg
for title in 'adversarial weights' 'adversarial weights, by the largest' 'another model'; do
    contains 1 ">$title</text>" explained.svg
done
contains 1 '>second</text>' explained.svg
sed 's/"left_out"/"left"/' plain.jsonl >broken.jsonl
run 1 'broken.jsonl:101: no line of explain --records$' plot broken.jsonl -o x.svg
run 1 'training runs and explanations do not go on one page' plot runs/a plain.jsonl -o x.svg
grep left_out plain.jsonl >left.jsonl
run 1 'there is nothing to draw' plot left.jsonl -o x.svg

if "$program" plot runs/a runs/b -o two.png 2>err; then
    [ "$(head -c 8 two.png | od -An -tx1)" = ' 89 50 4e 47 0d 0a 1a 0a' ] || fail 'two.png is no PNG'
    run 0 '' plot scores.json -o scores.pdf
    [ "$(head -c 5 scores.pdf)" = '%PDF-' ] || fail 'scores.pdf is no PDF'
else
    grep -q 'drawing module cannot be loaded' err || fail "png: $(cat err)"
fi

# ---- what is not drawn

run 2 'its folder, or a file, is missing' plot
run 2 'x.gif: the ending of its name' plot runs/a -o x.gif
run 1 'none/x.svg' plot runs/a -o none/x.svg
run 1 'nowhere.*No such file' plot nowhere -o x.svg
mkdir empty
run 1 'empty/metrics.jsonl.*No such file' plot empty -o x.svg
: >empty/metrics.jsonl
run 1 'there is nothing to draw: x.svg is not written' plot empty -o x.svg
printf '{"kind":"progress","update":1}\n' >empty/metrics.jsonl
run 1 'there is nothing to draw' plot empty -o x.svg
printf '{"kind":"progress","update":1,"epoch":0.1,"loss":1}\nloss 5\n' >empty/metrics.jsonl
run 1 'metrics.jsonl:2: no line of a run.s metrics.jsonl: ' plot empty -o x.svg
printf '[1]\n' >empty/metrics.jsonl
run 1 'metrics.jsonl:1: no line of a run.s metrics.jsonl$' plot empty -o x.svg
run 1 'do not go on one page' plot runs/a scores.json -o x.svg
run 1 '--names has 1 names for 2 curves' plot runs/a runs/b -o x.svg --names a
run 0 '' evaluate --json ref -s hyp
mv out plain.json
run 1 'no scores by length: write it with evaluate --by-length' plot plain.json -o x.svg
sed 's/"mean_words"/"words"/' scores.json >damaged.json
run 1 'group 1 of BLEU has no "mean_words"' plot damaged.json -o x.svg
[ ! -e x.svg ] || fail 'a picture of what cannot be drawn'

exit $failed
