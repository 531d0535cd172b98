#!/bin/sh
# What signals do to a run: signals.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
write_text 60
: >in

# signalled MEDDLE ARGUMENT...: trains in ./run while the function MEDDLE acts on the process whose number is in ./pid;
# leaves the exit status in $status. Not in the background itself: there, a shell has programs ignore SIGINT.
signalled() {
    meddle=$1
    shift
    rm -rf run pid
    $meddle &
    # shellcheck disable=SC2086,SC2016
    sh -c 'echo $$ >pid; exec "$@"' sh "$program" train $tiny --train src tgt --valid src tgt -o run \
        --progress-freq 1 "$@" <in >out 2>err
    status=$?
    wait
}

send() {
    for name in "$@"; do
        kill -s "$name" "$(cat pid)"
    done
}

wait_for_updates() {
    wait_for grep -q '"progress","update":5,' run/metrics.jsonl
}

# goes_on WHAT ARGUMENT...: the stopped run loads, and ends eight updates later (past the next validation) as one that was never stopped.
goes_on() {
    what=$1
    shift
    loads run "$what"
    end=$(($(updates run/state.safetensors) + 8))
    rm -rf whole
    for folder in whole run; do
        finish $folder --train src tgt --valid src tgt --progress-freq 1 "$@" --after ${end}u
    done
    same_run whole run "$what"
}

# ---- one signal: the update is finished and the run saved

endless='--after 1000000u --valid-freq 7'

one_signal() {
    wait_for_updates && send $signal
}
for signal in TERM INT; do
    [ $signal = TERM ] && number=143 || number=130
    # shellcheck disable=SC2086
    signalled one_signal $endless
    [ $status -eq $number ] || fail "SIG$signal: exit status $status, not $number"
    grep -q "^softalign: stopped by SIG$signal: the run is saved in run after update .*; --resume goes on" err || fail "SIG$signal: $(tail -n 1 err)"
    grep -q "after update $(updates run/state.safetensors);" err || fail "SIG$signal: the state is of before"
    goes_on SIG$signal --valid-freq 7
done

# ---- two signals: the end at once, with the files of before

# Both arrive before the process runs on.
two_signals() {
    wait_for_updates && send STOP INT TERM CONT
}
# shellcheck disable=SC2086
signalled two_signals $endless
[ $status -eq 130 ] || [ $status -eq 143 ] || fail "two signals: exit status $status"
! grep -q 'the run is saved' err || fail 'two signals: a message about a run that was saved'
goes_on 'two signals' --valid-freq 7

# ---- a signal before training begins: a run that is there stays

signal_while_reading() {
    {
        send TERM
        cat src
    } >text
}
mkfifo text
signalled signal_while_reading --train text tgt --after 3u
[ $status -eq 143 ] || fail "a signal before training: exit status $status"
grep -q '^softalign: stopped by SIGTERM: training had not begun; nothing was changed in run$' err ||
    fail "a signal before training: $(cat err)"
[ ! -e run ] || fail 'a signal before training: left a folder'

# ---- signals inside a save

# 15 MB are saved after every update.
large='--dim-emb 160 --dim-rnn 160 --dim-dec 160 --dim-att 160 --dim-maxout 160 --mini-batch 2 --average 0.9'

# Stops the process with a save half done, if that can be caught.
stop_inside_a_save() {
    wait_for [ -e run/last.safetensors ] || return 1
    tries=0
    while [ $tries -lt 1000000 ]; do
        tries=$((tries + 1))
        [ -e run/state.safetensors.tmp ] || continue
        send STOP
        [ ! -e run/state.safetensors.tmp ] || return 0
        send CONT
    done
}
one_signal_inside_a_save() {
    stop_inside_a_save
    send TERM CONT
}
two_signals_inside_a_save() {
    stop_inside_a_save
    send TERM INT CONT
}
# shellcheck disable=SC2086
signalled one_signal_inside_a_save $large --after 1000000u --valid-freq 1
[ $status -eq 143 ] || fail "a signal inside a save: exit status $status"
[ ! -e run/state.safetensors.tmp ] || fail 'a signal inside a save: it was not finished'
# shellcheck disable=SC2086
goes_on 'a signal inside a save' $large --valid-freq 1
# shellcheck disable=SC2086
signalled two_signals_inside_a_save $large --after 1000000u --valid-freq 1
[ $status -eq 130 ] || [ $status -eq 143 ] || fail "two signals inside a save: exit status $status"
# shellcheck disable=SC2086
goes_on 'two signals inside a save' $large --valid-freq 1

# ---- signals that do not end a run

ignored_signal() {
    wait_for_updates && send INT && wait_for grep -q '"update":40,' run/metrics.jsonl && send TERM
}
trap '' INT
# shellcheck disable=SC2086
signalled ignored_signal $endless
[ $status -eq 143 ] || fail "a signal that was ignored from the start: exit status $status"
trap 'exit 1' INT

rm -rf run
# shellcheck disable=SC2086
{ "$program" train $tiny --train src tgt --valid src tgt -o run --progress-freq 1 --after 20u <in 2>&1; echo $? >status; } |
    head -n 1 >out
[ "$(cat status)" -eq 0 ] || fail "nobody reads the progress any more: exit status $(cat status)"
[ "$(updates run/state.safetensors)" -eq 20 ] || fail 'nobody reads the progress any more: the run ended early'
exit $failed
