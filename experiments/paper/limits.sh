#!/bin/sh
# limits.sh: what attention costs. Rows of TAB-separated fields:
#   pair MODEL L ms         processor time to score a pair of L source and L target words
#   step MODEL batch ms     processor time for each target word of greedy translation, sentences one by one or 64 together
# One thread; what starting the program takes is measured with an empty text and taken off.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# seconds COMMAND...: user and system time of it
seconds() {
    (
        "$@" >"$work/out"
        times
    ) | awk 'NR == 2 { n = split($0, part, /[ms ]+/); print part[1] * 60 + part[2] + part[3] * 60 + part[4] }'
}

# cut_words FILE LENGTH N: its words in N lines of that length, from the beginning again where it ends
cut_words() {
    awk -v length_wanted="$2" -v lines="$3" '
        { for (i = 1; i <= NF; i++) word[n++] = $i }
        END {
            for (k = 0; k < lines; k++)
                for (i = 0; i < length_wanted; i++)
                    printf "%s%s", word[(k * length_wanted + i) % n], (i + 1 < length_wanted ? " " : "\n")
        }' "$1"
}

: >"$work/empty"
head -n 200 "$text/test.$source" >"$work/lines"
for m in $MODELS; do
    file=$OUT/$m/best.safetensors
    start=$(seconds "$SOFTALIGN" score -q -m "$file" --threads 1 "$work/empty" "$work/empty")
    for length in $LENGTHS; do
        n=$((6400 / length))
        cut_words "$text/test.$source" "$length" "$n" >"$work/source"
        cut_words "$text/test.$target" "$length" "$n" >"$work/target"
        all=$(seconds "$SOFTALIGN" score -q -m "$file" --threads 1 --mini-batch 16 "$work/source" "$work/target")
        awk -v m="$m" -v l="$length" -v n="$n" -v all="$all" -v start="$start" \
            'BEGIN { printf "pair\t%s\t%d\t%.3f\n", m, l, 1000 * (all - start) / n }'
    done
    for batch in 1 64; do
        all=$(seconds "$SOFTALIGN" translate -q -m "$file" --threads 1 --beam-size 1 --mini-batch "$batch" \
            -i "$work/lines")
        awk -v m="$m" -v batch="$batch" -v all="$all" -v start="$start" '
            { words += NF + 1 }
            END { printf "step\t%s\t%d\t%.4f\n", m, batch, 1000 * (all - start) / words }' "$work/out"
    done
done
