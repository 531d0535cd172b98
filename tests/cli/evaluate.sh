#!/bin/sh
# BLEU from the command line: evaluate.sh PROGRAM
# Expected scores are those of sacreBLEU 2.6.0. Every failed check is printed; exits 1 when there is one.
set -u
program=$(realpath "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/evaluate.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
failed=0

cat >hyp <<'END'
The old clock strikes twelve, and nobody stirs.
Two boats left the harbour at 5.30 a.m.
She reads.
END
cat >ref1 <<'END'
The old clock struck twelve and no one stirs.
Two boats left harbour at 5.30 a.m.
She is reading a book.
END
cat >ref2 <<'END'
At twelve, the old clock strikes and nobody moves.
At 5.30 a.m. two boats left the harbour.
She reads a lot of books.
END
version=$("$program" --version)
version=${version#softalign }

fail() {
    printf 'FAILED: %s\n' "$1"
    failed=1
}

# check STATUS STDERR-PATTERN ARGUMENT...: runs evaluate on ./hyp; an empty pattern: standard error must be empty.
check() {
    want=$1 pattern=$2
    shift 2
    "$program" evaluate "$@" <hyp >out 2>err
    status=$?
    [ "$status" -eq "$want" ] || fail "$*: exit status $status, not $want"
    if [ -z "$pattern" ]; then
        [ ! -s err ] || fail "$*: wrote to standard error: $(cat err)"
    else
        grep -Eq -- "$pattern" err || fail "$*: standard error lacks /$pattern/: $(cat err)"
    fi
}

# prints TEXT ARGUMENT...: the exact standard output, without its last line end.
prints() {
    text=$1
    shift
    check 0 '' "$@"
    [ "$(cat out)" = "$text" ] || fail "$*: printed $(cat out), not $text"
}

prints "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:softalign-$version = 41.90 79.2/52.4/38.9/26.7\
 (BP = 0.920 ratio = 0.923 hyp_len = 24 ref_len = 26)" ref1
prints "BLEU|nrefs:2|case:lc|eff:no|tok:13a|smooth:exp|version:softalign-$version = 62.3 100.0/81.0/55.6/46.7\
 (BP = 0.920 ratio = 0.923 hyp_len = 24 ref_len = 26)" --lowercase --width 1 ref1 ref2
prints 70.58 -b --tokenize char ref1
prints 27.5586 -b -w 4 --tokenize none ref1
prints 21.41 -b --smooth-method floor --smooth-value 0.3 --max-order 8 ref1
prints 57.25 -b -i hyp ref1 ref2
prints 41.19 -b --input ref1 -

# One line a sentence, each with the effective order.
prints '21.36
70.17
12.75' --sentence -b ref1
check 0 '' --sentence ref1
[ "$(grep -c '^BLEU|nrefs:1|case:mixed|eff:yes|' out)" -eq 3 ] || fail "--sentence: $(cat out)"

head -n 2 ref1 >short
check 1 '^softalign: short has 2 lines, but standard input has 3;' ref2 short
[ ! -s out ] || fail "a short reference: wrote to standard output"
check 1 'nowhere: ' nowhere
check 1 'is empty: there is nothing to score' -i /dev/null /dev/null
check 2 'a file is missing'
check 2 'standard input can be one text only' -
check 2 '--smooth-value goes with' --smooth-value 1 ref1
check 2 '--smooth-value' --smooth-method floor --smooth-value -1 ref1
check 2 '--max-order' --max-order 9 ref1
check 2 'it must be 13a, intl, char or none' --tokenize 14a ref1

# Texts that the tokenizer is not made for.
i=0
while [ $i -lt 100 ]; do
    echo 'It rains .'
    i=$((i + 1))
done >tokenised
check 0 'tokenised looks tokenised: 100 lines' -i tokenised tokenised
check 0 '' -q -i tokenised tokenised
check 0 '' --tokenize none -i tokenised tokenised
head -n 99 tokenised >fewer
check 0 '' -i fewer fewer
echo '小さな猫が眠っている。' >cjk
check 0 'cjk is mostly in a script without blanks between words' -i cjk cjk
check 0 '' --tokenize char -i cjk cjk
printf 'caf\351\n' >latin1
check 0 '^softalign: latin1:1:4: not UTF-8 text' -i latin1 latin1
check 1 'latin1' --strict -i latin1 latin1
exit $failed
