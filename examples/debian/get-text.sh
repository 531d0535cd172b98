#!/bin/sh
# get-text.sh OUTDIR [MAX_WORDS]
#
# Real English-French text from any Debian mirror: the help pages of LibreOffice. Two packages (5 MB) are downloaded
# with apt-get, unpacked and paired by help_pairs; nothing is installed and root is not needed. Writes
# {train,valid,test}.{en,fr} into OUTDIR, pairs of 3 to MAX_WORDS (12) words a side, and origin.txt, which says where
# they are from. Does nothing when OUTDIR holds them already.
#
# HELP_PAIRS  the program, if built already; otherwise CC (cc) compiles it
set -eu

packages="libreoffice-help-en-us libreoffice-help-fr"
files="train.en train.fr valid.en valid.fr test.en test.fr"
min_words=3
here=$(cd "$(dirname "$0")" && pwd)

fail() {
    echo "get-text.sh: $*" >&2
    exit 1
}

need() {
    command -v "$1" >/dev/null 2>&1 || fail "$1 is not here: $2"
}

finished() {
    [ "$(sed 1q "$out/origin.txt" 2>/dev/null)" = "$title" ] || return 1
    for file in $files; do
        [ -s "$out/$file" ] || return 1
    done
}

# shellcheck disable=SC2317 # called by the trap
clean_up() {
    [ -z "$work" ] || rm -rf "$work"
    [ -z "$created" ] || rmdir "$out" 2>/dev/null || :
}

# download [APT-GET OPTION...]; what apt-get says goes to apt.log
download() (
    cd "$work/packages"
    # shellcheck disable=SC2086 # a list of names
    apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=1 -o Acquire::http::Timeout=20 "$@" \
        download $packages >>"$work/apt.log" 2>&1
)

# With package lists of our own: the machine has none, or they are too old, or not for us to read.
download_with_own_lists() {
    apt=$work/apt
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    set -- -o "Dir::State=$apt" -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" \
        -o Acquire::Languages=none
    apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=1 -o Acquire::http::Timeout=20 "$@" \
        update >>"$work/apt.log" 2>&1 || : # one broken source of several does no harm
    download "$@"
}

get_packages() {
    mkdir "$work/packages"
    download || download_with_own_lists || {
        grep '^[EW]:' "$work/apt.log" | tail -n 4 >&2 || :
        fail "could not download $packages: is the network up, and does apt know a Debian mirror?"
    }
    for package in "$work"/packages/*.deb; do
        dpkg-deb -x "$package" "$work/tree" || fail "$package cannot be unpacked: is the disk full?"
    done
}

build_help_pairs() {
    need "${CC:-cc}" "install a C compiler (package gcc), or set CC"
    root=$here/../..
    "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O2 -I"$root/include" -I"$root/src" -o "$work/help_pairs" \
        "$here/help_pairs.c" "$here/html_blocks.c" "$here/pair_filter.c" "$root/src/base/hash.c" \
        "$root/src/base/strbuf.c" || fail "help_pairs.c does not compile"
}

describe_origin() {
    echo "$title"
    for package in "$work"/packages/*.deb; do
        # shellcheck disable=SC2016 # dpkg-deb's own fields
        dpkg-deb -W --showformat='Debian package ${Package} ${Version}\n' "$package"
    done
    echo "Copyright Oracle and LibreOffice contributors. Licence: Mozilla Public License 2.0."
}

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: get-text.sh OUTDIR [MAX_WORDS]" >&2
    exit 2
fi
max_words=${2:-12}
case $max_words in
*[!0-9]* | '' | 0) fail "MAX_WORDS is a whole number, not '$max_words'" ;;
esac
title="LibreOffice help, English and French, pairs of $min_words to $max_words words"
out=$1
work=
created=
if finished; then
    echo "get-text.sh: $out is ready"
    exit 0
fi

need apt-get "this needs Debian or a relative of it"
need dpkg-deb "this needs Debian or a relative of it"
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
[ -d "$out" ] || created=yes
mkdir -p "$out" || fail "$out cannot be made"
out=$(cd "$out" && pwd)
work=$(mktemp -d "$out/.unfinished.XXXXXX") || fail "$out cannot be written to"

[ -n "${HELP_PAIRS:-}" ] || build_help_pairs
get_packages
help=$work/tree/usr/share/libreoffice/help
mkdir "$work/text"
"${HELP_PAIRS:-$work/help_pairs}" --min-words "$min_words" --max-words "$max_words" "$help/en-US" "$help/fr" \
    "$work/text" || fail "the help pages could not be paired"
describe_origin >"$work/text/origin.txt"

# origin.txt goes first and comes last: without it the folder is unfinished.
rm -f "$out/origin.txt"
for file in $files origin.txt; do
    mv "$work/text/$file" "$out/$file"
done
