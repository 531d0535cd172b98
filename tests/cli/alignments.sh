#!/bin/sh
# Word alignments as files, their scores and their symmetrisation: alignments.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
program=$(realpath "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/alignments.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
failed=0

fail() {
    printf 'FAILED: %s\n' "$1"
    failed=1
}

# prints TEXT ARGUMENT...: the exact standard output, without its last line end.
prints() {
    text=$1
    shift
    "$program" "$@" >out 2>err || fail "$*: exit status $?: $(cat err)"
    [ ! -s err ] || fail "$*: wrote to standard error: $(cat err)"
    [ "$(cat out)" = "$text" ] || fail "$*: printed $(cat out), not $text"
}

# refuses STATUS PATTERN ARGUMENT...
refuses() {
    want=$1 pattern=$2
    shift 2
    "$program" "$@" >out 2>err
    status=$?
    [ "$status" -eq "$want" ] || fail "$*: exit status $status, not $want"
    grep -Eq -- "$pattern" err || fail "$*: standard error lacks /$pattern/: $(cat err)"
}

# Two sentences; words count from 1 in gold, as annotators do, and the target comes first in reverse.
printf '1-1 2p2 3-2\n1-2\n' >gold
printf '0-0 1-1\n0-1 1-1\n' >forward
printf '0-0 1-2\n1-0\n' >reverse
printf '0-0\n' >short
echo >blank
printf '0-0 2-1\n0-1\n' >reversed
printf '0-0 9-9 x-y 1-\n0-0\n' >broken
version=$("$program" --version)
version=${version#softalign }
signature="AER|nrefs:1|base:0|refbase:1|swap:no|version:softalign-$version"

prints "$signature = 28.57 (precision = 75.00 recall = 66.67 links = 4 sure = 3)" evaluate --metrics aer \
    --aer-gold-base 1 -i forward gold
prints "$signature = 25.00 (precision = 100.00 recall = 50.00 links = 2 sure = 2)
$signature = 33.33 (precision = 50.00 recall = 100.00 links = 2 sure = 1)" evaluate --metrics aer \
    --aer-gold-base 1 --sentence -i forward gold
"$program" evaluate --metrics aer --aer-gold-base 1 --json -i forward gold | grep -q '"precision": 75.0' ||
    fail 'no precision in JSON'
prints '0.00' evaluate --metrics aer --aer-swap --score-only -i reverse reversed
"$program" evaluate --metrics aer --aer-gold-base 1 --confidence -i forward gold | grep -q ' = 28.57 (μ = ' ||
    fail 'no confidence interval of AER'

refuses 1 "^softalign: broken:1: 'x-y': a link is written" evaluate --metrics aer -i broken gold
refuses 1 "^softalign: broken:1: 'x-y'" evaluate --metrics aer -i forward broken
refuses 1 "^softalign: forward:1: '0-0': .*count from 1" evaluate --metrics aer --aer-base 1 -i forward gold
refuses 2 'not together' evaluate --metrics aer,bleu -i forward gold
refuses 1 'gold has 2 lines, but short has 1' evaluate --metrics aer -i short gold

prints '0-0
0-1' symmetrize --swap-reverse --method intersection forward reverse
prints '0-0 1-1 2-1
0-1 1-1' symmetrize --swap-reverse --method union forward reverse
prints '0-0 1-1 1-2
1-0 1-1' symmetrize --swap-reverse --method union --swap forward reverse
prints '0-0:1.000000 1-1:0.500000 2-1:0.500000
0-1:1.000000 1-1:0.500000' symmetrize --swap-reverse --scores forward reverse
prints '' symmetrize blank blank
refuses 1 "^softalign: broken:1: 'x-y'" symmetrize forward broken
refuses 1 'short has 1 lines, forward has more' symmetrize forward short
refuses 1 'short has 1 lines, forward has more' symmetrize short forward
refuses 2 'two files' symmetrize forward
refuses 2 'both' symmetrize - -
exit "$failed"
