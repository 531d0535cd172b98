#!/bin/sh
# Fuzzes what reads untrusted bytes: fuzz.sh SECONDS [TARGET]...
# Builds the targets of tests/fuzz with clang, libFuzzer and sanitizers in build-fuzz, and runs each for so many seconds,
# two at a time, from the inputs in tests/fuzz/corpus and models and texts made here. New inputs stay in
# build-fuzz/corpus for the next time. Ends with "N passed, N failed"; what failed leaves its input in build-fuzz:
# make it small, put it in tests/fuzz/corpus/TARGET with a name that says what it is, and mend what it found.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:?SECONDS is missing}
shift
all='fuzz_model fuzz_reader fuzz_record fuzz_request fuzz_safetensors fuzz_text fuzz_vocab'
# shellcheck disable=SC2086 # a list of words
[ $# -gt 0 ] || set -- $all

export CC=clang CXX=clang++
flags=-fsanitize=fuzzer-no-link
[ -e build-fuzz/build.ninja ] || meson setup build-fuzz -Dfuzz=true -Doptimization=1 -Db_sanitize=address,undefined \
    -Db_lundef=false -Dc_args=$flags -Dcpp_args=$flags
# shellcheck disable=SC2046 # one word for each target
ninja -C build-fuzz softalign $(printf 'tests/%s ' "$@")

# ---- inputs of the right form

seeds=build-fuzz/seeds
rm -rf $seeds
for target in $all; do
    mkdir -p $seeds/"$target" build-fuzz/corpus/"$target"
done
printf 'der hund 12\ndie katze <b>\n' >$seeds/src
printf 'the dog 12\nthe cat <b>\n' >$seeds/tgt
make_model() {
    name=$1
    shift
    build-fuzz/softalign train -q --train $seeds/src $seeds/tgt --valid $seeds/src $seeds/tgt -o $seeds/run --overwrite \
        --dim-emb 2 --dim-rnn 2 --dim-dec 2 --dim-maxout 2 --output-rank 0 --threads 1 --shards 1 --after 1u "$@"
    cp $seeds/run/best.safetensors $seeds/fuzz_model/"$name"
    cp $seeds/run/best.safetensors $seeds/fuzz_safetensors/"$name"
}
export ASAN_OPTIONS=detect_leaks=0 # of a program that ends
make_model word --vocab-type word --preset rnnsearch --dim-att 2
make_model bpe --vocab-type bpe --dim-att 2 --vocab-size 40 --protect --normalization nfc
make_model unigram --vocab-type unigram --dim-att 2 --vocab-size 40 --joint-vocab
make_model encdec --vocab-type word --preset rnnencdec
unset ASAN_OPTIONS
# The bytes of a vocabulary, which is a tensor of the file, behind the number of its kind.
vocabulary() {
    header=$(od -A n -t u8 -N 8 $seeds/fuzz_model/"$2" | tr -d ' ')
    head -c $((8 + header)) $seeds/fuzz_model/"$2" | tr '}' '\n' |
        sed -n 's/.*"vocab.source":{.*"data_offsets": *\[\([0-9]*\), *\([0-9]*\)\].*/\1 \2/p' >$seeds/offsets
    read -r from to <$seeds/offsets
    # shellcheck disable=SC2059 # the format is the byte
    { printf "$1"; tail -c +$((8 + header + from + 1)) $seeds/fuzz_model/"$2" | head -c $((to - from)); } \
        >$seeds/fuzz_vocab/"$2"
}
vocabulary '\000' word
vocabulary '\001' bpe
vocabulary '\002' unigram
gzip -c $seeds/src >$seeds/fuzz_reader/gzip
cat $seeds/src $seeds/tgt >$seeds/fuzz_reader/text

# ---- the runs

fuzz() {
    target=$1
    (cd build-fuzz && ./tests/"$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2000 -max_len=65536 \
        -print_final_stats=1 -artifact_prefix="$target." corpus/"$target" ../tests/fuzz/corpus/"$target" \
        seeds/"$target") >build-fuzz/"$target".log 2>&1 && echo passed >build-fuzz/"$target".result ||
        echo failed >build-fuzz/"$target".result
}
rm -f build-fuzz/*.result
while [ $# -gt 0 ]; do
    fuzz "$1" &
    [ $# -lt 2 ] || fuzz "$2" &
    wait
    shift
    [ $# -eq 0 ] || shift
done
for result in build-fuzz/*.result; do
    target=$(basename "$result" .result)
    if grep -q passed "$result"; then
        sed -n "s/^stat::number_of_executed_units: */$target: inputs tried: /p" build-fuzz/"$target".log
    else
        tail -n 60 build-fuzz/"$target".log
        echo "$target: failed"
    fi
done
passed=$(cat build-fuzz/*.result | grep -c passed) || :
failed=$(cat build-fuzz/*.result | grep -c failed) || :
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
