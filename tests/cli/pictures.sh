#!/bin/sh
# Pictures: training on them, captions, scores, sheets, and what the program says of those that are none: pictures.sh
# PROGRAM. Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"
: >in

# A pixel each: a square of a colour when scaled up.
echo 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC' | base64 -d >red.png
echo 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mNgYPgPAAEDAQA2dBFAAAAAAElFTkSuQmCC' | base64 -d >blue.png
printf 'red.png\nblue.png\n' >src
printf 'a red square\na blue one\n' >tgt
printf 'blue.png\nnowhere.png\n' >src_missing
printf 'blue.png\ntgt\n' >src_text
small='--preset caption --picture-side 16 --dim-emb 16 --dim-rnn 16 --dim-att 16 --dim-feature 16 --threads 1'
fast='--dropout 0 --dropout-emb 0 --label-smoothing 0 --average 0 --learning-rate 0.02 --warmup 1 --schedule constant'

# ---- training

# shellcheck disable=SC2086 # lists of arguments
run 0 '' train -q $small $fast --train src tgt --valid src tgt -o run --after 60u --valid-freq 20
model=run/best.safetensors
# shellcheck disable=SC2086
for bad in 'missing nowhere.png: .*No such file' 'text tgt: neither a PNG nor a JPEG picture'; do
    run 1 "^softalign: ${bad#* }" train -q $small --train "src_${bad%% *}" tgt --valid src tgt -o bad --after 1u
    [ ! -e bad ] || fail "$bad: left a folder"
done
# shellcheck disable=SC2086
run 2 'joint-vocab is for two sides of text' train -q $small --joint-vocab --vocab-size 9 --train src tgt -o bad
run 2 'picture-shift is for pictures' train -q --picture-shift 2 --train src tgt -o bad

# ---- captions

cp src in
run 0 '' translate -m $model
cmp -s out tgt || fail "captions: $(cat out)"
cp src_missing in
run 1 '^softalign: nowhere.png: .*No such file' translate -m $model
run 2 'no words for a shortlist' shortlist -q -m $model -t src tgt -o list
run 2 'sources that are no text' explain -m $model src tgt
run 2 'no words to put' translate -m $model --replace-unk
: >in
run 0 '' score -m $model src tgt
[ "$(wc -l <out)" -eq 2 ] || fail "score: $(cat out)"
run 0 '' inspect $model
grep -q 'source vocabulary: picture' out || fail 'inspect: does not say that sources are pictures'
run 0 '' heatmap -m $model red.png
grep -q ' 1:1.1 2:1.2 3:2.1 4:2.2$' out || fail 'heatmap: places have no names'

# ---- sheets

run 0 '' sheet -m $model -o sheet.svg red.png blue.png --columns 1
[ "$(grep -o '<image' sheet.svg | wc -l)" -eq 8 ] || fail 'sheet: not two pictures and six words'
cp sheet.svg first.svg
cp src in
run 0 '' sheet -m $model -o sheet.svg --columns 1
cmp -s sheet.svg first.svg || fail 'sheet: lines give another one than arguments'
run 0 '' sheet -m $model -o sheet.svg --references tgt
grep -q 'a blue one' sheet.svg || fail 'sheet: no reference'
run 1 'tgt has 2 lines for 1 pictures' sheet -m $model -o sheet.svg --references tgt red.png
run 2 'sheet.gif' sheet -m $model -o sheet.gif red.png
: >in
run 2 'a sheet of 0 pictures' sheet -m $model -o sheet.svg
run 1 'nowhere.png: .*No such file' sheet -m $model -o sheet.svg nowhere.png
run 2 '^softalign: : this caption has no weights' sheet -m $model -o sheet.svg ''
run 0 '' train -q --vocab-type word --dim-emb 8 --dim-rnn 8 --dim-dec 8 --dim-att 8 --dim-maxout 8 --threads 1 \
    --train tgt tgt --valid tgt tgt -o text --after 1u
run 1 'reads text, not pictures' sheet -m text/best.safetensors -o sheet.svg red.png
exit $failed
