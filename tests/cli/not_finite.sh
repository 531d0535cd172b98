#!/bin/sh
# Learning rates that are far too high: not_finite.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
write_text 60
: >in
set -- --train src tgt --valid src tgt --optimizer sgd --learning-rate 1e6 --clip-norm 0

# ---- without a model before: a few updates are skipped and named, then the run ends

train 1 '^softalign: update [0-9]+: the (loss|gradient) is not finite; .*--clip-norm 1' "$@" --warmup 0 -o run \
    --after 1000u --valid-freq 1000
grep -E '^update [0-9]+ skipped: its loss or gradient is not finite; lines of the training text:( [0-9]+)+( ...)?$' err >skips
[ "$(wc -l <skips)" -eq 10 ] || fail "not ten updates skipped: $(cat err)"
[ "$(wc -l <err)" -eq $((10 + 7)) ] || fail "other messages than expected: $(cat err)"
sed 's/.*text://; s/[ .]*$//' skips | tr -s ' ' '\n' | awk 'NF && ($1 < 1 || $1 > 60) { exit 1 }' ||
    fail "lines that the text does not have: $(cat skips)"
[ ! -e run/best.safetensors ] || fail 'a model was saved'
grep -q '^update [0-9]* skipped' run/train.log || fail 'train.log does not name the updates'
loads run 'a run that was not finite'

# ---- with a model before: it is not touched, not by a resume either

# The rate is the number of the update; the first ones do no harm.
train 1 '^softalign: (the loss of the validation text after )?update [0-9]+.* is not finite' "$@" --warmup 1000000 \
    -o run --overwrite --after 1000u --valid-freq 1
loads run 'a run that was not finite at last'
best=$(sed -n 's/.*"validation","update":\([0-9]*\),.*"improved":true.*/\1/p' run/metrics.jsonl | tail -n 1)
train 0 '' -q "$@" --warmup 1000000 -o good --after "${best}u" --valid-freq 1
cmp -s run/best.safetensors good/best.safetensors || fail "the best model is not that of update $best"
train 1 'not finite' "$@" --warmup 1000000 -o run --resume --after 1000u --valid-freq 1
cmp -s run/best.safetensors good/best.safetensors || fail "a resume changed the best model"
cp src in
run 0 '' translate -m run/best.safetensors
exit $failed
