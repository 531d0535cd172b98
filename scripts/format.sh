#!/bin/sh
# Formats all C and C++ sources in place; format.sh --check only fails when one would change.
# Releases of clang-format differ in their taste: the project's is 14.
set -eu
cd "$(dirname "$0")/.."
format=$(command -v clang-format-14 || command -v clang-format) || {
    echo "softalign: clang-format-14 is missing; on Debian: apt-get install clang-format-14" >&2
    exit 1
}
if [ "${1:-}" = --check ]; then
    set -- --dry-run -Werror --ferror-limit=1
else
    set -- -i
fi
find include src cli tests bench examples -name '*.[ch]' -o -name '*.cc' | sort | xargs "$format" "$@"
