#!/bin/sh
# Taking up a run again: what stays, what may change, what is said: resume.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
write_text 60
: >in
text='--train src tgt --valid src tgt'

# ---- the same bits: updates, a kill, and 100 updates more with any number of threads

set -- --dropout 0.2 --label-smoothing 0.1 --average 0.99 --valid-freq 50 --progress-freq 20
# shellcheck disable=SC2086
"$program" train $tiny -q $text "$@" --after 1000000u -o killed <in >out 2>err &
process=$!
wait_for grep -q '"update":120,' killed/metrics.jsonl || fail "no update 120: $(cat err)"
kill -s STOP $process
# shellcheck disable=SC2086
train 1 '^softalign: killed: another process is training in this folder$' -q $text "$@" -o killed --resume --after 9u
kill -s KILL $process
wait $process 2>/dev/null
end=$(($(updates killed/state.safetensors) + 100))
set -- "$@" --after ${end}u
# shellcheck disable=SC2086
train 0 '' -q $text "$@" -o whole
for threads in 1 2 7; do
    cp -r killed threads_$threads
    # shellcheck disable=SC2086
    train 0 "^resumed after update $((end - 100)), " $text "$@" -o threads_$threads --resume --threads $threads
    same_run whole threads_$threads "a kill, then $threads threads"
done

# ---- a run that had ended is left as it is

# ended PATTERN ARGUMENT...
ended() {
    pattern=$1
    shift
    stat -c '%n %s %Y %Z' whole/* >before
    # shellcheck disable=SC2086
    train 0 "^nothing to do: $pattern" $text -o whole --resume "$@"
    stat -c '%n %s %Y %Z' whole/* | cmp -s - before || fail "nothing to do ($*): files have changed"
}
ended 'the run had already reached its limit \(a later --after goes on\); best at update [0-9]+ ' "$@"
ended 'the run had already reached its limit' "$@" --after 10u
ended 'the run had already reached its limit' "$@" --after 2e

# ---- options that changed

# says LINE...: standard error has each line.
says() {
    for line in "$@"; do
        grep -Fqx -- "$line" err || fail "no line '$line' in: $(cat err)"
    done
}
# shellcheck disable=SC2086
train 0 . $text "$@" -o whole --resume --learning-rate 0.5 --mini-batch 3 --dim-rnn 64 --decoder-order conditional \
    --vocab-type bpe --vocab-size 5 --optimizer sgd --after $((end + 14))u --valid-freq 7 --early-stopping 9
says 'resume: --learning-rate stays 0.01, as the run began (now given or by default: 0.5)' \
    'resume: --mini-batch stays 16, as the run began (now given or by default: 3)' \
    'resume: --dim-rnn stays 32, as the run began (now given or by default: 64)' \
    'resume: --vocab-type stays "word", as the run began (now given or by default: "bpe")' \
    'resume: the vocabularies stay 18 and 18 symbols, as the run began' \
    'resume: --optimizer stays "adam", as the run began (now given or by default: "sgd")' \
    "resume: --after (updates) is now $((end + 14)); so far it was $end" \
    'resume: --valid-freq is now 7; so far it was 50' \
    'resume: --early-stopping is now 9; so far it was 0'
[ "$(grep -c '^resume:' err)" -eq 9 ] || fail "other words than the nine expected: $(grep '^resume:' err)"
[ "$(updates whole/state.safetensors)" -eq $((end + 14)) ] || fail 'the new --after does not count'
grep -q "\"validation\",\"update\":$(((end / 7 + 1) * 7))," whole/metrics.jsonl || fail 'the new --valid-freq does not count'
grep -q '^resume: --mini-batch stays' whole/train.log || fail 'train.log does not say what stayed'

# ---- another processor: oneDNN held to older instructions has no bf16, and cannot hold what has none

# shellcheck disable=SC2086
if "$program" train -q $tiny $text -o tried --after 1u --precision bf16 2>tried.err; then
    # shellcheck disable=SC2086
    train 0 '' -q $text -o half --after 20u
    export DNNL_MAX_CPU_ISA=AVX2
    # shellcheck disable=SC2086
    train 0 . $text -o half --resume --after 30u
    unset DNNL_MAX_CPU_ISA
    says 'resume: --precision is now f32: this processor has no instructions for bf16'
    [ "$(grep -c '^resume: --precision' err)" -eq 1 ] || fail "more words on it: $(grep precision err)"
    # shellcheck disable=SC2086
    train 0 . $text -o half --resume --after 31u
    says 'resume: --precision stays "f32", as the run began (now given or by default: "bf16")'
else
    grep -q 'this processor has no instructions for bf16: use --precision f32' tried.err || fail "$(cat tried.err)"
fi
# ---- early stopping

set -- --optimizer sgd --learning-rate 1e-30 --early-stopping-metric cross-entropy --valid-freq 5 --after 100u -o early
# shellcheck disable=SC2086
train 0 '^early stopping; best at update 5 \(cross-entropy [0-9.]+\), 2 validations since, patience 2$' $text "$@" \
    --early-stopping 2
tail -n 1 early/train.log | grep -q '^early stopping; best at update 5 ' || fail 'train.log lacks the reason'
# shellcheck disable=SC2086
train 0 '^nothing to do: early stopping had already ended the run \(a larger --early-stopping goes on\); best at' \
    $text "$@" --early-stopping 2 --resume
[ "$(updates early/state.safetensors)" -eq 15 ] || fail 'a run that stopped early went on'
# shellcheck disable=SC2086
train 0 '^early stopping; best at update 5 .*, 3 validations since, patience 3$' $text "$@" --early-stopping 3 --resume

# ---- what cannot be resumed, and what is in the way

# shellcheck disable=SC2086
train 1 'none/state.safetensors: no such file: there is no run to resume' $text -o none --resume --after 1e
[ ! -e none ] || fail 'a resume of nothing left a folder'
# shellcheck disable=SC2086
train 1 'early: a run is here already: use --resume to go on with it, or --overwrite to replace it' $text -o early \
    --after 1e
rm early/state.safetensors
# shellcheck disable=SC2086
train 1 'early: a run is here already: use --overwrite to replace it' $text -o early --after 1e
head -n 30 src >fewer.src
head -n 30 tgt >fewer.tgt
train 1 'fewer.src: the run began with another training text: it had 60 lines, this file has 30' --train fewer.src fewer.tgt \
    --valid src tgt -o whole --resume --after 300u
exit $failed
