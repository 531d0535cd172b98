#!/bin/sh
# Models in fewer bits, and translation with them: quantize.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
write_text 1000
: >in

# What the presets share; `model` adds what one of them needs.
model() {
    name=$1
    shift
    train 0 '' -q --train src tgt --valid src tgt --valid-freq 1000 -o run "$@"
    mv run/best.safetensors "$name.model" && rm -r run
    for type in bf16 int8; do
        run 0 '' quantize -m "$name.model" -o "$name.$type" --precision $type
    done
}
model plain --after 150u

# ---- 1,000 lines: one text, whatever runs beside it

awk 'BEGIN {
    srand(5)
    n = split("dog cat horse bear bird fish house tree car king queen child man woman doctor city xyzzy", word)
    for (i = 0; i < 1000; i++) {
        line = ""
        for (k = int(rand() * rand() * 18); k >= 0; k--)
            line = line (line == "" ? "" : " ") word[1 + int(rand() * n)]
        print line
    }
}' >lines
for type in f32 bf16 int8; do
    rm -f wanted
    for batch in 1 3 8 64; do
        for threads in 1 2; do
            cp lines in
            run 0 '' translate -m plain.model --precision $type --beam-size 2 --mini-batch $batch --threads $threads
            [ -f wanted ] || cp out wanted
            cmp -s out wanted || fail "$type: --mini-batch $batch --threads $threads: other translations"
        done
    done
    sed '1!G;h;$!d' lines >in
    run 0 '' translate -m plain.model --precision $type --beam-size 2
    sed '1!G;h;$!d' out | cmp -s - wanted || fail "$type: lines reversed: other translations"
    cat wanted >>all
done
[ "$(sort -u all | wc -l)" -gt 300 ] || fail "few different translations: $(sort -u all | wc -l)"

# ---- a file of a type translates as the model does when it is opened with that type, bit for bit

head -n 60 src >lines
# as_on_load NAME ARGUMENT...
as_on_load() {
    name=$1
    shift
    for type in bf16 int8; do
        cp lines in
        run 0 '' translate -m "$name.model" --precision $type --n-best 2 --word-scores --threads 1 --mini-batch 1 "$@"
        cp out wanted
        run 0 '' translate -m "$name.$type" --n-best 2 --word-scores --threads 1 --mini-batch 1 "$@"
        cmp -s out wanted || fail "$name.$type: not as --precision $type: $(diff out wanted | head -n 2)"
        run 0 '' translate -m "$name.$type" --precision $type --n-best 2 --word-scores --threads 1 --mini-batch 1 "$@"
        cmp -s out wanted || fail "$name.$type: not as with --precision $type"
        run 0 '' inspect "$name.$type"
        grep -q "^precision  *$type$" out || fail "inspect does not say $type: $(cat out)"
    done
    # Fewer bits, other numbers.
    run 0 '' translate -m "$name.model" --n-best 2 --word-scores --threads 1 --mini-batch 1 "$@"
    cmp -s out wanted && fail "$name: int8 has the scores of f32"
}
as_on_load plain
model tied --after 20u --tied-target --output-rank 24
as_on_load tied
model lexical --after 20u --tied-target --output-rank 24 --lexical-model
as_on_load lexical
# The shape of the others: PRESET WIDTHS.
while read -r preset widths; do
    # shellcheck disable=SC2086 # a list of arguments
    run 0 '' train -q --train src tgt --valid src tgt --valid-freq 1000 -o run --preset "$preset" --vocab-type word \
        --vocab-size 100 --after 20u --early-stopping 0 --threads 1 $widths
    mv run/best.safetensors "$preset.model" && rm -r run
    for type in bf16 int8; do
        run 0 '' quantize -m "$preset.model" -o "$preset.$type" --precision $type
    done
    cp lines in
    as_on_load "$preset" </dev/null
done <<'END'
rnnencdec --dim-emb 24 --dim-rnn 32 --dim-dec 32 --dim-maxout 24 --output-rank 0
seq2seq --dim-emb 24 --dim-rnn 32 --layers 2
luong --dim-emb 24 --dim-rnn 32 --layers 2
END

# ---- sizes, scores, errors

set -- $(wc -c plain.model plain.bf16 plain.int8 | awk '{ print $1 }')
[ "$2" -lt $(($1 * 6 / 10)) ] && [ "$3" -lt $(($1 * 4 / 10)) ] || fail "sizes: $*"

cp lines in
run 0 '' translate -m plain.model --precision int8 --scores
cut -f 1 out >scores && cut -f 2 out >texts
run 0 '' score -m plain.int8 lines texts
cut -f 2 out | paste - scores | awk '$1 - $2 > 1e-4 || $2 - $1 > 1e-4 { print "score in int8: line " NR ": " $0; exit }' >complaints
[ ! -s complaints ] || fail "$(cat complaints)"
cp lines in
run 0 '' translate -m plain.model -m plain.int8 --precision bf16
run 0 '' translate -m plain.int8 -m plain.bf16
printf 'dog cat\n' >in
run 0 '' heatmap -m plain.int8 'dog cat'
cp out wanted
run 0 '' heatmap -m plain.model --precision int8 'dog cat'
cmp -s out wanted || fail 'heatmap: int8 is not as --precision int8'

run 1 'plain.int8: quantized already' quantize -m plain.int8 -o other --precision bf16
[ ! -e other ] || fail 'a file was left'
run 2 'which model' quantize -o other
run 2 'where to' quantize -m plain.model
run 2 'plain.model is both --model and --output' quantize -m plain.model -o plain.model
run 2 'must be bf16 or int8' quantize -m plain.model -o other --precision f32
exit $failed
