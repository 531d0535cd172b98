#!/bin/sh
# BLEU of translations by length of the source sentence, one row per file of translations.
#   bench/bleu-by-length.sh SOFTALIGN SOURCE REFERENCE HYPOTHESIS...
# Text is taken as tokenised (--tokenize none); words are what stands between blanks.
set -eu
[ $# -ge 4 ] || { echo "usage: $0 SOFTALIGN SOURCE REFERENCE HYPOTHESIS..." >&2; exit 2; }
softalign=$1 source=$2 reference=$3
shift 3
bins='1-8 9-11 12-14 15-19 20-24 25-999'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '%-24s' words
for bin in $bins; do
    printf '%10s' "$bin"
done
printf '\n%-24s' sentences
for bin in $bins; do
    printf '%10s' "$(awk -v lo="${bin%-*}" -v hi="${bin#*-}" 'NF >= lo && NF <= hi' "$source" | wc -l)"
done
printf '\n'
for hypothesis in "$@"; do
    printf '%-24s' "$(basename "$hypothesis")"
    for bin in $bins; do
        for text in "$reference" "$hypothesis"; do
            paste "$source" "$text" | awk -F '\t' -v lo="${bin%-*}" -v hi="${bin#*-}" \
                '{ n = split($1, word, " ") } n >= lo && n <= hi { print $2 }' >"$work/$(basename "$text").part"
        done
        printf '%10s' "$("$softalign" evaluate -q -b --tokenize none "$work/$(basename "$reference").part" \
            -i "$work/$(basename "$hypothesis").part")"
    done
    printf '\n'
done
