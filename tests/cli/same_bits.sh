#!/bin/sh
# The same run gives the same bits with any number of threads: same_bits.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
write_text 300
head -n 20 src >dev.src
head -n 20 tgt >dev.tgt
: >in

# What the preset does (dropout, label smoothing, the average, a schedule that falls), with sizes that divide nothing.
# sums FILE ARGUMENT...
sums() {
    sums_file=$1
    shift
    rm -rf run
    run 0 '' train -q --train src tgt --valid dev.src dev.tgt -o run --vocab-type word --dim-emb 36 --dim-rnn 56 \
        --dim-dec 64 --dim-att 48 --dim-maxout 36 --after 200u --valid-freq 90 --progress-freq 50 "$@"
    [ "$status" -eq 0 ] || exit 1
    timeless run/state.safetensors >state
    sha256sum run/best.safetensors run/last.safetensors state >"$sums_file"
}

for precision in f32 bf16; do
    # The processor may have none, or oneDNN be held to older instructions.
    if [ $precision = bf16 ] && "$program" train -q --precision bf16 --train src tgt --valid src tgt -o tried --after 1u \
        2>&1 | grep -q 'no instructions for bf16'; then
        echo 'bf16: not tried, there are no instructions for it'
        continue
    fi
    for pieces in '--mini-batch 16 --shards 2' '--mini-batch 11 --shards 4'; do
        # shellcheck disable=SC2086
        sums sums_1 --precision $precision $pieces --threads 1
        for threads in 2 3; do
            # shellcheck disable=SC2086
            sums sums_n --precision $precision $pieces --threads $threads
            cmp -s sums_1 sums_n || fail "$precision $pieces: $threads threads: $(diff sums_1 sums_n)"
        done
        cat sums_1 >>all_sums
    done
done
# Were the pieces, or the precision, without effect, then nothing would be shown by the above.
[ "$(grep last all_sums | cut -c 1-64 | sort -u | wc -l)" -eq "$(grep -c last all_sums)" ] ||
    fail "different runs gave one model: $(cat all_sums)"
exit $failed
