#!/bin/sh
# Attention that links guide: guided.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
: >in

# The target is the source backwards. Among the pairs are some that are dropped, each with links of its own.
write_text 60
awk 'NR % 20 == 7 { print "" } { print }' src >odd.src
awk 'NR % 20 == 7 { print "xdog" } NR % 20 == 9 { for (i = 0; i < 20; i++) printf "xcat " } { print }' tgt >odd.tgt
awk 'NR % 20 == 7 { print "" }
     NR % 20 == 9 { print "0-19"; next }
     { for (i = NF; i > 0; i--) printf "%d-%d%s", i - 1, NF - i, (i > 1 ? " " : "\n") }' src >links
awk '{ for (i = NF; i > 0; i--) printf "%d-%d%s", i - 1, NF - i, (i > 1 ? " " : "\n") }' src >gold

guide='--guided-alignment links --guided-alignment-weight 1 --max-length 16'
# shellcheck disable=SC2086 # a list of arguments
train 0 '' --train odd.src odd.tgt --valid src tgt -o guided --quiet --after 30e $guide
train 0 '' --train odd.src odd.tgt --valid src tgt -o free --quiet --after 30e --max-length 16
for run in guided free; do
    run 0 '' align -m $run/last.safetensors -q src tgt
    cp out $run.links
    run 0 '' evaluate --metrics aer --score-only -i $run.links gold
    cp out $run.aer
done
awk 'NR == 1 { guided = $1 } NR == 2 { exit !(guided < 20 && guided < $1 / 2) }' guided.aer free.aer ||
    fail "AER $(cat guided.aer) with links to learn from, $(cat free.aer) without"

# A run that is resumed is the same.
# shellcheck disable=SC2086
train 0 '' --train odd.src odd.tgt --valid src tgt -o parts --quiet --after 20e $guide
# shellcheck disable=SC2086
train 0 'after .epochs. is now 30' --train odd.src odd.tgt --valid src tgt -o parts --resume --after 30e $guide
same_files guided parts 'a resumed run'
train 2 'give it the same links' --train odd.src odd.tgt --valid src tgt -o parts --quiet --resume --after 31e
tail -n +2 links >other && head -n 1 links >>other
train 1 'other links|names word' --train odd.src odd.tgt --valid src tgt -o parts --quiet --resume --after 31e \
    --guided-alignment other
train 1 'without --guided-alignment' --train odd.src odd.tgt --valid src tgt -o free --quiet --resume --after 31e \
    --guided-alignment links

# Subwords: a link of words is one of all their symbols.
train 0 '' --train odd.src odd.tgt --valid src tgt -o pieces --quiet --after 2e --vocab-type unigram --vocab-size 30 \
    --guided-alignment links --guided-alignment-weight 1 --max-length 60

# Wrong files, with the line.
wrong() {
    train 1 "$1" --train odd.src odd.tgt --valid src tgt -o wrong --quiet --after 1e --guided-alignment broken
    [ ! -e wrong ] || fail "a run that could not begin left its folder"
}
sed '3s/$/ 1-/' links >broken
wrong "^softalign: broken:3: '1-': a link is written"
sed '3s/$/ 99-0/' links >broken
wrong '^softalign: broken:3: the link 99-0 names word 99 of the source, which has [0-9]+'
sed '3s/$/ 0-99/' links >broken
wrong '^softalign: broken:3: the link 0-99 names word 99 of the target'
head -n 5 links >broken
wrong 'broken has 5 lines, but the training text has 63'
cat links links >broken
wrong 'broken has 126 lines, but the training text has 63'
train 2 'needs attention' --train src tgt --valid src tgt -o wrong --quiet --after 1e --preset seq2seq --layers 1 \
    --guided-alignment links
exit $failed
