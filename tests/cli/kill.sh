#!/bin/sh
# A run that is killed at random moments and resumed ends as one that is left alone: kill.sh PROGRAM [KILLS [SEED]]
# Every failed check is printed; exits 1 when there is one. tests/crash kills at every moment of a save, this one where
# it may happen, with other numbers of threads each time.
set -u
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
kills=${2:-6}
seed=${3:-20150401}

# About half of the time goes into saving.
write_text 120
head -n 20 src >dev.src
head -n 20 tgt >dev.tgt
: >in
set -- --train src tgt --valid dev.src dev.tgt --dim-emb 96 --dim-rnn 96 --dim-dec 96 --dim-att 96 --dim-maxout 96 \
    --dropout 0.2 --average 0.99 --schedule linear --after $((16 * kills))u --valid-freq 3 --progress-freq 2
begin=$(date +%s%N)
train 0 '' -q "$@" -o whole
duration=$((($(date +%s%N) - begin) / 1000000))

# One delay a line, in seconds; together they are about as long as the run.
awk -v seed="$seed" -v n="$kills" -v ms="$duration" 'BEGIN {
    srand(seed)
    for (i = 0; i < n; i++) printf "%.3f\n", 2 * ms / n * rand() / 1000
}' >delays

killed=0 saving=0 threads=0
while read -r delay; do
    threads=$((threads % 3 + 1))
    resume=
    [ ! -e run/state.safetensors ] || resume=--resume
    # shellcheck disable=SC2086
    "$program" train $tiny -q "$@" -o run $resume --threads $threads <in >out 2>err &
    process=$!
    sleep "$delay"
    kill -s KILL $process 2>/dev/null
    wait $process 2>/dev/null
    status=$?
    if [ $status -eq 137 ]; then
        killed=$((killed + 1))
    elif [ $status -ne 0 ]; then
        fail "seed $seed, before kill $((killed + 1)): exit status $status: $(cat err)"
    fi
    for file in run/*.tmp; do
        [ ! -e "$file" ] || saving=$((saving + 1))
    done
    loads run "seed $seed, kill $killed after $delay s"
done <delays
finish run "$@"
same_run whole run "seed $seed, $killed kills"
echo "$killed kills, $saving of them inside a save; the run took $duration ms when left alone"
[ "$killed" -gt 0 ] || fail 'the run was never killed'
exit $failed
