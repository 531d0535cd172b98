#!/bin/sh
# vocabulary.sh MODEL: what a small vocabulary costs, of one trained model: words of the source that are not among the
# V - 2 most frequent of the training text become unknown before it translates, and words that it writes and that are
# not among the V - 2 most frequent of the target become <unk> afterwards. Rows of TAB-separated fields: V, percent of
# <unk> in what is written, BLEU, BLEU with each <unk> replaced by the source word that it looked at most (that of
# the model's own vocabulary only; - elsewhere). V are those of VOCABULARIES that are smaller than the model's, and that.
set -eu
model=$OUT/$1/best.safetensors
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# keep TRAINING-TEXT SIZE FILE: FILE with <unk> for what is not frequent there; as it is with the model's own size
keep() {
    [ "$2" -lt "$own" ] || {
        cat "$3"
        return
    }
    awk '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) print n[w] "\t" w }' "$1" | sort -k1,1nr -k2 |
        head -n "$(($2 - 2))" | cut -f 2 >"$work/words"
    awk 'NR == FNR { known[$1]; next }
        { for (i = 1; i <= NF; i++) printf "%s%s", (i > 1 ? " " : ""), (($i in known) ? $i : "<unk>"); print "" }' \
        "$work/words" "$3"
}

translate() {
    # shellcheck disable=SC2086 # a list of options
    "$SOFTALIGN" translate -q -m "$model" $SEARCH "$@"
}

bleu() {
    # shellcheck disable=SC2086
    "$SOFTALIGN" evaluate -q -b $BLEU "$text/test.$target" -i "$1"
}

own=$("$SOFTALIGN" inspect --json "$model" | awk '/"vocab-target":/ { print $2 + 0 }')
for size in $(printf '%s\n' $VOCABULARIES | awk -v own="$own" '$1 < own { print $1 } END { print own }'); do
    keep "$text/train.$source" "$size" "$text/test.$source" >"$work/source"
    translate -i "$work/source" -o "$work/written"
    keep "$text/train.$target" "$size" "$work/written" >"$work/out"
    replaced=-
    if [ "$size" -eq "$own" ]; then
        translate --replace-unk -i "$text/test.$source" -o "$work/replaced"
        replaced=$(bleu "$work/replaced")
    fi
    awk -v size="$size" -v bleu="$(bleu "$work/out")" -v replaced="$replaced" '
        { all += NF; for (i = 1; i <= NF; i++) unknown += $i == "<unk>" }
        END { printf "%d\t%.2f\t%s\t%s\n", size, (all ? 100 * unknown / all : 0), bleu, replaced }' "$work/out"
done
