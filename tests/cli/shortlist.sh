#!/bin/sh
# Shortlists, and translation with them: shortlist.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
write_text 400
: >in
train 0 '' -q --train src tgt --valid src tgt --valid-freq 1000 -o run --after 300u
mv run/best.safetensors model

# ---- what is learned: the target of a word is the word with an x before it

run 0 'list: learned from 400 pairs; [0-9]+ words for a sentence, among them 100.00% of' \
    shortlist -m model --train src tgt -o list --frequent 0 --best 5
paste src tgt >both
run 0 '' shortlist -q -m model --train-tsv both -o other --frequent 0 --best 5 --threads 2
cmp -s list other || fail 'one text, two shortlists'
run 0 "one: learned from 1 pairs; [1-3] words for a sentence" shortlist -m model --train src tgt -o one --frequent 1 --best 1 --pairs 1

# ---- what it does

head -n 200 src >lines
cp lines in
run 0 '' translate -m model --n-best 2
cp out all_words
run 0 '' shortlist -q -m model --train src tgt -o everything --frequent 1000 --best 1000
# With the whole vocabulary in it nothing changes but the last digits of scores.
run 0 '' translate -m model --n-best 2 --shortlist everything
paste all_words out | awk -F '\t' '
    { split($1, a, " [|][|][|] "); split($2, b, " [|][|][|] ") }
    a[2] != b[2] || a[4] - b[4] > 1e-4 || b[4] - a[4] > 1e-4 { print $0; exit }' >complaints
[ ! -s complaints ] || fail "all words in the list: $(cat complaints)"

# With the words of the translations it finds the same here.
run 0 '' translate -m model
cp out wanted
run 0 '' translate -m model --shortlist list
cmp -s out wanted || fail "with the right words: $(diff out wanted | head -n 3)"

# A list without a word keeps it out.
awk '{ print "dog" >"few_src"; print "xdog" >"few_tgt" }' src
run 0 '' shortlist -q -m model --train few_src few_tgt -o few --frequent 0 --best 5
run 0 '' translate -m model --shortlist few
tr ' ' '\n' <out | grep -Evx 'xdog|<unk>|' >complaints
[ ! -s complaints ] || fail "words that no list has: $(sort -u complaints | head -n 3)"

# One text, whatever runs beside it.
run 0 '' shortlist -q -m model --train src tgt -o small --frequent 3 --best 2
for type in f32 bf16 int8; do
    cp lines in
    rm -f wanted
    for batch in 1 3 64; do
        for threads in 1 2; do
            run 0 '' translate -m model --shortlist small --precision $type --mini-batch $batch --threads $threads
            [ -f wanted ] || cp out wanted
            cmp -s out wanted || fail "$type: --mini-batch $batch --threads $threads: other translations"
        done
    done
    sed '1!G;h;$!d' lines >in
    run 0 '' translate -m model --shortlist small --precision $type
    sed '1!G;h;$!d' out | cmp -s - wanted || fail "$type: lines reversed: other translations"
done

# With other options of search.
cp lines in
run 0 '' translate -m model -m model --shortlist small --n-best 2 --min-length 3 --forbid-unk
run 0 '' translate -m model --shortlist small --sample --seed 2 --top-k 3
run 0 '' translate -m model --shortlist small --sample --seed 2
sed 's/.*/xking/' lines >begun
run 0 '' translate -m model --shortlist few --prefix begun
grep -qv '^xking' out && fail 'a prefix is not written'

# ---- errors

train 0 '' -q --train src tgt --valid src tgt --valid-freq 1000 -o run --after 5u --vocab-size 12 --overwrite
run 1 'small: made for a model with other vocabularies' translate -m run/best.safetensors --shortlist small
run 1 'model: not a shortlist' translate -m model --shortlist model
head -c 300 list >cut
run 1 'cut: ' translate -m model --shortlist cut
run 1 'missing' translate -m model --shortlist missing
: >empty
run 1 'empty: there are no lines in it' shortlist -m model --train empty empty -o none
[ ! -e none ] || fail 'a file was left'
run 2 'one text to learn from' shortlist -m model -o none
run 2 'both read and written' shortlist -m model --train src tgt -o src
exit $failed
