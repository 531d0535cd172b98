#!/bin/sh
# likelihood.sh MODEL LENGTH: a row of the paper's table 2: updates, epochs, hours, the update of the model that is
# used, and the negative log-likelihood of a sentence, the mean over the first SAMPLE training pairs of at most LENGTH
# words and over the validation pairs.
set -eu
run=$OUT/$1
length=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# nll SOURCE TARGET
nll() {
    "$SOFTALIGN" score -q -m "$run/best.safetensors" "$1" "$2" | awk '{ sum -= $1 } END { printf "%.2f", sum / NR }'
}

paste "$text/train.$source" "$text/train.$target" | awk -F '\t' -v most="$length" -v wanted="$SAMPLE" -v work="$work" '
    split($1, word, " ") <= most && split($2, word, " ") <= most && $1 != "" && $2 != "" {
        print $1 >(work "/source")
        print $2 >(work "/target")
        if (++n == wanted)
            exit
    }'

tr ',' '\n' <"$run/metrics.jsonl" | tr -d '{}"' | awk -F : '
    { value[$1] = $2 }
    $1 == "improved" && $2 == "true" { best = value["update"] }
    END { printf "%d\t%.2f\t%.2f\t%d\t", value["update"], value["epoch"], value["seconds"] / 3600, best }'
printf '%s\t' "$(nll "$work/source" "$work/target")"
nll "$text/dev.$source" "$text/dev.$target"
echo
