#!/bin/sh
# make demo: what the model in the box can do, then from nothing to a translator of English into French of one's own, in
# about five minutes on two cores.
# All it makes is below demo/. A second call goes on where the first one stopped, and skips what is done.
set -eu
cd "$(dirname "$0")/.."
softalign=build/softalign
text=demo/text
run=demo/run
shown=12 # translations
sentence='The selected text is displayed in the upper right corner.'

step() {
    printf '\n== %s\n\n' "$1"
}

# show COMMAND...: prints it the way it could be typed, then runs it
show() {
    line='$'
    for word in "$@"; do
        case ${#line}:$word in
        [89]?:-* | ???:-*)
            printf '%s \\\n' "$line"
            line='   '
            ;;
        *' '*) word="'$word'" ;;
        esac
        line="$line $word"
    done
    printf '%s\n' "$line"
    "$@"
}

# Smaller than the preset, less dropout and larger steps: what four minutes can fill.
train() {
    show $softalign train --preset small --train $text/train.en $text/train.fr --valid $text/valid.en $text/valid.fr \
        --vocab-size 4000 --dim-emb 192 --dim-rnn 192 --dim-dec 256 --dim-att 192 --dim-maxout 192 \
        --dropout 0.2 --dropout-emb 0.1 --learning-rate 0.003 --after 4m --output $run "$@"
}

mkdir -p demo
[ -x $softalign ] || { echo "demo.sh: $softalign is not there; 'make demo' builds it first" >&2; exit 1; }

step 'The model in the box (models/README.md), at once'
echo 'The committee adopted the common agricultural policy.' >demo/box.en
show $softalign translate --model models/en-fr.safetensors --input demo/box.en
show $softalign heatmap --model models/en-fr.safetensors --subwords "$(cat demo/box.en)"

step 'Text: English and French help pages of LibreOffice (5 MB from a Debian mirror), cut into pairs of sentences'
show env HELP_PAIRS=build/examples/help_pairs examples/debian/get-text.sh $text 12

if [ -e $run/finished ] && [ -e $run/best.safetensors ]; then
    step "Training: $run holds a finished run; remove it to train again"
else
    step 'Training: four minutes (Ctrl-C stops, and the next call goes on from there)'
    if [ -e $run/state.safetensors ]; then
        train --resume
    else
        train --overwrite
    fi
    touch $run/finished
fi

step 'Translating the test pages, which training has never seen, with beam search'
show $softalign translate --model $run/best.safetensors --input $text/test.en --output demo/test.out

echo
echo "Some of them, taken at even distances:"
lines=$(wc -l <demo/test.out)
paste $text/test.en demo/test.out $text/test.fr | awk -F '\t' -v every="$((lines / shown))" -v most=$shown '
NR % every == int(every / 2) && n++ < most {
    printf "\n  English      %s\n  translation  %s\n  reference    %s\n", $1, $2, $3
}'

step "BLEU of all $lines translations, from 0 to 100"
show $softalign evaluate --input demo/test.out $text/test.fr

step 'What one translation looked at: a row for each word written, dark where it looked'
show $softalign heatmap --model $run/best.safetensors --subwords "$sentence"
