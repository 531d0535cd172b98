#!/bin/sh
# Training and translating from the command line: train_translate.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"

lines() {
    wc -l <"$1" | tr -d ' '
}

# "dog hears cat now" is "ora il cane sente il gatto"; the name for bars is |||.
awk 'BEGIN {
    n = split("dog cat horse bear bars", noun); split("cane gatto cavallo orso |||", nome)
    split("sees hears likes", verb); split("vede sente ama", verbo)
    split("today now", adverb); split("oggi ora", avverbio)
    for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) for (k = 1; k <= 3; k++) for (l = 1; l <= 2; l++)
        if ((i + j + k + l) % 2) {
            print noun[i], verb[k], noun[j], adverb[l] >"src"
            print avverbio[l], "il", nome[i], verbo[k], "il", nome[j] >"tgt"
        }
}'
: >in

# ---- training

train 0 'the limit of updates, epochs or minutes was reached; best at update' --train src tgt --valid src tgt -o new/run \
    --after 30e --valid-freq 50
grep -q 'source vocabulary: 12 symbols; the text holds no more (100 were allowed)' err || fail 'no word on vocabularies'
for name in best.safetensors last.safetensors state.safetensors metrics.jsonl train.log; do
    [ -s "new/run/$name" ] || fail "train: no $name"
done
model=new/run/best.safetensors

train 1 'new/run: a run is here already.*--resume.*--overwrite' --train src tgt --valid src tgt -o new/run --after 1e
train 0 '' -q --train src tgt --valid src tgt -o other --after 1e
train 0 '' -q --train src tgt --valid src tgt -o other --after 1e --overwrite --quiet
cp other/best.safetensors first

# The same text by other ways gives the same model.
paste src tgt | gzip >pairs.tsv.gz
gzip -c src >src.gz
cp src in
train 0 '' -q --train-tsv pairs.tsv.gz --valid src.gz tgt -o other --after 1e --overwrite
cmp -s first other/best.safetensors || fail 'a TSV file gives another model than two files'
train 0 '' -q --train - tgt --valid-tsv pairs.tsv.gz -o other --after 1e --overwrite --threads 2
cmp -s first other/best.safetensors || fail 'standard input gives another model than a file'
mkfifo pairs
gzip -dc pairs.tsv.gz >pairs &
train 0 '' -q --train-tsv pairs --valid src tgt -o other --after 1e --overwrite
cmp -s first other/best.safetensors || fail 'a pipe gives another model than a file'

# What the text is made into is made once, where runs can share it.
mkdir shared
train 0 '' -q --train src tgt --valid src tgt -o ids --tmp-dir shared --after 1e
[ ! -e ids/train.corpus ] || fail '--tmp-dir: the ids are in the folder of the run'
train 0 '^shared/softalign-[0-9a-f]*\.corpus: the training text is taken from this file' --train src tgt \
    --valid src tgt -o ids --tmp-dir shared --after 1e --overwrite --seed 1
cmp -s first ids/best.safetensors || fail '--tmp-dir: another model'
cp src in
train 0 '' -q --train - tgt --valid src tgt -o ids --tmp-dir shared --after 1e --overwrite
cmp -s first ids/best.safetensors || fail '--tmp-dir: standard input gives another model'
[ "$(ls shared | wc -l)" -eq 2 ] || fail "--tmp-dir: $(ls shared)"
train 1 'nowhere/softalign-.*: No such file' --train src tgt --valid src tgt -o ids2 --tmp-dir nowhere --after 1e
[ ! -e ids2 ] || fail '--tmp-dir nowhere left a folder'

# 75 pairs of 7 target symbols, </s> among them: 5 an update, or all in one, which the preset's 32 sentences do not
# prevent, or 16.
train 0 'best at update 15 ' --train src tgt --valid src tgt -o sized --after 1e --overwrite --mini-batch-words 41
run 0 'best at update 1 ' train --vocab-type word --dim-emb 8 --dim-rnn 8 --dim-dec 8 --dim-att 8 --dim-maxout 8 \
    --threads 1 --train src tgt --valid src tgt -o sized --after 1e --overwrite --mini-batch-words 525
train 0 'best at update 5 ' --train src tgt --valid src tgt -o sized --after 1e --overwrite --mini-batch-words 525
train 2 'standard input cannot be both' --train - - --valid src tgt -o other --after 1e --overwrite
cmp -s first other/best.safetensors || fail 'a refused --overwrite changed the run that was there'

train 0 '' -q --train src tgt -o other --overwrite --held-out 5 --after 1e
train 0 'the last 5 pairs are held out' --train src tgt -o other --overwrite --held-out 5 --after 1u
train 0 '' -q --train src tgt --valid src tgt -o other --overwrite --vocab-type unigram --vocab-size 40 --joint-vocab \
    --after 2u
run 0 '' translate -m other/best.safetensors
[ "$(lines out)" -eq "$(lines src)" ] || fail 'subwords: another number of lines'

# One pair is enough to learn it.
printf 'der hund\n' >one.src
printf 'the dog\n' >one.tgt
train 0 '' -q --train one.src one.tgt --valid one.src one.tgt -o one --mini-batch 64 --after 60u --valid-freq 60
cp one.src in
run 0 '' translate -m one/best.safetensors
cmp -s out one.tgt || fail "one pair: learned $(cat out)"
# Subwords too, of which there are fewer than asked for; its BLEU is 0 all the time, as it has no four words.
for type in bpe unigram; do
    train 0 'source vocabulary: [0-9]+ symbols; the text holds no more \(32000 were allowed\)' --train one.src one.tgt \
        --valid one.src one.tgt -o one --overwrite --mini-batch 64 --after 200u --valid-freq 5 --vocab-type $type --vocab-size 32000
    run 0 '' translate -m one/best.safetensors
    cmp -s out one.tgt || fail "one pair, $type: learned $(cat out)"
done
train 1 'no pairs to validate with' --train one.src one.tgt -o lonely --after 1e
[ ! -e lonely ] || fail 'a run that could not begin left a folder'

# ---- translation

cp src in
run 0 '' translate -m $model
cp out plain
cmp -s plain tgt || fail 'the training text was not learned'
cp plain in
run 0 '' evaluate -b --tokenize none tgt
[ "$(cat out)" = 100.00 ] || fail "BLEU of the training text is $(cat out)"

cp src in
for batch in 1 3 64; do
    run 0 '' translate -m $model --mini-batch $batch --threads 2
    cmp -s out plain || fail "--mini-batch $batch: other translations"
done
sed '1!G;h;$!d' src >in
run 0 '' translate -m $model
sed '1!G;h;$!d' out | cmp -s - plain || fail 'lines reversed: other translations'
run 0 '' translate -m $model -i src.gz -o file
cmp -s file plain || fail 'from gzip to a file: other translations'

# A model that knows less has more than one opinion.
cp src in
run 0 '' translate -m first
cp out one_best
run 0 '' translate -m first --n-best 3
awk -F ' [|][|][|] ' -v lines="$(lines src)" '
    BEGIN { line = -1 }
    NF != 4 || $1 !~ /^[0-9]+$/ || $3 !~ /^F0= -[0-9]+\.[0-9]+$/ || $4 !~ /^-[0-9]+\.[0-9]+$/ { print "row: " $0 }
    $1 == line { if ($4 + 0 > before) print "not sorted: " $0 }
    $1 != line { if ($1 != next_line++) print "line number: " $0 }
    { line = $1; before = $4 + 0 }
    END { if (next_line != lines) print "lines: " next_line }' out >complaints
[ ! -s complaints ] || fail "--n-best: $(head -n 3 complaints)"
awk -F ' [|][|][|] ' 'BEGIN { line = -1 } $1 != line { print $2; line = $1 }' out | sed 's/&#124;&#124;&#124;/|||/g' >best
cmp -s best one_best || fail 'the first of the n best is not the best'
run 0 '' translate -m first --scores
awk -F '\t' 'NF != 2 || $1 !~ /^-[0-9]+\.[0-9]+$/' out >complaints
[ ! -s complaints ] || fail "--scores: $(head -n 1 complaints)"
cut -f 2 out | cmp -s - one_best || fail '--scores changes the text'
printf 'bars sees bars now\n' >in
run 0 '' translate -m $model --n-best 1 --normalize 0
grep -q '^0 ||| ora il &#124;&#124;&#124; vede il &#124;&#124;&#124; ||| F0= \(-[0-9.]*\) ||| \1$' out || fail "bars: $(cat out)"

# ---- pipes

mkfifo pipe
"$program" translate -m $model <pipe >answers 2>err &
exec 3>pipe
for n in 1 2; do
    sed -n "${n}p" src >&3
    wait_for sh -c "[ \"\$(wc -l <answers)\" -eq $n ]" || fail "line $n was not answered before the next came"
done
exec 3>&-
wait $! || fail "a pausing pipe: exit status $?"
head -n 2 plain | cmp -s - answers || fail 'a pausing pipe: other translations'

{
    yes "$(head -n 1 src)" | { "$program" translate -m $model 2>err; echo $? >status; } | head -n 1
} >out 2>/dev/null
[ "$(cat out)" = "$(head -n 1 plain)" ] || fail "a reader that leaves: $(cat out)"
[ "$(cat status)" -eq 141 ] || fail "a reader that leaves: exit status $(cat status), not 141"
[ ! -s err ] || fail "a reader that leaves: $(cat err)"
if [ -e /dev/full ]; then
    "$program" translate -m $model <src >/dev/full 2>err
    [ $? -eq 1 ] || fail 'to /dev/full: exit status is not 1'
    grep -q '^softalign: standard output: cannot write: ' err || fail "to /dev/full: $(cat err)"
fi

# ---- looking at models

printf 'dog hears cat now\n\nbear\n' >in
run 0 '' heatmap -m $model
grep -q '^ora il cane sente il gatto$' out || fail "heatmap: $(head -n 1 out)"
grep -q ' 1:dog 2:hears 3:cat 4:now 5:</s>$' out || fail 'heatmap: no list of source words'
[ "$(grep -c '^score ' out)" -eq 3 ] || fail 'heatmap: not three scores'
cp out drawing
run 0 '' heatmap -m $model 'dog hears cat now' '' bear
cmp -s out drawing || fail 'heatmap: arguments are drawn otherwise than lines'
# The same matrix with a given translation, and from a file without the model.
run 0 '' heatmap -m $model --pairs 'dog hears cat now' 'ora il cane sente il gatto' '' '' bear "$(sed -n 's/^ora/&/p' plain | head -n 1)"
sed 1,2d out | head -n 9 >pair
sed 1,2d drawing | head -n 9 | cmp -s - pair || fail 'heatmap --pairs: another drawing'
run 0 '' translate -m $model --alignment --output-format jsonl
mv out matrix.jsonl
run 0 '' heatmap --matrix matrix.jsonl
# (But the last digits of the scores: oneDNN's products keep all bits on AVX-512 only.)
for file in out drawing; do
    grep -v '^score ' $file >$file.lines
done
cmp -s out.lines drawing.lines || fail 'heatmap --matrix: another drawing'
run 0 '' heatmap -m $model -o figure.svg 'dog hears cat now'
run 0 '' heatmap --matrix matrix.jsonl -o matrix.svg
cmp -s figure.svg matrix-1.svg || fail 'heatmap --matrix: another figure'
run 0 '' heatmap -m $model --n-best 2 --beam-size 4 -o best.svg 'dog hears cat now'
grep -q '>2 of 2, score -' best-2.svg || fail 'heatmap --n-best: no second page'
run 0 '' inspect $model
for pattern in '^dim-rnn +32$' '^source vocabulary: word, 12 symbols$' '^  updates: [0-9]+$'; do
    grep -Eq "$pattern" out || fail "inspect: no line $pattern"
done
run 0 '' inspect --json $model
for pattern in '"dim-rnn": 32' '"updates": [0-9]+'; do
    grep -Eq "$pattern" out || fail "inspect --json: no $pattern"
done
exit $failed
