#!/bin/sh
# The experiments of the paper (experiments/paper), on a small text: paper.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
experiments=$(cd "$(dirname "$0")/../../experiments/paper" && pwd)
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS

# ---- words

# cut LANGUAGE TEXT WORDS
cut_is() {
    printf '%s\n' "$2" | perl "$experiments/tokenize.pl" "$1" >words
    [ "$(cat words)" = "$3" ] || fail "words of '$2': $(cat words)"
}
cut_is en "It's Mr. Smith's (\"third\") turn, isn't it?" "It 's Mr. Smith 's ( \" third \" ) turn , isn 't it ?"
cut_is en "He paid 1,234.50 to the U.S. in May." "He paid 1,234.50 to the U.S. in May ."
cut_is fr "L’homme qu'il a vu, aujourd’hui…" "L' homme qu' il a vu , aujourd' hui ..."
printf 'caf\351 noir.\n' | perl "$experiments/tokenize.pl" fr >words
[ "$(cat words)" = 'caf � noir .' ] || fail "words of a line that is not UTF-8: $(cat words)"

# ---- all steps

write_text 300
head -n 40 src >few
head -n 40 tgt >few.tgt
gzip src
head -n 2 few >figure3

# paper ARGUMENT...: runs the steps; what they print goes to log
paper() {
    make -f "$experiments/Makefile" SOFTALIGN="$program" OUT=all LANGUAGES='en fr' TRAIN='src.gz tgt' \
        DEV='few few.tgt' TEST='few few.tgt' MODELS='search50 encdec50' FIGURE3=figure3 SAMPLE=20 LENGTHS='5 10' \
        VOCABULARIES='5 30' ATTENTION='--dim-att 16' LONGER='--after 30u --early-stopping 0' TRAINING='-q
            --vocab-type word --vocab-size 30 --dim-emb 16 --dim-rnn 16 --dim-dec 16 --dim-maxout 16 --mini-batch 16
            --optimizer adam --learning-rate 0.01 --threads 1 --valid-freq 10' AFTER_50=20u "$@" >log 2>&1 ||
        fail "make $*: $(tail -n 5 log)"
}

paper
for line in '^| RNNsearch-50 |.*| 26.75 | 34.16 |$' '^| RNNencdec-50 |.*| 17.82 | 26.71 |$' \
    '^40 pairs; 40 of them without a word that the models do not know' '^| RNNsearch-50 | 20 | .*| 288000 |' \
    '^| RNNencdec-50 | 10–20 | [0-9.]* |' '^| 5 | [0-9.]*% | [0-9.]* |  |$' '^| 18 | [0-9.]*% | [0-9.]* | [0-9.]* |$' \
    '^| RNNsearch-50 | -*[0-9]\.[0-9]* | -*[0-9.]* | [0-9.]* ms a word |'; do
    grep -q -- "$line" all/report.md || fail "the report lacks $line"
done
for picture in by-length figure3-1 figure3-2 curves; do
    [ -s "all/$picture.svg" ] || fail "$picture.svg is missing"
done
cp all/report.md before
paper
grep -q softalign log && fail "what was done is done again: $(grep -m 1 softalign log)"
cmp -s all/report.md before || fail 'the report was written anew'

# What is missing is made, and nothing else; a training goes on where it was stopped.
rm all/encdec50/done
paper MODELS='search50 search50more'
grep -q 'train.*-o all/search50more --resume' log || fail 'RNNsearch-50* does not go on'
grep -q 'train.*-o all/encdec50' log && fail 'a model that nobody asked for'
grep -q '^| RNNsearch-50\* | 30 | ' all/report.md || fail 'the report lacks RNNsearch-50*'

exit $failed
