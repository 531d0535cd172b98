#!/bin/sh
# The man page and --help name the same options and subcommands: man_options.sh PROGRAM
# Every difference is printed; exits 1 when there is one.
set -u
program=$1
page=$(dirname "$0")/../../man/softalign.1
work=$(mktemp -d "${TMPDIR:-/tmp}/man_options.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# "-o --output": the names of an option as the tables of --help give them, an option a line.
help_options() {
    sed '/^Examples:$/,$d' "$work/help" |
        sed -n 's/^ \{2,6\}\(\(-[a-z]\), \)\{0,1\}\(--[a-z0-9-]*\).*/\2 \3/p' | sed 's/^ //'
}

"$program" --help >"$work/help" || exit 1
subcommands=$(sed -n '/^Subcommands:$/,/^$/s/^  \([a-z]*\) .*/\1/p' "$work/help")
[ -n "$subcommands" ] || { echo 'no subcommands in --help'; exit 1; }
help_options >"$work/all"
for name in $subcommands; do
    "$program" "$name" --help >"$work/help" || exit 1
    help_options >>"$work/all"
    grep -qx "\.Ss $name" "$page" || { echo "$page has no section $name"; failed=1; }
done
sed -n 's/^\.Ss //p' "$page" | while read -r name; do
    case " $(echo "$subcommands" | tr '\n' ' ')" in
    *" $name "*) ;;
    *) echo "$page has a section $name, which is no subcommand"; exit 1 ;;
    esac
done || failed=1

sort -u "$work/all" >"$work/in_help"
# ".It Fl o , Fl -output Ar DIR" becomes "-o --output".
sed -n 's/^\.It Fl \([a-z]\) , Fl \(-[a-z0-9-]*\).*/-\1 -\2/p; s/^\.It Fl \(-[a-z0-9-]*\).*/-\1/p' "$page" |
    sort -u >"$work/in_page"
[ -s "$work/in_page" ] || { echo "no options in $page"; exit 1; }
comm -23 "$work/in_help" "$work/in_page" | sed 's/$/: in --help, not in the man page/' >"$work/differences"
comm -13 "$work/in_help" "$work/in_page" | sed 's/$/: in the man page, not in --help/' >>"$work/differences"
cat "$work/differences"
[ ! -s "$work/differences" ] || failed=1

exit $failed
