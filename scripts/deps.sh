#!/bin/sh
# Sees to it that what a build needs is installed: deps.sh [ci]
# Missing Debian packages are installed by root, or through sudo where it asks for no password. Anyone else gets
# the line to run, and exit status 1.
set -eu

# Debian package, and how to tell that it is there: a command, a header that the compiler finds, or a module that
# pkg-config finds.
needed='
gcc                   command cc
g++                   command c++
meson                 command meson
ninja-build           command ninja
pkg-config            command pkg-config
libdnnl-dev           header  dnnl.h
libsentencepiece-dev  header  sentencepiece_processor.h
libjansson-dev        header  jansson.h
zlib1g-dev            header  zlib.h
libpng-dev            header  png.h
libjpeg62-turbo-dev   module  libjpeg
libcairo2-dev         module  cairo-pdf
libpango1.0-dev       module  pangocairo
libmicrohttpd-dev     module  libmicrohttpd
libcmocka-dev         header  cmocka.h
'
needed_ci='
clang                 command clang
clang-format-14       command clang-format-14
libopenmpi-dev        module  ompi-c
openmpi-bin           command mpirun
'

has_header() {
    printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | cc -E -x c - >/dev/null 2>&1
}

list_missing() {
    while read -r package kind name; do
        case $kind in
        command) command -v "$name" >/dev/null || printf ' %s' "$package" ;;
        header) has_header "$name" || printf ' %s' "$package" ;;
        module) pkg-config --exists "$name" 2>/dev/null || printf ' %s' "$package" ;;
        esac
    done <<END
$1
END
}

[ "${1:-}" != ci ] || needed="$needed$needed_ci"
missing=$(list_missing "$needed")
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "softalign: please install what your system calls these Debian packages:$missing" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root='sudo -n'
else
    echo "sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing"
    exit 1
fi

apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@"
}
install_missing() {
    # shellcheck disable=SC2086 # a list of words
    apt install -y --no-install-recommends $missing
}
echo "softalign: installing$missing" >&2
# The package lists of a fresh machine are empty, those of an old one name files that are gone.
install_missing >/dev/null 2>&1 || { apt update >&2 && install_missing >&2; }

missing=$(list_missing "$needed")
[ -z "$missing" ] || { echo "softalign: installed, but still not found:$missing" >&2; exit 1; }
