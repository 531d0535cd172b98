#!/bin/sh
# Disks that are full, folders that are read-only or go away: disk.sh PROGRAM
# Every failed check is printed; exits 1 when there is one. Parts that need a mount are left out, and said so, where a
# user may not make one (unshare -rm).
set -u
if [ "${2:-}" != mounts ] && unshare -rm true 2>/dev/null; then
    exec unshare -rm "$0" "$1" mounts
fi
mounts=${2:-}
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
write_text 40
: >in

set -- --train src tgt --valid src tgt --average 0.9 --dim-emb 48 --dim-rnn 48 --dim-dec 48 --dim-att 48 \
    --dim-maxout 48 --valid-freq 3 --progress-freq 1 -q
train 0 '' "$@" -o whole --after 6u
arguments=$*

# fails PATTERN WHAT ARGUMENT...: training fails with one message, and what is left loads.
fails() {
    fails_pattern=$1 what=$2
    shift 2
    train 1 "^softalign: $fails_pattern\$" "$@"
    [ "$(wc -l <err)" -eq 1 ] || fail "$what: more than one message: $(cat err)"
    loads run "$what"
}

# Where nothing is in the way, the run ends with the files that it would have had.
goes_on() {
    # shellcheck disable=SC2086
    finish run $arguments --after 6u
    same_files whole run "$1"
}

begin() {
    rm -rf run
    # shellcheck disable=SC2086
    train 0 '' $arguments -o run --after 3u
}

# ---- files that may not grow

mkdir run
# The limit is in blocks of 512 bytes: a model fits.
# shellcheck disable=SC2016
sh -c 'ulimit -f 800; exec "$@"' sh "$program" train $tiny "$@" -o run --after 6u <in >out 2>err
[ $? -eq 1 ] || fail 'a limit of file sizes: exit status is not 1'
grep -q '^softalign: run/state.safetensors: cannot be written: File too large$' err || fail "a file limit: $(cat err)"
left=$(ls run | grep -vx train.corpus)
[ -z "$left" ] || fail "a limit of file sizes: left $left"

# ---- logs that cannot be written

if [ -e /dev/full ]; then
    for log in train.log metrics.jsonl; do
        begin
        mv run/$log kept
        ln -s /dev/full run/$log
        fails "run/$log: cannot be written: No space left on device" "a full $log" "$@" -o run --resume --after 6u
        mv kept run/$log
        goes_on "a full $log"
    done
    begin
    # shellcheck disable=SC2086
    "$program" train $tiny "$@" -o run --resume --after 6u <in >out 2>/dev/full
    [ $? -eq 0 ] || fail 'nowhere to print progress: exit status is not 0'
fi

# ---- a folder that goes away

# gone COMMAND...: what becomes of a run when that is done to its folder.
gone() {
    rm -rf run moved
    # shellcheck disable=SC2086
    "$program" train $tiny $arguments -o run --after 1000000u <in >out 2>err &
    process=$!
    wait_for [ -e run/last.safetensors ] || fail "no validation: $(cat err)"
    kill -s STOP $process
    "$@"
    kill -s CONT $process
    wait $process
    [ $? -eq 1 ] || fail "$*: exit status is not 1"
    grep -Eq '^softalign: run/[a-z.]*: cannot be [a-z ]*: No such file or directory$' err ||
        fail "$*: $(cat err)"
}
gone rm -rf run
gone mv run moved
mv moved run
loads run 'a folder that was moved'
rm -rf longer
end=$(($(updates run/state.safetensors) + 4))
for folder in longer run; do
    # shellcheck disable=SC2086
    finish $folder $arguments --after ${end}u
done
same_run longer run 'a folder that was moved'

# ---- mounts

if [ "$mounts" != mounts ] || ! mkdir disk fixed || ! mount -t tmpfs -o size=1m none disk 2>/dev/null; then
    echo 'not tried, as nothing can be mounted here: a full disk, read-only folders'
    exit $failed
fi
trap 'umount -l disk fixed 2>/dev/null; rm -rf "$work"' EXIT
model=$(wc -c <whole/best.safetensors)
state=$(wc -c <whole/state.safetensors)

# full BYTES FILE: a disk of that size is full when FILE is written; with more room the run goes on. The state, which is
# written anew beside the old one, needs the most: when it begins, at the first validation, and with the models there.
full() {
    rm -rf disk/run run
    mount -o remount,size="$1" disk
    mkdir disk/run
    ln -s disk/run run
    # shellcheck disable=SC2086
    fails "run/$2.safetensors: cannot be written: No space left on device" "a disk of $1 bytes" $arguments -o run --after 6u
    mount -o remount,size=100m disk
    goes_on "a disk of $1 bytes"
}
full 65536 state
full $((state + state / 2)) state
full $((2 * state + model)) state
rm run

# Texts may lie where nothing can be written; no other place is needed for what is temporary.
cp src tgt fixed
cp -r whole fixed/run
mount --bind fixed fixed
mount -o remount,bind,ro fixed
TMPDIR=/nosuch HOME=/nosuch train 0 '' --train fixed/src fixed/tgt --valid fixed/src fixed/tgt -q -o run --after 2u \
    --vocab-type unigram --vocab-size 40
TMPDIR=/nosuch HOME=/nosuch run 0 '' translate -m fixed/run/best.safetensors -i fixed/src -o translated

# Where nothing can be written, that is said before texts are read.
reason="[a-z ]*: Read-only file system"
train 1 "^softalign: fixed/run/state.safetensors.tmp: $reason\$" --train nowhere nowhere --valid nowhere nowhere -o fixed/run --resume --after 9u
train 1 "^softalign: fixed/run/state.safetensors.tmp: $reason\$" --train nowhere nowhere --valid nowhere nowhere -o fixed/run --overwrite --after 9u
train 1 "^softalign: fixed/new: $reason\$" --train nowhere nowhere --valid nowhere nowhere -o fixed/new --after 9u
exit $failed
