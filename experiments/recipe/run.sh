#!/bin/sh
# What each part of the default of `softalign train` gives, and seeds of it: run.sh SOFTALIGN TEXT SOURCE TARGET OUT [VARIANT...]
#   experiments/recipe/run.sh build/softalign multi30k en de recipe
#   experiments/recipe/run.sh build/softalign multi30k en de recipe default seed-2 seed-3
# TEXT is a folder with train, val and test2016 .SOURCE and .TARGET, tokenised. Every VARIANT (all of variants.tsv, if none is
# named) trains in OUT/VARIANT for MINUTES (35) of one core, JOBS (2) of them at a time; what is there already stays, and what
# was stopped goes on. Prints a table: epochs, BLEU of val and test2016 with beam 5.
set -eu
[ $# -ge 5 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(dirname "$0")
softalign=$(realpath "$1") text=$(realpath "$2") source=$3 target=$4 out=$5
shift 5
export softalign text source target out
export minutes="${MINUTES:-35}"
mkdir -p "$out/tmp"
# shellcheck disable=SC2046 # names, without blanks
[ $# -gt 0 ] || set -- $(cut -f 1 "$here/variants.tsv")

# Names and options of the variants asked for, in the order of variants.tsv.
asked() {
    printf '%s\n' "$@" | awk -F'\t' 'NR == FNR { wanted[$1]; next } $1 in wanted { known[$1]; print }
        END { for (name in wanted) if (!(name in known)) { print "no variant " name > "/dev/stderr"; exit 1 } }' \
        - "$here/variants.tsv"
}

# shellcheck disable=SC2016 # for the shell inside
one='
name=${1%%	*}
options=${1#"$name"}
run=$out/$name
[ ! -e "$run/score" ] || exit 0
resume=
[ ! -e "$run/state.safetensors" ] && [ ! -e "$run/teacher-1/state.safetensors" ] || resume=--resume
"$softalign" train -q --train "$text/train.$source" "$text/train.$target" --valid "$text/val.$source" "$text/val.$target" \
    --tmp-dir "$out/tmp" --threads 1 --early-stopping 0 --after "${minutes}m" $options -o "$run" $resume
for set in val test2016; do
    "$softalign" translate -q --threads 1 -m "$run/best.safetensors" -i "$text/$set.$source" -o "$run/$set.$target"
    "$softalign" evaluate --tokenize none --json "$text/$set.$target" -i "$run/$set.$target" >"$run/$set.json"
done
bleu() { sed -n "s/^ *\"score\": \([0-9.]*\).*/\1/p" "$run/$1.json" | head -n 1; }
epochs=$(grep "\"validation\"" "$run/metrics.jsonl" | sed -n "\$s/.*\"epoch\":\([0-9.]*\).*/\1/p")
printf "%s\t%.0f\t%.2f\t%.2f\n" "$name" "$epochs" "$(bleu val)" "$(bleu test2016)" >"$run/score.new"
mv "$run/score.new" "$run/score"
'
asked "$@" >"$out/asked.tsv"
tr '\n' '\0' <"$out/asked.tsv" | xargs -0 -n 1 -P "${JOBS:-2}" sh -euc "$one" one

printf 'variant\tepochs\tval\ttest2016\n'
cut -f 1 "$out/asked.tsv" | while read -r name; do cat "$out/$name/score"; done
