#!/bin/sh
# How the server fares under many clients: serve.sh SOFTALIGN HTTP_CLIENT MODEL TEXT [CLIENTS [REQUESTS]]
#   meson setup build && ninja -C build softalign tests/http_client
#   bench/serve.sh build/softalign build/tests/http_client run/best.safetensors test.en
# 200 clients send 50 requests each, a line of TEXT in each, and compare the answers with those of `softalign translate`;
# then one client alone. Prints errors, seconds of a request (p50, p99), sizes of batches, and words a second, beside those
# of `softalign bench translate` on the same text. Exit status 1 where an answer failed or differed.
set -eu
softalign=$(realpath "$1") client=$(realpath "$2") model=$(realpath "$3") text=$(realpath "$4")
clients=${5:-200} requests=${6:-50}
work=$(mktemp -d)
pid=
# shellcheck disable=SC2317
clean() {
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || :
    rm -rf "$work"
}
trap clean EXIT
cd "$work"

grep . "$text" >in
"$softalign" translate -m "$model" -q <in >out
"$softalign" serve -m "$model" --port 0 -q >url &
pid=$!
until [ -s url ] && "$client" "$(cat url)" request GET /health </dev/null | head -n 1 | grep -qx 200; do
    kill -0 $pid
    sleep 0.1
done
url=$(cat url)

# Symbols that the server has written, as `bench translate` counts words.
written() {
    "$client" "$url" request GET /metrics </dev/null | sed -n 's/^softalign_words_total //p'
}

failed=0
# measure CLIENTS REQUESTS
measure() {
    echo "$1 clients, $2 requests each"
    before=$(written)
    "$client" "$url" storm "$1" "$2" in out >storm || failed=1
    cat storm
    awk -v words="$(($(written) - before))" '/requests of/ { for (i = 1; i <= NF; i++) if ($i == "in") s = $(i + 1) }
        END { printf "%.1f symbols/s\n\n", words / s }' storm
}
measure "$clients" "$requests"
"$client" "$url" request GET /metrics </dev/null | sed -n '/^softalign_batch_size/p'
echo
measure 1 50
kill $pid
wait $pid
pid=
"$softalign" bench translate --model "$model" --source in --sentences 1000 --beam-size 5 --mini-batch 32,64 \
    --precision stored --threads "$(nproc)"
exit $failed
