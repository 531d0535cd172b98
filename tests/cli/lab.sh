#!/bin/sh
# The page of softalign serve, in a browser: lab.sh PROGRAM
# Skipped where the page was left out of the build, or where there is no Chromium.
# shellcheck source=lib/run.sh
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"

pages=$(cd "$lib/../../../lab" && pwd)
browser=$(command -v chromium) && [ -d "$pages/node_modules/playwright-core" ] || exit 77

: >in
write_text 120
train 0 '' -q --train src tgt --valid src tgt -o with --after 12e --valid-freq 1000
run 0 '' train -q --preset rnnencdec --vocab-type word --vocab-size 100 --dim-emb 24 --dim-rnn 32 --dim-dec 32 --dim-maxout 24 \
    --optimizer adam --learning-rate 0.01 --mini-batch 16 --threads 1 --train src tgt --valid src tgt -o without --after 20e \
    --valid-freq 1000
run 0 '' train -q --preset transformer-small --vocab-type word --vocab-size 100 --layers 1 --dim-emb 16 --heads 2 --dim-ffn 32 \
    --threads 1 --train src tgt --valid src tgt -o heads --after 4e --valid-freq 1000
for name in with without; do
    "$program" translate -m "$name/best.safetensors" -q <src >out
    "$program" evaluate --json --by-length src tgt <out >"$name/best.evaluation.json" || fail "no evaluation of $name"
done

"$program" serve -q -m "en-fr=with/best.safetensors" -m "en-fr=without/best.safetensors" \
    -m "en-fr=heads/best.safetensors" --port 0 >address 2>log &
server=$!
trap 'kill $server; rm -rf "$work"' EXIT
wait_for test -s address || fail 'the server does not say where it listens'

node "$pages/test/lab.mjs" "$(head -n 1 address)" "$browser" "$(sed -n 2p src)"
status=$?
[ $status -ne 77 ] || exit 77
[ $status -eq 0 ] || fail 'the page'
exit $failed
