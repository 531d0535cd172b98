#!/bin/sh
# report.sh: what came out, beside the figures of the paper, as a page of Markdown. The Makefile calls it when all that
# it reads is there.
set -eu
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
attending=$(for m in $MODELS; do case $m in search*) echo "$m" ;; esac; done | head -n 1)
fixed=$(for m in $MODELS; do case $m in encdec*) echo "$m" ;; esac; done | head -n 1)

# published MODEL FIELD: 2 name, 3 and 4 BLEU of all and known, 5 updates, 6 epochs, 7 hours, 8 and 9 likelihoods
published() {
    awk -F '\t' -v m="$1" -v field="$2" '$1 == m { print $field }' "$here/published.tsv"
}

# bleu REFERENCE TRANSLATION
bleu() {
    # shellcheck disable=SC2086 # a list of options
    "$SOFTALIGN" evaluate -q -b $BLEU "$1" -i "$2"
}

# chosen LEAST MOST FILE: its lines where the source of the test text has so many words
chosen() {
    awk -v least="$1" -v most="$2" 'NR == FNR { if (NF >= least && NF <= most) keep[FNR]; next } FNR in keep' \
        "$text/test.$source" "$3"
}

share_unknown() {
    awk '{ all += NF; for (i = 1; i <= NF; i++) n += $i == "<unk>" } END { printf "%.2f", all ? 100 * n / all : 0 }' "$1"
}

table1() {
    # Once more without the forbidding of <unk>: the pairs without unknown words out of the translations of all.
    printf '\n## Table 1: BLEU of the test text\n\n'
    printf '%d pairs; %d of them without a word that the models do not know, on either side.\n\n' \
        "$(wc -l <"$text/test.$source")" "$(wc -l <"$out/known")"
    echo '| model | all | without unknown words | the same, `<unk>` forbidden | all, score divided by length | `<unk>` written | paper: all | paper: without, forbidden |'
    echo '|---|---|---|---|---|---|---|---|'
    for m in $MODELS; do
        awk 'NR == FNR { keep[$1]; next } FNR in keep' "$out/known" "$out/$m.all" >"$work/known"
        printf '| %s | %s | %s | %s | %s | %s%% | %s | %s |\n' "$(published "$m" 2)" \
            "$(bleu "$text/test.$target" "$out/$m.all")" "$(bleu "$out/known.$target" "$work/known")" \
            "$(bleu "$out/known.$target" "$out/$m.known")" "$(bleu "$text/test.$target" "$out/$m.normalized")" \
            "$(share_unknown "$out/$m.all")" "$(published "$m" 3)" "$(published "$m" 4)"
    done
}

# interval LEAST MOST MODEL: "BLEU ± half of the 95% interval"
interval() {
    chosen "$1" "$2" "$text/test.$target" >"$work/reference"
    chosen "$1" "$2" "$out/$3.all" >"$work/chosen"
    # shellcheck disable=SC2086
    "$SOFTALIGN" evaluate -q --json --confidence $BLEU "$work/reference" -i "$work/chosen" | tr ',{' '\n\n' | awk -F : '
        $1 ~ /"score"/ && !seen++ { score = $2 }
        $1 ~ /"half_width"/ { half = $2 + 0 }
        END { printf "%.2f ± %.2f", score, half }'
}

figure2() {
    printf '\n## Figure 2: BLEU by the number of words of the source\n\n![BLEU by length](by-length.svg)\n\n'
    echo '| model | 10–20 words | 50 words and more | kept |'
    echo '|---|---|---|---|'
    for m in $MODELS; do
        short=$(interval 10 20 "$m")
        long=$(interval 50 100000 "$m")
        printf '| %s | %s | %s | %.0f%% |\n' "$(published "$m" 2)" "$short" "$long" \
            "$(awk -v s="${short%% *}" -v l="${long%% *}" 'BEGIN { print (s > 0 ? 100 * l / s : 0) }')"
    done
    printf '\n%d and %d sentences.\n' "$(chosen 10 20 "$text/test.$source" | wc -l)" \
        "$(chosen 50 100000 "$text/test.$source" | wc -l)"
}

figure3() {
    printf '\n## Figure 3: what words look at (%s)\n\n' "$(published "$attending" 2)"
    k=0
    while read -r line; do
        k=$((k + 1))
        printf '%d. %s<br>%s\n\n   ![sentence %d](figure3-%d.svg)\n\n' "$k" "$line" \
            "$(sed -n "${k}p" "$out/figure3.jsonl" | sed 's/.*"text":"\(.*\)","score".*/\1/; s/\\"/"/g')" "$k" "$k"
    done <"$FIGURE3"
}

# fifths LEAST MOST
fifths() {
    for m in $MODELS; do
        printf '| %s | %s–%s | ' "$(published "$m" 2)" "$1" "$2"
        paste "$text/test.$source" "$text/test.$target" "$out/$m.all" |
            awk -v least="$1" -v most="$2" -f "$here/thread.awk" | sed 's/$/ |/'
    done
}

long_sentences() {
    printf '\n## Long sentences\n\n'
    printf 'Of the reference, cut in fifths: percent of its pairs of neighbouring words that the translation has.\n\n'
    echo '| model | words of the source | first | second | third | fourth | last fifth | sentences |'
    echo '|---|---|---|---|---|---|---|---|'
    fifths 10 20
    fifths 50 1000
    printf '\nThe first three of the test text with 50 words or more, all known; ‖ stands behind the last three words in a\n'
    printf 'row that the reference has too.\n\n'
    paste "$out/known.$source" "$out/known.$target" "$out/known" | awk -F '\t' 'split($1, w, " ") >= 50' | head -n 3 |
        while IFS='	' read -r from to line; do
            printf -- '- *source* (line %d) %s\n- *reference* %s\n' "$line" "$from" "$to"
            for m in $attending $fixed; do
                printf -- '- *%s* %s\n' "$(published "$m" 2)" "$(sed -n "${line}p" "$out/$m.all" |
                    awk -v to="$to" '{ print to "\t" $0 }' | awk -f "$here/mark.awk")"
            done
            echo
        done
}

table2() {
    printf '\n## Table 2: training\n\nNLL: of a sentence, the mean; training: %d pairs of the lengths that were trained on.\n\n' "$SAMPLE"
    echo '| model | updates | epochs | hours | used: update | train NLL | dev NLL | paper: updates | epochs | hours | train | dev |'
    echo '|---|---|---|---|---|---|---|---|---|---|---|---|'
    for m in $MODELS; do
        printf '| %s | %s | %s | %s | %s | %s | %s |\n' "$(published "$m" 2)" "$(sed 's/	/ | /g' "$out/score-$m")" \
            "$(published "$m" 5)" "$(published "$m" 6)" "$(published "$m" 7)" "$(published "$m" 8)" "$(published "$m" 9)"
    done
    printf '\n![training curves](curves.svg)\n'
}

limits() {
    printf '\n## Limits\n\nProcessor time in milliseconds to score a pair of L source and L target words (one thread, 16 together).\n\n'
    printf '| model |'
    for length in $LENGTHS; do printf ' L = %d |' "$length"; done
    printf '\n|---|'
    for length in $LENGTHS; do printf -- '---|'; done
    echo
    for m in $MODELS; do
        awk -F '\t' -v m="$m" -v name="$(published "$m" 2)" '
            $1 == "pair" && $2 == m { row = row " " $4 " |" } END { print "| " name " |" row }' "$out/limits"
    done
    printf '\nThe same by target word: milliseconds are a + b L; b, which is what one more word of the source adds to each word\nof the target, by least squares.\n\n'
    echo '| model | a | b | greedy translation, one sentence at a time | 64 together |'
    echo '|---|---|---|---|---|'
    for m in $MODELS; do
        awk -F '\t' -v m="$m" -v name="$(published "$m" 2)" '
            $1 == "pair" && $2 == m { n++; x += $3; xx += $3 * $3; y += $4 / $3; xy += $4 }
            $1 == "step" && $2 == m { step[$3] = $4 }
            END {
                b = (n * xy - x * y) / (n * xx - x * x)
                printf "| %s | %.4f | %.6f | %s ms a word | %s |\n", name, (y - b * x) / n, b, step[1], step[64]
            }' "$out/limits"
    done
}

vocabulary() {
    printf '\n### Words that are not in the vocabulary\n\nPercent of running words that the most frequent words of the training text cover.\n\n'
    echo '| words | training, source | target | test, source | target | test pairs wholly known |'
    echo '|---|---|---|---|---|---|'
    awk -F '\t' '{ printf "| %s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, $6 }' "$out/coverage"
    printf '\n%s, made to do with fewer words: rarer ones are unknown to it in the source, and `<unk>` in what it wrote.\n\n' "$(published "$attending" 2)"
    echo '| words | `<unk>` written | BLEU | BLEU with `--replace-unk` |'
    echo '|---|---|---|---|'
    awk -F '\t' '{ printf "| %s | %s%% | %.2f | %s |\n", $1, $2, $3, $4 == "-" ? "" : sprintf("%.2f", $4) }' "$out/vocabulary"
}

echo '# The experiments of Bahdanau, Cho and Bengio (2015)'
table1
figure2
figure3
long_sentences
table2
limits
vocabulary
