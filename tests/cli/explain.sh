#!/bin/sh
# softalign explain: explain.sh PROGRAM
# shellcheck source=lib/run.sh
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"

: >in
write_text 100
train 0 '' -q --train src tgt --valid src tgt -o run --after 2e --valid-freq 1000
train 0 '' -q --train src tgt --valid src tgt -o second --after 1e --valid-freq 1000 --seed 2
run 0 '' train -q --preset rnnencdec --vocab-type word --vocab-size 100 --dim-emb 8 --dim-rnn 8 --dim-dec 8 --dim-maxout 8 --threads 1 \
    --train src tgt --valid src tgt -o blind --after 1u
m=run/best.safetensors
head -n 3 src >a
head -n 3 tgt >b

# ---- a summary

run 0 '' explain -m "$m" -q a b
grep -q '^3 pairs, [0-9]* symbols$' out || fail "no count of pairs: $(head -n 1 out)"
for name in 'tau of attention, gradient' 'tau of attention, leave-one-out' 'tau of attention, carried' \
    'tau of gradient, leave-one-out' 'tau of carried, gradient' 'tau of carried, leave-one-out' \
    'TVD, weights permuted'; do
    grep -q "^$name  *all  *[0-9]" out || fail "the summary lacks $name"
done
grep -q adversary out && fail 'an adversary that nobody asked for'
cp out summary
paste a b >both.tsv
run 0 '' explain -m "$m" -q --tsv both.tsv
cmp -s out summary || fail 'two files and one TSV file differ'
run 0 '' explain -m "$m" -q --threads 3 a b
cmp -s out summary || fail 'threads change the summary'
run 0 '' explain -m "$m" -q --json a b
grep -q '^{"pairs":3,"left_out":0,"bins":\[{' out || fail "JSON: $(head -c 100 out)"

# ---- records: one for every pair

printf '\n%s\ndog cat\n%s\n' "$(head -n 1 src)" "$(sed -n 12p src)" >a
printf 'xdog\n%s\n\n%s\n' "$(head -n 1 tgt)" "$(sed -n 12p tgt)" >b
run 0 '' explain -m "$m" -q --records - --max-length 5 --adversaries 2 --adversary-steps 3 a b
[ "$(wc -l <out)" -eq 4 ] || fail "$(wc -l <out) records of 4 pairs"
sed -n 1p out | grep -q '^{"line":1,"left_out":"a side is blank"}$' || fail "record 1: $(sed -n 1p out)"
sed -n 2p out | grep -q '^{"line":2,"source":\[.*"</s>"\],"target":\[{"symbol":"x.*"adversary":{"jsd":' ||
    fail "record 2: $(sed -n 2p out)"
sed -n 3p out | grep -q '"left_out":"a side is blank"' || fail "record 3: $(sed -n 3p out)"
sed -n 4p out | grep -q '"left_out":"a side is longer than 5 symbols"' || fail "record 4: $(sed -n 4p out)"
run 0 '' explain -m "$m" -q --records file --max-length 5 --permutations 0 a b
grep -q '^1 pairs, [0-9]* symbols; 3 pairs left out$' out || fail "left out: $(head -n 1 out)"
grep -q 'permuted' out && fail 'permutations that nobody asked for'
[ "$(wc -l <file)" -eq 4 ] || fail 'records in a file'
: >empty
run 0 '' explain -m "$m" -q empty empty
grep -q '^0 pairs, 0 symbols$' out || fail 'no pairs'

# ---- another model to compare with

run 0 '' explain -m "$m" -q --compare second/best.safetensors --compare "$m" a b
grep -q '^JSD of second/best.safetensors  *all' out || fail 'no distance of the other model'
grep -q "^TVD of $m  *all  *[0-9]*  *0.000  *0.000" out || fail 'a model that is far from itself'

# ---- mistakes

run 2 'which model' explain a b
run 2 'two files' explain -m "$m" a
run 2 'exclude each other' explain -m "$m" --tsv both.tsv a b
run 2 'standard input cannot be both' explain -m "$m" - -
run 2 'has no attention' explain -m blind/best.safetensors a b
run 1 'empty has 0 lines, b has 4' explain -m "$m" empty b
run 1 'nowhere' explain -m "$m" --records nowhere/at/all a b
cp b kept
run 2 'is an input as well' explain -m "$m" --records ./b a b
cmp -s b kept || fail 'an input was written over'
run 2 'epsilon' explain -m "$m" --epsilon 2 a b

# ---- models for the replies' tests

quiet="-q --train src tgt --valid src tgt --after 20u --valid-freq 10"
# shellcheck disable=SC2086 # lists of arguments
train 0 '' $quiet -o uniform --attention-weights uniform
run 0 '' explain -m uniform/best.safetensors -q --records - a b
sed -n 2p out | grep -q '"attention":\[0.25,0.25,0.25,0.25\]' || fail "uniform weights: $(sed -n 2p out)"
# shellcheck disable=SC2086
train 0 '' $quiet -o words --word-encoder --layer-norm none --attention-from "$m" --early-stopping-metric cross-entropy
# Stopped and taken up again it is the same.
# shellcheck disable=SC2086
train 0 '' $quiet -o again --word-encoder --layer-norm none --attention-from "$m" --early-stopping-metric cross-entropy --after 10u
run 2 'say which with --attention-from' train -q --train src tgt --valid src tgt -o again --resume --after 20u
# shellcheck disable=SC2086
train 0 '' $quiet -o again --resume --attention-from "$m" --early-stopping-metric cross-entropy
same_files words again 'a resumed pupil'
cp src in
run 2 'cannot work by itself' translate -m words/best.safetensors -q
: >in
# An adversary with much weight on looking elsewhere is farther from the model than it was.
# shellcheck disable=SC2086
train 0 '' $quiet -o adversary --adversary-of "$m" --adversary-lambda 0.5 --start-from second/best.safetensors
run 0 '' explain -m "$m" -q --json --permutations 0 --compare second/best.safetensors \
    --compare adversary/last.safetensors src tgt
jsd() {
    sed 's/}}.*//' out | sed "s/.*\"JSD of $1[^}]*\"mean\":\([0-9.]*\).*/\1/"
}
awk -v before="$(jsd second)" -v after="$(jsd adversary)" 'BEGIN { exit !(after > before) }' ||
    fail "the adversary is no farther away than $(jsd second): $(jsd adversary)"
# shellcheck disable=SC2086
train 2 'go together' $quiet -o none --adversary-of "$m"
# shellcheck disable=SC2086
train 2 'exclude each other' $quiet -o none --adversary-of "$m" --adversary-lambda 1 --attention-from "$m"
# shellcheck disable=SC2086
train 2 'cross-entropy' $quiet -o none --attention-from "$m"
# shellcheck disable=SC2086
train 2 'has no weights of attention' $quiet -o none --adversary-of blind/best.safetensors --adversary-lambda 1
# shellcheck disable=SC2086
train 2 "of this model's shape" $quiet -o none --start-from blind/best.safetensors
[ ! -e none ] || fail 'a run that could not begin left a folder'
exit $failed
