#!/bin/sh
# Models that teach another: self_distillation.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
write_text 200
: >in
set -- --train src tgt --valid src tgt --self-distillation 2 --valid-freq 30 --progress-freq 5

# ---- what is made

train 0 '^self-distillation: teacher 2 of 2$' "$@" --after 200u -o run
grep -q '^self-distillation: 200 of 200 lines translated by the teachers$' err || fail "no word of translations: $(cat err)"
for teacher in 1 2; do
    [ "$(updates run/teacher-$teacher/state.safetensors)" -eq 200 ] || fail "teacher $teacher was not trained to the end"
done
floats() {
    tail -c +$(($(od -An -tu8 -N8 "$1") + 9)) "$1" | cksum
}
[ "$(floats run/teacher-1/best.safetensors)" != "$(floats run/teacher-2/best.safetensors)" ] || fail 'the teachers are one'
cat src src >wanted
cmp -s run/distilled.source wanted || fail 'distilled.source is not the text twice'
"$program" translate -q -m run/teacher-1/best.safetensors -m run/teacher-2/best.safetensors --precision int8 -i src -o taught
cmp -s taught tgt && fail 'the teachers know the text by heart, which tests nothing'
cat taught tgt >wanted
cmp -s run/distilled.target wanted || fail 'distilled.target is not what the teachers write and then the text'
[ "$(updates run/state.safetensors)" -eq 200 ] || fail 'the student was not trained to the end'
grep -q '^training text: 400 pairs' run/train.log || fail "not 400 pairs: $(cat run/train.log)"

stat -c '%n %s %Y %Z' run/* run/teacher-?/* >before
train 0 '^nothing to do: the run had already reached its limit' "$@" --after 200u -o run --resume
stat -c '%n %s %Y %Z' run/* run/teacher-?/* | cmp -s - before || fail 'nothing to do: files have changed'

# ---- stopped anywhere, and taken up again

# interrupt SIGNAL FILE ARGUMENT...: when update 40 of the run whose metrics these are was made.
interrupt() {
    how=$1 file=$2
    shift 2
    # shellcheck disable=SC2086
    "$program" train $tiny -q "$@" <in >out 2>err &
    process=$!
    wait_for grep -q '"update":40,' "$file" || fail "no update 40 in $file: $(cat err)"
    kill -s "$how" $process 2>/dev/null
    wait $process 2>/dev/null
    status=$?
}
mv run whole
for place in teacher-1 teacher-2 .; do
    for how in KILL TERM; do
        rm -rf run
        interrupt "$how" run/$place/metrics.jsonl "$@" --after 200u -o run
        # 0: it was done before the signal came
        [ $how = KILL ] || [ "$status" -eq 143 ] || [ "$status" -eq 0 ] || fail "$how in $place: exit status $status: $(cat err)"
        train 0 '' -q "$@" --after 200u -o run --resume
        for part in . teacher-1 teacher-2; do
            same_files whole/$part run/$part "$how in $place"
        done
        cmp -s whole/distilled.target run/distilled.target || fail "$how in $place: distilled.target differs"
    done
done

# ---- limits of time, pairs held out, another run in place of this one

train 0 '' -q "$@" --after 0.125m -o run --overwrite
texts run/teacher-2/state.safetensors | grep -q '\\"after_minutes\\":0.03125,' || fail 'a teacher has not a quarter of the time'
texts run/state.safetensors | grep -q '\\"after_minutes\\":0.0625,' || fail 'the student has not half of the time'
cmp -s whole/teacher-1/best.safetensors run/teacher-1/best.safetensors && fail '--overwrite kept the teachers'

train 0 '' -q --train src tgt --held-out 20 --self-distillation 1 --after 5u -o held
{ head -n 180 src && cat src; } | cmp -s - held/distilled.source || fail 'pairs held out were distilled'
grep -q '^no validation text given: the last 20 pairs are held out for it$' held/train.log || fail "held out: $(cat held/train.log)"

paste src tgt >both.tsv
train 0 '' -q --train-tsv both.tsv --valid src tgt --self-distillation 1 --after 5u -o from_tsv
tail -n 200 from_tsv/distilled.target | cmp -s - tgt || fail 'the text of a TSV file is not in distilled.target'

# ---- what cannot be

train 2 'run: the run began with --self-distillation: give it again' --train src tgt --valid src tgt -o run --resume --after 200u
train 1 'run: a run is here already: use --resume to go on with it, or --overwrite to replace it' "$@" -o run
train 1 'none/state.safetensors: no such file: there is no run to resume' "$@" -o none --resume
train 1 'missing: ' --train missing tgt --valid src tgt --self-distillation 2 -o none
train 2 'standard input: self-distillation reads texts several times: put it into a file' --train-tsv - --self-distillation 2 -o none
mkfifo pipe
train 2 'pipe: self-distillation reads texts several times' --train src tgt --valid src pipe --self-distillation 2 -o none
train 2 'self-distillation does not go together with guided-alignment' "$@" --guided-alignment src -o none
train 2 'self-distillation does not go together with options that name other models' "$@" \
    --start-from run/best.safetensors -o none
train 2 '--self-distillation' "$@" --self-distillation 17 -o none
[ ! -e none ] || fail 'a run that could not begin left a folder'
exit $failed
