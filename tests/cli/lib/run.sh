# For the tests of the program: sourced with the program's path as $1. Leaves the shell in an empty folder of its own,
# which goes with the test, and $lib as the name of this one; a test ends with `exit $failed`.
program=$(realpath "$1")
lib=$(cd "$(dirname "$0")/lib" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/softalign.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
failed=0

fail() {
    printf 'FAILED: %s\n' "$1"
    failed=1
}

# run STATUS STDERR-PATTERN ARGUMENT...: stdin from ./in; an empty pattern: standard error must be empty. A failure
# writes nothing to standard output.
run() {
    want=$1 pattern=$2
    shift 2
    "$program" "$@" <in >out 2>err
    status=$?
    [ "$status" -eq "$want" ] || fail "$*: exit status $status, not $want: $(cat err)"
    [ "$status" -eq 0 ] || [ ! -s out ] || fail "$*: failed, and wrote $(head -n 1 out)"
    if [ -z "$pattern" ]; then
        [ ! -s err ] || fail "$*: wrote to standard error: $(cat err)"
    else
        grep -Eq -- "$pattern" err || fail "$*: standard error lacks /$pattern/: $(cat err)"
    fi
}
