#!/bin/sh
# Draws what translations of six sentences looked at: draw.sh [FOLDER [MODEL]]
# Figures go to FOLDER (alignments), as .svg. Without a MODEL those of alignments.jsonl are drawn; one that was trained
# on tokenised, lower-case English and French translates sentences.en again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
softalign=${SOFTALIGN:-$here/../../build/softalign}
folder=${1:-alignments}
mkdir -p "$folder"
if [ $# -ge 2 ]; then
    "$softalign" translate --model "$2" --alignment --output-format jsonl --input "$here/sentences.en" \
        --output "$folder/alignments.jsonl"
    matrices=$folder/alignments.jsonl
else
    matrices=$here/alignments.jsonl
fi
"$softalign" heatmap --matrix "$matrices" --mark largest --output "$folder/sentence.svg"
