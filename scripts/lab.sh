#!/bin/sh
# The page that `softalign serve` shows, built with Node (18 or later) and npm's packages:
#   lab.sh prepare                    installs the packages of lab/package-lock.json into lab/node_modules
#   lab.sh build OUTPUT DEPFILE DIR   builds the page in DIR, holds it to its budget, and writes it as a table of C
#   lab.sh check                      checks types and format
#   lab.sh serve PROGRAM              shows it on the models that are there, until it is stopped
set -eu
program=$(realpath "${2:-.}")
output=${2:-} depfile=${3:-} folder=${4:-}
target=$output # as ninja knows it
case $output in [!/]*) output=$PWD/$output depfile=$PWD/$depfile folder=$PWD/$folder ;; esac
cd "$(dirname "$0")/../lab"

# All that a visitor loads, compressed.
budget=300000

fail() {
    echo "$1" >&2
    exit 1
}

prepare() {
    major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
    [ "$major" -ge 18 ] || fail "Node is of version $major, 18 is needed"
    # npm writes this file last: what it lists is what the lock asks for.
    stamp=node_modules/.softalign-lock
    ! cmp -s package-lock.json $stamp || exit 0
    timeout 300 npm ci --no-audit --no-fund --fetch-retries=1 --fetch-timeout=20000 >/dev/null 2>&1 ||
        fail 'npm could not install its packages (no network?)'
    cp package-lock.json $stamp
}

build() {
    node_modules/.bin/vite build --logLevel warn --outDir "$folder/dist" --emptyOutDir
    size=$(find "$folder/dist" -type f -exec sh -c 'for f; do gzip -9c "$f"; done' sh {} + | wc -c)
    [ "$size" -le $budget ] || fail "the page has $size bytes, compressed; $budget are allowed"
    printf '%s: %s\n' "$target" "$(find "$PWD/src" "$PWD/data" "$PWD"/*.ts "$PWD"/*.json -type f | sort | tr '\n' ' ')" >"$depfile"
    ../scripts/embed.py "$output" serve_page "/=$folder/dist/index.html" \
        "/assets/=$folder/dist/assets"
}

# The model in the box, or what `make demo` trained; and one without attention beside it, for the room of the bottleneck.
serve() {
    cd ..
    set -- "$1"
    for model in models/en-fr.safetensors demo/run/best.safetensors; do
        [ ! -e $model ] || { set -- "$1" -m "en-fr=$model"; break; }
    done
    [ $# -gt 1 ] || fail "there is no model to show: 'make demo' trains one in four minutes"
    for model in models/en-fr-rnnencdec.safetensors demo/without/best.safetensors; do
        [ ! -e $model ] || { set -- "$@" -m "en-fr=$model"; break; }
    done
    program=$1
    shift
    # In 32 bits, for the gradients that some rooms show.
    exec "$program" serve --precision f32 "$@"
}

case ${1:-} in
prepare) prepare ;;
build) build ;;
check) node_modules/.bin/tsc --noEmit && node_modules/.bin/prettier --check --log-level warn . ;;
serve) serve "$program" ;;
*) fail 'lab.sh: prepare, build, check or serve?' ;;
esac
