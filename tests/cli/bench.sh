#!/bin/sh
# Measurements: that there are some for what is asked, not how fast it is: bench.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
write_text 100
: >in
train 0 '' -q --train src tgt --valid src tgt --valid-freq 1000 -o run --after 5u
mv run/best.safetensors model
run 0 '' shortlist -q -m model --train src tgt -o list
sizes='--preset rnnsearch --vocab-size 50 --dim-emb 8 --dim-rnn 8 --dim-dec 8 --dim-att 8 --dim-maxout 8'

# lines N: so many lines of JSON, whose numbers are all above 0.
lines() {
    [ "$(wc -l <out)" -eq "$1" ] || fail "$2: $(wc -l <out) lines"
    grep -Evq '^[{]"[a-z]*":.*[}]$' out && fail "$2: not JSON: $(cat out)"
    tr ',{}' '\n\n\n' <out | grep -E ':-?(0|0\.0*|inf|nan)$' >complaints
    [ ! -s complaints ] || fail "$2: $(cat complaints)"
}

# shellcheck disable=SC2086 # a list of arguments
{
    run 0 '' bench train $sizes --train src tgt --mini-batch 8,16 --batches 2 --passes 1 --json
    lines 2 'bench train'
    run 0 '' bench translate $sizes --source src --sentences 20 --passes 1 --json
    lines 12 'bench translate: 3 precisions, 2 minibatches, 2 beams'
    run 2 'it needs a model file' bench translate $sizes --source src --shortlist list
    run 2 'numbers from 1, with commas between' bench translate $sizes --source src --threads 1,
    run 2 'precision' bench train $sizes --train src tgt --mini-batch 8 --precision int8
}
run 0 '' bench translate -m model --source src --sentences 20 --passes 1 --mini-batch 4 --beam-size 2 --threads 1,2 \
    --precision stored --json
lines 2 'bench translate of a model'
run 0 '' bench translate -m model --shortlist list --source src --passes 1 --mini-batch 4 --beam-size 1 --precision int8
[ "$(awk 'NR == 2 { print NF, $1, $2, $3, $4 }' out)" = '11 int8 1 4 1' ] || fail "the table: $(cat out)"
run 1 'no sentences to translate' bench translate -m model --source /dev/null
run 2 'say what to measure' bench fly
exit $failed
