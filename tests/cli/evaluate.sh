#!/bin/sh
# Scores from the command line: evaluate.sh PROGRAM
# Expected scores are those of sacreBLEU 2.6.0 and its definitions. Every failed check is printed; exits 1 when there is one.
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

# Other metrics, in the order asked for.
prints "TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:softalign-$version = 42.86
chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:softalign-$version = 62.15
chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:softalign-$version = 63.58" -m ter,chrf++,chrf ref1
prints "68.288508	36.363636" -b -w 6 --metrics chrf,ter ref1 ref2
prints 63.3292 -b -w 4 -m chrf --chrf-beta 3 ref1
prints 71.8472 -b -w 4 -m chrf --chrf-char-order 4 --chrf-word-order 1 ref1
prints 67.6109 -b -w 4 -m chrf --chrf-whitespace ref1
prints 62.1480 -b -w 4 -m chrf++ --chrf-eps-smoothing ref1
prints 34.62 -b -m ter --ter-normalized ref1
prints 38.10 -b -m ter --ter-no-punct ref1
prints 36.36 -b -m ter --ter-normalized --ter-no-punct --ter-asian-support ref1
prints 43.48 -b -m ter ref2
prints 60.87 -b -m ter --ter-case-sensitive ref2

# A row a sentence, a column a metric; systems one after the other.
prints '58.88	44.44
89.14	14.29
19.28	80.00' --sentence -b -m chrf++,ter ref1
prints "hyp:TER	ref2:TER
44.44	77.78
14.29	42.86
80.00	100.00" --sentence -m ter ref1 -s hyp ref2
check 0 '' --sentence -m chrf,ter ref1
[ "$(grep -c '^chrF2|' out)" -eq 3 ] && [ "$(grep -c '^TER|' out)" -eq 3 ] || fail "--sentence -m: $(cat out)"

# Several systems, and what resampling says of them: the draws are those of sacreBLEU.
prints "41.90	63.58
19.38	53.01" -b -m bleu,chrf ref1 -s hyp ref2
check 0 '' -m bleu,chrf ref1 -s hyp ref2
cat >expected <<END
system   BLEU  chrF2
hyp     41.90  63.58
ref2    19.38  53.01

BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:softalign-$version
chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:softalign-$version
END
cmp -s expected out || fail "a table of systems: $(cat out)"
check 0 '' -w 1 -m chrf --paired bootstrap --samples 50 ref1 -s hyp ref2 --confidence
cat >expected <<END
system                     chrF2
hyp     63.6 ± 22.8     baseline
ref2    53.0 ± 15.7 * p = 0.0196

chrF2|nrefs:1|bs:50|seed:12345|case:mixed|eff:yes|nc:6|nw:0|space:no|version:softalign-$version
±: half of the 95% confidence interval, by bootstrap resampling
p: of a difference to the baseline as large as this between systems that are equally good, by paired bootstrap; *: \
below 0.05
END
cmp -s expected out || fail "a table with p-values: $(cat out)"
check 0 '' --paired randomization --seed 5 ref1 -s hyp ref2
grep -q '^BLEU|nrefs:1|ar:10000|seed:5|case:' out || fail "--paired randomization: $(cat out)"
check 0 '' --confidence ref1
grep -Eq '^BLEU\|nrefs:1\|bs:1000\|seed:12345\|case:.* = 41\.90 \(μ = [0-9.]+ ± [0-9.]+\) 79\.2/' out ||
    fail "--confidence: $(cat out)"

# JSON has all numbers in full.
check 0 '' --json -m bleu,ter --confidence --paired bootstrap ref1 ref2 -s hyp ref1
tr -d ' \n' <out >flat
has() {
    grep -Eq "$1" flat || fail "--json lacks $1: $(cat out)"
}
has '^\{"references":\["ref1","ref2"\],"lines":3,"systems":\[\{"system":"hyp","scores":\[\{"metric":"BLEU",'
has '"signature":"nrefs:2\|bs:1000\|seed:12345\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:softalign-'
has '"score":57\.24898[0-9]+,"precisions":\[100\.0,80\.95[0-9]+,55\.55[0-9]+,33\.33[0-9]+\],"correct":\[24,17,10,5\],'
has '"total":\[24,21,18,15\],"brevity_penalty":0\.92[0-9]+,"hypothesis_length":24,"reference_length":26,'
has '"confidence":\{"mean":[0-9.]+,"half_width":[0-9.]+\}\},\{"metric":"TER",'
has '"score":36\.36[0-9]+,"edits":8\.0,"reference_length":22\.0,"confidence":\{[^}]*\}\}\]\},\{"system":"ref1",'
has '"score":0\.0,"edits":0\.0,"reference_length":22\.0,"confidence":\{[^}]*\},"p_value":0\.00099900[0-9]*\}'
has '\],"paired_test":"bootstrap"\}$'
check 0 '' --json --sentence -m ter ref1
tr -d ' \n' <out >flat
has 'version:softalign-[0-9.]+","sentences":\[44\.44[0-9]*,14\.28[0-9]*,80\.0\]\}\]\}\]\}$'

head -n 2 ref1 >short
# By the length of the source: the groups' scores are those of their lines alone.
printf 'a b c\n\nd e f g\n' >source
check 0 '' --by-length source --length-step 3 ref1 -s hyp ref2
cat >expected <<'END'

      words   lines         hyp:BLEU        ref2:BLEU
          0       1            70.17            37.70
        1-3       1            21.36             9.43
        4-6       1             0.00             8.64
END
tail -n 5 out | cmp -s - expected || fail "--by-length: $(cat out)"
head -n 1 ref1 >ref1.line
for name in hyp ref2; do
    head -n 1 $name >line
    check 0 '' -b -i line ref1.line
    grep -q "^        1-3 .* $(cat out)" expected || fail "--by-length: no score $(cat out) of $name"
done
check 0 '' --json --confidence --by-length source ref1
tr -d ' \n' <out >flat
has '"by_length":\[\{"first":0,"last":0,"lines":1,"mean_words":0\.0,"score":[0-9.]+,"confidence":\{[^}]*\}\},\{"first":1,"last":10,"lines":2,"mean_words":3\.5,'
check 2 '--by-length is about groups' --by-length source --sentence ref1
check 2 '--by-length is about groups' --by-length source -b ref1
check 2 'standard input can be one text only' --by-length - ref1
check 1 '^softalign: short has 2 lines' --by-length short ref1
check 1 'nowhere: ' --by-length nowhere ref1

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
for list in bleu,rouge bleu,bleu bleu, ''; do
    check 2 'is not a list of bleu, chrf, chrf\+\+ and ter, each once' -m "$list" ref1
done
check 2 'option --chrf-beta' --chrf-beta 101 ref1
check 2 'those behind --systems are systems' -s hyp ref1
check 2 'not both' -i hyp ref1 -s ref2
check 2 'give two at least' --paired bootstrap ref1 -s hyp
check 2 'give two at least' --paired bootstrap ref1
check 2 'not with --sentence' --sentence --confidence ref1
check 2 '--score-only leaves out' -b --confidence ref1
check 2 'standard input can be one text only' ref1 -s - -
check 1 '^softalign: short has 2 lines, but hyp has 3;' ref1 -s hyp short

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
printf '\357\273\277She reads.\n' >marked
echo 'She reads.' >unmarked
check 0 '^softalign: marked begins with a byte order mark' -m chrf -i marked unmarked
grep -q '= 100.00' out && fail 'a byte order mark was not scored'
exit $failed
