#!/bin/sh
# Makes the models of this folder anew, as README.md says: an hour and a half or so of two cores.
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
    --mini-batch 96 --max-length 80 --after 5500u --warmup 500 --valid-freq 1000 --early-stopping 0 -o "$folder/run" $resume
# The one without attention, from pairs of at most 30 and 35 words.
mkdir -p "$folder/short"
paste "$folder/train.en" "$folder/train.fr" | awk -F'\t' -v out="$folder/short" '
    split($1, word, " ") <= 30 && split($2, word, " ") <= 35 { print $1 >(out "/train.en"); print $2 >(out "/train.fr") }'
resume=
[ ! -e "$folder/without/state.safetensors" ] || resume=--resume
"$softalign" train --preset rnnencdec --train "$folder/short/train.en" "$folder/short/train.fr" \
    --valid "$folder/dev.en" "$folder/dev.fr" --vocab-type unigram --vocab-size 8000 --joint-vocab --tied-source --tied-target \
    --dim-emb 256 --dim-rnn 384 --dim-dec 640 --dim-maxout 256 --init glorot --optimizer adam --learning-rate 0.001 --warmup 500 \
    --schedule linear --average 0.999 --loss-per-word --label-smoothing 0.1 --dropout 0.1 --dropout-emb 0.1 --mini-batch 96 \
    --max-length 80 --after 15430u --valid-freq 3000 --early-stopping 0 -o "$folder/without" $resume

# evaluated MODEL SOURCE REFERENCE OPTION...: the translation's score.
evaluated() {
    model=$1 source=$2 reference=$3
    shift 3
    "$softalign" translate -q -m "$model" -i "$source" | "$softalign" evaluate "$@" "$reference"
}
# put RUN NAME: into the box, in 8 bits, with its scores; the Lab draws those by length.
put() {
    "$softalign" quantize -m "$folder/$1/best.safetensors" -o "$here/$2.safetensors"
    evaluated "$here/$2.safetensors" "$folder/tatoeba/test.en" "$folder/tatoeba/test.fr"
    evaluated "$here/$2.safetensors" "$test_en" "$test_fr" --json --by-length "$test_en" >"$here/$2.evaluation.json"
}
put run en-fr
put without en-fr-rnnencdec
