#!/bin/sh
# Alignments of given pairs and of translations: align.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
: >in
printf '\n \n' >blank

write_text 60
train 0 '' --train src tgt --valid src tgt -o words --quiet --after 5e
train 0 '' --train tgt src --valid tgt src -o back --quiet --after 5e
train 0 '' --train src tgt --valid src tgt -o pieces --quiet --after 1e --vocab-type unigram --vocab-size 30
run 0 '' train --train src tgt --valid src tgt -o blind --quiet --after 1u --preset rnnencdec --vocab-type word \
    --vocab-size 100 --dim-emb 8 --dim-rnn 8 --dim-dec 8 --dim-maxout 8

run 0 '' align -m words/best.safetensors -q src tgt
[ "$(wc -l <out)" -eq 60 ] || fail 'a pair without a line'
cp out links
run 0 '' align -m words/best.safetensors -q --align-shift 1 src tgt
cmp -s out links && fail 'a shift changes nothing'

# What does not change the result.
run 0 '' align -m words/best.safetensors -q --mini-batch 7 --threads 3 src tgt
cmp -s out links || fail 'links depend on minibatches or threads'
paste src tgt >pairs.tsv
run 0 '' align -m words/best.safetensors -q --tsv pairs.tsv -o file
cmp -s file links || fail 'links of a TSV file differ'

# Both directions.
run 0 '' align -m words/best.safetensors --reverse-model back/best.safetensors --symmetrization intersection -q src tgt
cp out both
run 0 '' align -m back/best.safetensors -q --swap -o reverse tgt src
run 0 '' symmetrize --method intersection links reverse
cmp -s out both || fail 'two models at once differ from one after the other'

# Rows that are empty, of one side or both, and longer than the model reads.
printf 'dog cat\n\ndog\n\n  dog   cat\tbear \n' >odd.src
printf 'xcat xdog\n\n\nxdog\nxbear xcat xdog\n' >odd.tgt
run 0 '' align -m words/best.safetensors -q odd.src odd.tgt
[ "$(wc -l <out)" -eq 5 ] || fail "odd pairs: $(cat out)"
[ -z "$(sed -n '2,4p' out)" ] || fail "links of empty sides: $(cat out)"
run 0 'odd.src:5: a side longer than 2 symbols' align -m words/best.safetensors --max-length 2 odd.src odd.tgt
[ "$(wc -l <out)" -eq 5 ] || fail 'cropped pairs lack a line'

# A drawing names words that the model does not know, as they stand in the text, unless its symbols are asked for.
run 0 '' heatmap -m words/best.safetensors -q --pairs 'dog zébu  قط' 'xdog xzébu'
grep -q '^xzébu' out && grep -q '1:dog 2:zébu 3:.*قط.* 4:</s>' out || fail "labels of unknown words: $(cat out)"
run 0 '' heatmap -m words/best.safetensors -q --subwords --pairs 'dog zébu  قط' 'xdog xzébu'
grep -q '^<unk>' out && grep -q '1:dog 2:<unk> 3:<unk> 4:</s>' out || fail "labels of symbols: $(cat out)"
run 0 '' heatmap -m pieces/best.safetensors -q --pairs 'dog 猫 cat' 'xdog 猫'
grep -q '^ *猫' out && grep -q '1:dog 2:猫 3:cat 4:</s>' out || fail "labels of unknown pieces: $(cat out)"

# Weights: rows of target words and </s>, columns of source words and </s>, sums of 1.
run 0 '' align -m words/best.safetensors -q --format soft odd.src odd.tgt
awk 'NR == 1 && NF != 3 || NR == 2 && $0 != "1.000000" || NR == 3 && NF != 1 || NR == 4 && NF != 2 || NR == 5 && NF != 4 {
         print "row " NR ": " $0
     }
     { for (i = 1; i <= NF; i++) {
           n = split($i, w, ",")
           sum = 0
           for (j = 1; j <= n; j++) sum += w[j]
           if (sum < 0.9999 || sum > 1.0001) print "sum " sum
       } }' out >wrong
[ ! -s wrong ] || fail "soft weights: $(cat wrong)"
run 0 '' align -m words/best.safetensors -q --format jsonl odd.src odd.tgt
grep -q '^{"source":\["dog","cat","</s>"\],"target":\["xcat","xdog","</s>"\],"weights":\[\[' out || fail "jsonl: $(head -1 out)"
run 0 '' align -m words/best.safetensors -q --format npy -o out.npy odd.src odd.tgt
[ "$(head -c 6 out.npy | tail -c 5)" = NUMPY ] || fail 'npy without its magic'
[ "$(wc -c <out.npy)" -eq $((5 * 128 + 4 * (3 * 3 + 1 + 2 + 2 + 4 * 4))) ] || fail "npy of $(wc -c <out.npy) bytes"

# Words by default, whatever the model reads.
run 0 '' align -m pieces/best.safetensors -q --align-threshold 0.01 odd.src odd.tgt
sed -n 1p out | tr ' ' '\n' | awk -F- '$1 > 1 || $2 > 1 { exit 1 }' || fail "words out of range: $(head -1 out)"
run 0 '' align -m pieces/best.safetensors -q --align-subwords --format soft odd.src odd.tgt
[ "$(sed -n 1p out | wc -w)" -gt 3 ] || fail 'no subwords'
run 0 '' align -m words/best.safetensors -q --scores odd.src odd.tgt
sed -n 1p out | grep -Eq '^[0-9]-[0-9]:[01]\.[0-9]{6}' || fail "scores: $(head -1 out)"

# Translations: a field of links, in every format, for every hypothesis.
cp src in
run 0 '' translate -m words/best.safetensors --alignment -q
awk -F'\t' 'NF != 2 || $2 !~ /^([0-9]+-[0-9]+( |$))*$/ { print NR }' out >wrong
[ ! -s wrong ] || fail "translations without links: $(cat wrong)"
run 0 '' translate -m words/best.safetensors --alignment --n-best 2 -q
awk -F' [|][|][|] ' 'NF != 5 || $3 !~ /^[0-9 -]*$/ { print NR }' out >wrong
[ "$(wc -l <out)" -eq 120 ] && [ ! -s wrong ] || fail "n-best rows without links: $(cat wrong)"
run 0 '' translate -m words/best.safetensors --alignment --output-format jsonl -q
grep -q '"links":"[0-9]' out || fail 'no links in jsonl'
run 0 '' translate -m words/best.safetensors --alignment --output-format tsv -q
awk -F'\t' 'NF != 5 { exit 1 }' out || fail 'tsv without links'
printf '\n' >in
run 0 '' translate -m words/best.safetensors --alignment -q
[ "$(cat out)" = "$(printf '\t')" ] || fail 'links of an empty line'

# A text and nothing else.
awk '{ for (i = NF; i > 0; i--) printf "%d-%d%s", i - 1, NF - i, (i > 1 ? " " : "\n") }' src >gold
awk '{ for (i = 1; i <= NF; i++) printf "x%s%s", $i, (i < NF ? " " : "\n") }' src >same.tgt
awk '{ for (i = 1; i <= NF; i++) printf "%d-%d%s", i - 1, i - 1, (i < NF ? " " : "\n") }' src >same.gold
run 0 '' align --train src same.tgt --forward-links forward --reverse-links back.links
cp out links
for file in links forward back.links; do
    run 0 '' evaluate --metrics aer --score-only -i $file same.gold
    awk '$1 > 5 { exit 1 }' out || fail "AER of $file: $(cat out)"
done
run 0 '' align --train src same.tgt --threads 3
cmp -s out links || fail 'links depend on threads'
run 0 '' align --train src same.tgt --symmetrization intersection
cp out both
run 0 '' symmetrize --method intersection forward back.links
cmp -s out both || fail 'the intersection is not that of both directions'
paste src same.tgt >pairs.tsv
run 0 '' align --train-tsv pairs.tsv --scores --swap -o file
[ "$(head -n 1 file | sed 's/:[0-9.]*//g')" = "$(head -n 1 links)" ] || fail 'links of a TSV file, swapped'
run 0 '' align --train odd.src odd.tgt
[ "$(wc -l <out)" -eq 5 ] && [ -z "$(sed -n '2,4p' out)" ] || fail "odd pairs: $(cat out)"
run 1 'src has 60 lines, odd.tgt has 5|60 lines.*5' align --train src odd.tgt
run 1 'no pair|nothing to learn' align --train blank blank
run 2 'without a model' align --train src tgt -m words/best.safetensors
run 2 'links of words' align --train src tgt --format soft
run 2 'go with --train' align -m words/best.safetensors --chains 3 src tgt

run 2 'which model' align src tgt
run 2 'SOURCE and TARGET' align -m words/best.safetensors src
run 2 'no attention to align with' align -m blind/best.safetensors src tgt
cp src in
run 2 'no attention to align with' translate -m blind/best.safetensors --alignment
run 2 'one direction' align -m words/best.safetensors --reverse-model back/best.safetensors --format soft src tgt
run 2 'reverse-model' align -m words/best.safetensors --symmetrization union src tgt
run 2 'words only' align -m words/best.safetensors --reverse-model back/best.safetensors --align-subwords src tgt
run 2 'go with --alignment' translate -m words/best.safetensors --align-shift 1
run 1 'src has 60 lines, odd.tgt has 5' align -m words/best.safetensors src odd.tgt
run 2 'both read and written' align -m words/best.safetensors -o src src tgt
exit $failed
