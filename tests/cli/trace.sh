#!/bin/sh
# softalign trace: trace.sh PROGRAM
# shellcheck source=lib/run.sh
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"

: >in
write_text 100
train 0 '' -q --decoder-order look-first --layer-norm none --train src tgt --valid src tgt -o run --after 2e --valid-freq 1000
m=run/best.safetensors
source='dog cat horse' target='xhorse xcat xdog'

run 0 '' trace -m "$m" "$source" "$target"
[ "$(wc -l <out)" -eq 1 ] || fail 'more than a line'
for member in '"source_words":["dog","cat","horse"]' '"source_symbols":["dog","cat","horse","</s>"]' \
    '"target_symbols":["xhorse","xcat","xdog","</s>"]' '"decoder_order":"look-first"' '"annotations":{"forward":[[' \
    '"sensitivity":[[' '"weights":[[' '"energies":[[' '"annotation_gradient":[[' '"source_gradient":[['; do
    grep -qF "$member" out || fail "no $member"
done
grep -q '"step"\|"gates"' out && fail 'a step or gates that nobody asked for'

# Weights are those that align writes.
run 0 '' trace -m "$m" --sensitivity no "$source" "$target"
grep -q sensitivity out && fail 'sensitivity that nobody asked for'
sed 's/.*"weights":\[\[\([^]]*\)\].*/\1/' out | tr ',' '\n' >weights
echo "$source" >a
echo "$target" >b
run 0 '' align -m "$m" --format jsonl a b
sed 's/.*"weights": *\[\[\([^]]*\)\].*/\1/' out | tr -d ' ' | tr ',' '\n' >aligned
paste weights aligned | awk '{ d = $1 - $2; if (d > 1e-5 || d < -1e-5) exit 1 } END { exit NR != 4 }' ||
    fail "weights are not those of align: $(paste -s weights) and $(paste -s aligned)"

# Without a target, the translation.
echo "$source" >in
run 0 '' translate -m "$m"
translation=$(cat out)
run 0 '' trace -m "$m" --step 0 --gates --next 3 "$source"
grep -qF "\"target\":\"$translation\"" out || fail 'another target than the translation'
for member in '"gates":{"forward":{"update":[[' '"step":{"i":0,"Wa_s":[' '"next":[{"symbol":"'; do
    grep -qF "$member" out || fail "no $member"
done
grep -q next_original out && fail 'what would have been, though nothing was changed'
run 0 '' trace -m "$m" --step 0 --weights 0,1,0,0 "$source" "$target"
grep -q '"weights":\[0.0,1.0,0.0,0.0\],.*"next_original"' out || fail 'no other weights'

run 1 'the source is blank' trace -m "$m" ' ' "$target"
run 2 'no step 9' trace -m "$m" --step 9 "$source" "$target"
run 2 '2 weights were given; the source has 4' trace -m "$m" --step 0 --weights 0,1 "$source" "$target"
run 2 'weights' trace -m "$m" --step 0 --weights 0,-1 "$source"
run 2 'SENTENCE is missing' trace -m "$m"
run 2 'which model' trace "$source"
run 0 '' quantize -m "$m" --precision int8 -o small
run 0 '' trace -m small "$source"
grep -qF '"weights":[[' out || fail 'no weights of a quantized model'

exit $failed
