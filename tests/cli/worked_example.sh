#!/bin/sh
# The worked example's program says what docs/learn/worked-example.md and the Lab's data say: worked_example.sh PROGRAM
# Numbers may differ by one in the last decimal, which processors round differently.
set -u
program=$1
root=$(dirname "$0")/../..
work=$(mktemp -d "${TMPDIR:-/tmp}/worked_example.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# same FILE FILE TOLERANCE: equal but for numbers, which are as near as that. Says where they part.
same() {
    awk -v other="$2" -v tolerance="$3" '
    {
        if ((getline line <other) <= 0) { print FILENAME ": longer than " other; exit failed = 1 }
        n = split($0, a, /[^-0-9.e]+/)
        m = split(line, b, /[^-0-9.e]+/)
        for (i = 1; i <= n || i <= m; i++) {
            d = a[i] - b[i]
            if (d > tolerance || d < -tolerance) m = -1
        }
        gsub(/ *-?[0-9][-0-9.e]*/, "#")
        gsub(/ *-?[0-9][-0-9.e]*/, "#", line)
        if (n != m || $0 != line) { printf "%s:%d: is not what %s has\n", FILENAME, FNR, other; exit failed = 1 }
    }
    END { if (!failed && (getline line <other) > 0) { print other ": longer than " FILENAME; exit 1 } exit failed }
    ' "$1"
}

"$program" >"$work/text" && "$program" json >"$work/json" && "$program" update-first >"$work/update" || failed=1
sed -n '/^```text$/,/^```$/p' "$root/docs/learn/worked-example.md" | grep -v '^```' >"$work/page"
grep -v '^$' "$work/text" >"$work/numbers"
grep -v '^$' "$work/page" >"$work/page_numbers"
same "$work/page_numbers" "$work/numbers" 0.000101 || failed=1
same "$root/lab/data/worked-example.json" "$work/json" 0.0000101 || failed=1

# The page that shows the attention in C shows the file itself.
sed -n '/^```c$/,/^```$/p' "$root/docs/learn/attend.md" | grep -v '^```' | cmp - "$root/docs/learn/attend.c" || failed=1

# The comparison finds a wrong digit, and a missing line.
sed '0,/0\.9241/s//0.9251/' "$work/numbers" >"$work/wrong"
same "$work/wrong" "$work/numbers" 0.000101 >"$work/says" && { echo 'a wrong digit was not found'; failed=1; }
sed '$d' "$work/numbers" >"$work/short"
same "$work/short" "$work/numbers" 0.000101 >"$work/says" && { echo 'a missing line was not found'; failed=1; }
"$program" nonsense 2>"$work/says"
[ $? -eq 2 ] || { echo 'nonsense is taken for an order'; failed=1; }

exit $failed
