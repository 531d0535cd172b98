#!/bin/sh
# The mean of models: average.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
write_text 200
: >in
train 0 '' -q --train src tgt --valid src tgt --valid-freq 30 --after 120u --keep 3 -o run
set -- run/update-*.safetensors
[ "$#" -eq 3 ] || fail "--keep 3 left $*"
[ -e run/update-120.safetensors ] || fail "the best, update 120, is not there: $*"

# ---- a mean is a model

run 0 '' average "$@" -o mean
head -n 20 src >in
run 0 '' translate -m mean
[ "$(wc -l <out)" -eq 20 ] || fail "20 lines became $(wc -l <out)"
run 0 '' inspect mean
grep -q 'average_of: .*"updates": *90' out || fail "inspect does not say of what it is the mean: $(tail -n 5 out)"

# Of one model and itself it is that model; its translations and scores are the same.
: >in
run 0 '' average run/best.safetensors run/best.safetensors -o twice
cp src in
run 0 '' translate -m run/best.safetensors --n-best 2
cp out wanted
run 0 '' translate -m twice --n-best 2
cmp -s out wanted || fail "the mean of a model and itself is another: $(diff out wanted | head -n 2)"
run 0 '' translate -m mean --n-best 2
cmp -s out wanted && fail 'the mean of three models is the best of them'

# In the middle between two: parameters a, b and their mean m.
run 0 '' average run/update-90.safetensors run/update-120.safetensors -o middle
floats() {
    tail -c +$(($(od -An -tu8 -N8 "$1") + 9)) "$1" | head -c 4000 | od -An -v -tf4 -w4
}
floats run/update-90.safetensors >a
floats run/update-120.safetensors >b
floats middle | paste a b - | awk '{ d = ($1 + $2) / 2 - $3; if (d > 1e-6 || d < -1e-6) { print; exit } }' >complaints
[ -s a ] && [ ! -s complaints ] || fail "not in the middle: $(cat complaints)"
cmp -s a b && fail 'the models are one'

# ---- what has no mean

: >in
train 0 '' -q --train src tgt --valid src tgt --valid-freq 1000 --after 2u --dim-rnn 16 -o narrow
run 1 'narrow/best.safetensors: its configuration is not that of run/best.safetensors' \
    average run/best.safetensors narrow/best.safetensors -o bad
sed 's/dog/wolf/g' src >other
train 0 '' -q --train other tgt --valid src tgt --valid-freq 1000 --after 2u -o other_words
run 1 'other_words/best.safetensors: its source vocabulary is not that of run/best.safetensors' \
    average run/best.safetensors other_words/best.safetensors -o bad
run 0 '' quantize -m run/best.safetensors -o small
run 1 'small: its weights were quantized to int8' average run/best.safetensors small -o bad
run 1 'nowhere: cannot be opened' average run/best.safetensors nowhere -o bad
run 1 'src: ' average run/best.safetensors src -o bad
run 2 'two at least' average run/best.safetensors -o bad
run 2 '-o FILE is missing' average run/best.safetensors run/last.safetensors
run 2 'is both a model and --output' average run/best.safetensors run/last.safetensors -o run/last.safetensors
[ ! -e bad ] || fail 'a mean was written of models that have none'
exit $failed
