#!/bin/sh
# coverage.sh: for vocabularies of the most frequent words of the training text, VOCABULARIES many (</s> and <unk> among
# them), what share of the words it knows. Rows of TAB-separated fields: size, percent of the words of the training
# text's source and target and of the test text's source and target, percent of test pairs without an unknown word.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ranks FILE: its words, the most frequent first, with their counts
ranks() {
    awk '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) print n[w] "\t" w }' "$1" | sort -k1,1nr -k2
}

for side in "$source" "$target"; do
    ranks "$text/train.$side" >"$work/$side"
done
paste "$text/test.$source" "$text/test.$target" >"$work/test"
for size in $VOCABULARIES; do
    awk -F '\t' -v size="$size" '
        # side: 1 source, 2 target
        FNR == 1 { side++ }
        side <= 2 {
            all[side] += $1
            if (FNR <= size - 2) {
                known[side] += $1
                in_vocabulary[side, $2]
            }
            next
        }
        {
            missing = 0
            for (s = 1; s <= 2; s++) {
                n = split($s, word, " ")
                for (i = 1; i <= n; i++) {
                    test_all[s]++
                    if ((s, word[i]) in in_vocabulary) test_known[s]++; else missing++
                }
            }
            whole += missing == 0
        }
        END {
            printf "%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.1f\n", size, 100 * known[1] / all[1], 100 * known[2] / all[2],
                100 * test_known[1] / test_all[1], 100 * test_known[2] / test_all[2], 100 * whole / FNR
        }' "$work/$source" "$work/$target" "$work/test"
done
