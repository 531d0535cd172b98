#!/bin/sh
# Makes models/en-fr.safetensors anew, as models/README.md says: an hour or so of two cores.
#
#     models/make.sh TATOEBA.tsv EUROPARL.en EUROPARL.fr DEV.en DEV.fr TEST.en TEST.fr FOLDER
#
# TATOEBA.tsv: source tab target, from tatoeba.org; EUROPARL: training text; DEV, TEST: some of Europarl that is not in it.
# What is made on the way lies in FOLDER. SOFTALIGN names another program than build/softalign.
set -eu
[ $# = 8 ] || { sed -n 's/^#     //p' "$0" >&2; exit 2; }
here=$(dirname "$0")
softalign=${SOFTALIGN:-$here/../build/softalign}
tatoeba=$1 europarl_en=$2 europarl_fr=$3 dev_en=$4 dev_fr=$5 test_en=$6 test_fr=$7 folder=$8

mkdir -p "$folder/tatoeba"
LC_ALL=C.UTF-8 awk -F'\t' -v out="$folder/tatoeba" -f "$here/split.awk" "$tatoeba" "$tatoeba"
# together LANGUAGE EUROPARL DEV: training and validation text of one language.
together() {
    cat "$folder/tatoeba/train.$1" "$2" >"$folder/train.$1"
    { cat "$folder/tatoeba/dev.$1" && head -n 1000 "$3"; } >"$folder/dev.$1"
}
together en "$europarl_en" "$dev_en"
together fr "$europarl_fr" "$dev_fr"

resume=
[ ! -e "$folder/run/state.safetensors" ] || resume=--resume
"$softalign" train --train "$folder/train.en" "$folder/train.fr" --valid "$folder/dev.en" "$folder/dev.fr" \
    --decoder-order look-first --reset before --decoder-start backward --layer-norm none --vocab-type unigram --vocab-size 8000 \
    --joint-vocab --tied-source --dim-rnn 512 --dim-dec 640 --dropout 0.1 --dropout-emb 0.1 --dropout-src 0 --dropout-trg 0 \
    --mini-batch 96 --max-length 80 --after 5500u --warmup 500 --valid-freq 1000 --early-stopping 0 --precision bf16 -o "$folder/run" $resume
"$softalign" quantize -m "$folder/run/best.safetensors" -o "$here/en-fr.safetensors"
# evaluated SOURCE REFERENCE OPTION...: the translation's score.
evaluated() {
    source=$1 reference=$2
    shift 2
    "$softalign" translate -q -m "$here/en-fr.safetensors" -i "$source" | "$softalign" evaluate "$@" "$reference"
}
evaluated "$folder/tatoeba/test.en" "$folder/tatoeba/test.fr"
# What the Lab draws.
evaluated "$test_en" "$test_fr" --json --by-length "$test_en" >"$here/en-fr.evaluation.json"
