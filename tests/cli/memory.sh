#!/bin/sh
# Training with less memory than it needs: memory.sh PROGRAM
# Every failed check is printed; exits 1 when there is one, 77 where address space cannot be limited (sanitizers).
set -u
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"

: >in
write_text 60
sh -c 'ulimit -v 400000; exec "$1" --version' sh "$program" >out 2>&1 || {
    echo "not tried: $(head -n 1 out)"
    exit 77
}
set -- --train src tgt --valid src tgt --average 0.9 --dim-emb 64 --dim-rnn 64 --dim-dec 64 --dim-att 64 \
    --dim-maxout 64 --valid-freq 2 --progress-freq 1 --after 8u -q
train 0 '' "$@" -o whole

# From what is too little to begin with to what is enough, going on with what the failures before left.
failures=0
for limit in $(awk 'BEGIN { for (kb = 52000; kb < 4000000; kb *= 1.12) print int(kb) }'); do
    resume=
    [ ! -e run/state.safetensors ] || resume=--resume
    # shellcheck disable=SC2086,SC2016
    sh -c 'ulimit -v "$1"; shift; exec "$@"' sh "$limit" "$program" train $tiny "$@" -o run --threads 2 $resume \
        <in >out 2>err
    status=$?
    loads run "with $limit kB"
    [ $status -ne 0 ] || break
    # Where not even the libraries fit, the system says so and gives 127.
    [ $status -eq 127 ] || failures=$((failures + 1))
    if [ $status -eq 1 ] && [ "$(wc -l <err)" -eq 1 ]; then
        grep -Eq '^softalign: .*(not enough memory|cannot be started)' err || fail "with $limit kB: $(cat err)"
    elif [ $status -ne 127 ]; then
        fail "with $limit kB: exit status $status: $(head -n 3 err)"
    fi
done
[ $status -eq 0 ] || fail 'no limit was enough'
[ $failures -ge 5 ] || fail "only $failures limits were too little"
same_run whole run 'with ever more memory'

train 1 '^softalign: not enough memory: this run needs [0-9.]+ TB, and .*--dim-rnn' "$@" -o huge --dim-rnn 1000000
[ ! -e huge ] || fail 'a model that is too large left a folder'
exit $failed
