#!/bin/sh
# One run on several ranks: mpirun.sh PROGRAM
# Every failed check is printed; exits 1 when there is one, 77 when there is no Open MPI to try the rest with.
set -u
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
write_text 60
: >in

# ---- without MPI

mkdir alone
cp "$program" alone/softalign
OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 alone/softalign train --train src tgt -o none --after 1u 2>err
[ $? -eq 2 ] || fail "several ranks without the module: $(cat err)"
grep -q "^softalign: this is process 1 of 2, and softalign's MPI module cannot be loaded: .*libopenmpi-dev" err ||
    fail "several ranks without the module: $(cat err)"
[ ! -e none ] || fail 'several ranks without the module: left a folder'
# shellcheck disable=SC2086 # a list of arguments
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 alone/softalign train -q $tiny --train src tgt -o none --after 1u ||
    fail 'one rank needs no module'

if [ ! -e "$(dirname "$program")/softalign-mpi.so" ] || ! mpirun --version 2>&1 | grep -q 'Open MPI'; then
    [ $failed -ne 0 ] || failed=77
    exit $failed
fi

# ---- with it

# As root, with more ranks than cores, inside a container that keeps processes from reading each other's memory, and
# without a pause before mpirun ends what is left.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_odls_base_sigkill_timeout=0
# What MPI itself leaves behind is not ours to find.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

# The common options: all that has a state, sizes that divide nothing, and parameters for two blocks, so that two
# ranks have one each to update. In bf16 sums in another order would differ by more.
whole="$tiny --train src tgt --valid src tgt --dropout 0.1 --dropout-emb 0.1 --label-smoothing 0.1 --average 0.9
    --dim-emb 64 --dim-rnn 128 --dim-dec 128 --dim-att 64 --dim-maxout 64 --learning-rate 0.001
    --mini-batch 13 --progress-freq 5 --precision f32"

# ranks STATUS STDERR-PATTERN N ARGUMENT...: trains on N ranks; nothing is said twice.
ranks() {
    want=$1 pattern=$2 n=$3
    shift 3
    # shellcheck disable=SC2086
    timeout 100 mpirun -n "$n" "$program" train $whole "$@" <in >out 2>err
    status=$?
    [ "$status" -eq "$want" ] || fail "$n ranks, $*: exit status $status, not $want: $(cat err)"
    [ ! -s out ] || fail "$n ranks, $*: wrote to standard output: $(cat out)"
    grep -Eq -- "$pattern" err || fail "$n ranks, $*: standard error lacks /$pattern/: $(cat err)"
    [ "$(grep -c '^softalign: ' err)" -le 1 ] || fail "$n ranks, $*: more than one complains: $(cat err)"
}

# close FOLDER OTHER: the same lines in metrics.jsonl, with losses that differ by 1e-5 at most.
close() {
    for folder in "$1" "$2"; do
        sed -E 's/.*"update":([0-9]+).*"(loss|cross_entropy)":([0-9.]+).*/\1 \2 \3/' \
            "$folder/metrics.jsonl" >"losses_$folder"
    done
    paste -d ' ' "losses_$1" "losses_$2" |
        awk '{ d = $3 - $6; if ($1 $2 != $4 $5 || d > 1e-5 || d < -1e-5 || NF != 6) exit 1 } END { exit NR < 6 }' ||
        fail "losses of $1 and $2 differ: $(paste "losses_$1" "losses_$2")"
}

# shellcheck disable=SC2086
"$program" train -q $whole -o single --after 20u --valid-freq 10 || fail 'one process'
ranks 0 '2 processes, each with 1 threads' 2 -o two --after 20u --valid-freq 10
close single two
! cmp -s single/last.safetensors two/last.safetensors || fail 'two ranks gave the bits of one: did they share anything?'
ranks 0 '' 2 -o again --after 20u --valid-freq 10
same_run two again 'once more'
ranks 0 '' 2 -o threads --after 20u --valid-freq 10 --threads 2
same_run two threads 'two threads'

# shellcheck disable=SC2086
"$program" train -q $whole -o single6 --after 20u --valid-freq 10 --shards 6 || fail 'one process'
ranks 0 '' 3 -o three --after 20u --valid-freq 10 --shards 6
close single6 three
ranks 0 '' 3 -o again3 --after 20u --valid-freq 10 --shards 6 --threads 2
same_run three again3 'three ranks'

# A minibatch of one sentence has one shard, which leaves ranks without any.
ranks 0 '' 3 -o small --after 3u --mini-batch 1 --shards 3

# ---- limits

ranks 0 'the limit of updates, epochs or minutes was reached' 2 -o minutes --after 0.005m --schedule linear
ranks 0 'early stopping; best at update 10' 2 -o patience --after 1000u --valid-freq 10 --optimizer sgd \
    --learning-rate 1e-20 --early-stopping 1 --average 0
ranks 0 'nothing to do' 2 -o two --after 20u --resume

# ---- signals and kills

# signalled SIGNAL RANK ARGUMENT...: trains on two ranks in ./run and sends the signal to one of them, or to mpirun;
# leaves the exit status in $status.
signalled() {
    signal=$1 receiver=$2
    shift 2
    rm -rf run pid.*
    (wait_for grep -q '"progress","update":15,' run/metrics.jsonl && kill -s "$signal" "$(cat "pid.$receiver")") &
    # shellcheck disable=SC2086,SC2016
    timeout --foreground 100 sh -c 'echo $$ >pid.mpirun; exec "$@"' sh \
        mpirun -n 2 sh -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec "$@"' sh \
        "$program" train $whole -o run --after 1000000u "$@" <in >out 2>err
    status=$?
    wait
}

# goes_on WHAT N ARGUMENT...: ends N updates after the state that was saved, as a run that was never stopped.
goes_on() {
    what=$1
    end=$(($(updates run/state.safetensors) + $2))
    shift 2
    rm -rf unstopped
    ranks 0 '' 2 -o unstopped --after ${end}u "$@"
    ranks 0 'resumed after update' 2 -o run --resume --after ${end}u "$@"
    same_run unstopped run "$what"
}

for receiver in 1 0; do
    signalled KILL $receiver --valid-freq 10
    [ "$status" -ne 0 ] || fail "rank $receiver killed: exit status 0"
done
goes_on 'rank 0 killed' 3 --valid-freq 10
signalled TERM 0 --valid-freq 1000000
[ "$status" -eq 143 ] || fail "SIGTERM to rank 0: exit status $status, not 143: $(cat err)"
grep -q 'stopped by SIGTERM: the run is saved in run after update .*; --resume goes on' err || fail "SIGTERM to rank 0: $(cat err)"
goes_on 'SIGTERM to rank 0' 3 --valid-freq 1000000
signalled TERM 1 --valid-freq 1000000
[ "$status" -eq 1 ] || fail "SIGTERM to rank 1: exit status $status, not 1: $(cat err)"
grep -q 'the run is saved in run after update [0-9]*; --resume goes on' err || fail "SIGTERM to rank 1: $(cat err)"
# mpirun passes this one on.
signalled USR1 mpirun --valid-freq 1000000
[ "$status" -eq 138 ] || fail "SIGUSR1 to mpirun: exit status $status, not 138: $(cat err)"
[ "$(grep -c 'stopping after this update' err)" -eq 1 ] || fail "SIGUSR1 to mpirun: $(cat err)"
goes_on 'SIGUSR1 to mpirun' 3 --valid-freq 1000000

ranks 0 'resume: the run had 2 processes, and now has 1: the result may differ' 1 -o run --resume --after ${end}u
rm -rf run

# ---- errors

ranks 2 '3 processes cannot share 2 shards of a minibatch: say --shards' 3 -o none2 --after 1u
[ ! -e none2 ] || fail 'too few shards: left a folder'
ranks 1 'two: a run is here already' 2 -o two --after 1u
ranks 2 'standard input cannot be read by 2 processes' 2 -o none2 --after 1u --train - tgt
ranks 2 'valid-beam is 5000; it must be from 1' 2 -o none2 --after 1u --valid-beam 5000
ranks 1 'update [0-9]+: the (loss|gradient) is not finite' 2 -q -o infinite --after 1000u --optimizer sgd \
    --learning-rate 1e6 --clip-norm 0 --average 0

# Arguments that only rank 1 gets.
# differs STATUS STDERR-PATTERN ARGUMENT...
differs() {
    want=$1 pattern=$2
    shift 2
    # shellcheck disable=SC2086
    timeout 100 mpirun -n 1 "$program" train $whole -o none2 --after 1u : \
        -n 1 "$program" train $whole -o none2 --after 1u "$@" <in >out 2>err
    status=$?
    [ "$status" -eq "$want" ] || fail "rank 1 with $*: exit status $status, not $want: $(cat err)"
    [ "$(grep -Ec "^softalign: $pattern" err)" -eq 1 ] || fail "rank 1 with $*: $(cat err)"
    [ ! -e none2 ] || fail "rank 1 with $*: left a folder"
}
differs 1 'rank 1: nowhere: cannot be opened: No such file' --train nowhere tgt
differs 1 'rank 1: the training text, the options or the state of the run are not those of rank 0' --train tgt src
differs 1 'rank 1: the training text, the options or the state of the run are not those of rank 0' --seed 2

# The folder goes while they train: rank 0 cannot write any more.
(wait_for grep -q '"progress","update":5,' run/metrics.jsonl && rm -rf run) &
ranks 1 'run/.*: No such file' 2 -o run --after 1000000u --valid-freq 100
wait

PMI_RANK=0 PMI_SIZE=2 "$program" train --train src tgt -o none2 --after 1u 2>err
[ $? -eq 2 ] || fail "the mpirun of another MPI: $(cat err)"
grep -q '2 processes were started, but MPI knows of 1: use the mpirun of the MPI' err || fail "another MPI: $(cat err)"
exit $failed
