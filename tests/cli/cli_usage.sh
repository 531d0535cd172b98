#!/bin/sh
# What the program says when it is asked for help or used wrongly: cli_usage.sh PROGRAM
# Needs no model. Every failed check is printed; exits 1 when there is one.
set -u
program=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/cli_usage.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
subcommands='train translate score heatmap plot sheet evaluate inspect'
failed=0

fail() {
    printf 'FAILED: %s\n' "$1"
    failed=1
}

# check STATUS STDERR-PATTERN ARGUMENT...: standard output must be empty. An empty pattern: standard error too.
check() {
    want=$1 pattern=$2
    shift 2
    "$program" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    [ "$status" -eq "$want" ] || fail "$*: exit status $status, not $want"
    [ ! -s "$work/out" ] || fail "$*: wrote to standard output: $(head -n 1 "$work/out")"
    if [ -z "$pattern" ]; then
        [ ! -s "$work/err" ] || fail "$*: wrote to standard error: $(head -n 1 "$work/err")"
    else
        grep -Eq -- "$pattern" "$work/err" || fail "$*: standard error lacks /$pattern/: $(cat "$work/err")"
    fi
}

# usage PATTERN SUBCOMMAND ARGUMENT...: a message that starts with the program's name, and where to find help.
usage() {
    pattern=$1
    shift
    check 2 "^softalign: .*$pattern" "$@"
    grep -Fqx "Try 'softalign $1 --help'." "$work/err" || fail "$*: does not say where to find help"
}

# ---- help and version

cat >"$work/expected" <<'END'
Usage: softalign SUBCOMMAND [OPTION]...
       softalign --help | --version

Trains attentional translation models, translates with them, and shows what they
looked at. Data go to standard output, all else to standard error.

Subcommands:
END
for argument in --help -h; do
    "$program" "$argument" >"$work/out" 2>"$work/err" || fail "$argument: exit status $?"
    [ ! -s "$work/err" ] || fail "$argument: wrote to standard error"
    head -n 7 "$work/out" | cmp -s - "$work/expected" || fail "$argument: does not start as expected"
    for name in $subcommands; do
        [ "$(grep -c "^  $name  *[a-z]" "$work/out")" -eq 1 ] || fail "$argument: $name is not listed once"
    done
done

"$program" --version >"$work/out" 2>"$work/err" || fail "--version: exit status $?"
[ ! -s "$work/err" ] || fail '--version: wrote to standard error'
[ "$(wc -l <"$work/out")" -eq 1 ] || fail "--version: not one line"
grep -Eqx 'softalign [0-9]+\.[0-9]+\.[0-9]+' "$work/out" || fail "--version: wrote $(cat "$work/out")"

for name in $subcommands; do
    "$program" "$name" --help >"$work/out" 2>"$work/err" || fail "$name --help: exit status $?"
    [ ! -s "$work/err" ] || fail "$name --help: wrote to standard error"
    head -n 1 "$work/out" | grep -q "^Usage: softalign $name " || fail "$name --help: no line of usage"
    grep -q '^Examples:$' "$work/out" || fail "$name --help: no examples"
    sed '/^Examples:$/,$d' "$work/out" |
        sed -n 's/^ \{2,6\}\(-[a-z], \)\{0,1\}\(--[a-z0-9-]*\).*/\2/p' | sort >"$work/options"
    uniq -d "$work/options" >"$work/twice"
    [ ! -s "$work/twice" ] || fail "$name --help: listed twice: $(tr '\n' ' ' <"$work/twice")"
    grep -qx -- --help "$work/options" || fail "$name --help: --help is not listed"
    [ "$(wc -l <"$work/options")" -gt 2 ] || fail "$name --help: lists no options"
    sed '/^Examples:$/,$d' "$work/out" | awk 'length($0) > 80 { exit 1 }' ||
        fail "$name --help: a line is longer than 80 columns"
    "$program" "$name" --xyzzy --help >"$work/again" 2>&1 || fail "$name --xyzzy --help: exit status $?"
    cmp -s "$work/out" "$work/again" || fail "$name --xyzzy --help: not the help"
done

if [ -e /dev/full ]; then
    "$program" --help >/dev/full 2>"$work/err"
    [ $? -eq 1 ] || fail '--help >/dev/full: exit status is not 1'
    grep -q '^softalign: standard output: cannot write: ' "$work/err" || fail '--help >/dev/full: no message'
fi

# ---- the name of the subcommand

check 2 '^Usage: softalign SUBCOMMAND'
check 2 "^softalign: there is no subcommand 'trian'; did you mean 'train'\\?$" trian
check 2 "^softalign: there is no subcommand 'translat'; did you mean 'translate'\\?$" translat
check 2 "^softalign: there is no subcommand 'xyzzy'$" xyzzy
check 2 "^softalign: there is no subcommand ''$" ''
check 2 '^softalign: unknown option --beam-size' --beam-size 5 translate
check 2 "^Try 'softalign --help'\\.$" xyzzy

# ---- options that are not there

for name in $subcommands; do
    usage 'unknown option --xyzzy$' "$name" --xyzzy
    usage 'unknown option --hepl; did you mean --help\?$' "$name" --hepl
    usage 'unknown option -Z$' "$name" -Z
    usage 'option --help takes no argument$' "$name" --help=yes
done
usage 'unknown option --beam-sise; did you mean --beam-size\?$' translate --beam-sise 5
usage 'unknown option --beam-sise; did you mean --beam-size\?$' translate --beam-sise=5
usage 'unknown option --lerning-rate; did you mean --learning-rate\?$' train --lerning-rate 1
usage 'option --dim could be any of .*--dim-emb.*--dim-rnn' train --dim 5
usage 'option --strict takes no argument$' translate --strict=yes

# ---- arguments of options

usage 'option --model needs an argument: --model FILE$' translate --model
usage 'option --model needs an argument: --model FILE$' translate -m
usage 'option --train needs two files: --train SRC TGT' train --train only-one
usage 'option --train needs two files: --train SRC TGT' train --train only-one --output run
for text in abc '' 1x ' 5' 5.0 0x10 1e3 --strict; do
    usage "option --beam-size: '$text' is not a whole number$" translate --beam-size "$text"
done
for text in abc '' 0,5 ' 0.5' 0x1p3 nan inf 1.5e 0.5.1 -; do
    usage "option --dropout: '$text' is not a number" train --dropout "$text"
done
usage 'option --beam-size: 0 is out of range; it must be at least 1$' translate --beam-size 0
usage 'option --temperature: 0 is out of range; it must be above 0$' translate --sample --temperature 0
usage 'option --normalize: -1 is out of range; it must be at least 0$' score --normalize=-1
models=$(printf ' -m m%s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
# shellcheck disable=SC2086 # a list of options
usage "option --model: 'm17' is not one of as many models as can work together \\(16\\)$" translate $models -m m17
usage 'option --beam-size: -3 is out of range; it must be at least 1$' translate --beam-size=-3
usage 'option --beam-size: 2147483648 is too large a number$' translate --beam-size 2147483648
usage 'option --beam-size: 99999999999999999999 is too large a number$' translate --beam-size 99999999999999999999
usage 'option --dropout: 1 is out of range; it must be at least 0 and below 1$' train --dropout 1
usage 'option --dropout: -0.1 is out of range' train --dropout -0.1
usage 'option --adam-epsilon: 1e-99 is out of range; it must be above 0$' train --adam-epsilon 1e-99
usage 'option --learning-rate: 1e99 is too large a number$' train --learning-rate 1e99
usage 'option --learning-rate: 1e999 is too large a number$' train --learning-rate 1e999
usage "option --seed: '-1' is not a whole number from 0$" train --seed -1
usage 'option --seed: 18446744073709551616 is too large a number$' train --seed 18446744073709551616
usage "option --optimizer: there is no 'adagrad'; it must be adadelta, adam or sgd$" train --optimizer adagrad
usage "option --preset: there is no 'nosuch'; it must be .*rnnsearch" train --preset nosuch
usage "option --preset: there is no 'nosuch'; it must be .*rnnsearch" inspect --preset nosuch
for text in 10 e 0e -5u 1.5u 10x '10e,' ',10e' '10e,,5u' 5u30m ''; do
    usage "option --after: '$text' is not a limit like 10e" train --after "$text"
done
for text in 0 -5 abc '100,' ',100' '100,0' '100,200,300' ''; do
    usage "option --vocab-size: '$text' is not a number of symbols" train --vocab-size "$text"
done

# ---- what is missing, what is too much, what does not go together

usage '--train SRC TGT or --train-tsv FILE is missing$' train -o "$work/run"
usage '-o DIR is missing$' train --train a b
usage '--train and --train-tsv exclude each other$' train --train a b --train-tsv c -o "$work/run"
usage '--valid and --valid-tsv exclude each other$' train --train a b --valid a b --valid-tsv c -o "$work/run"
usage '--resume and --overwrite exclude each other$' train --train a b -o "$work/run" --resume --overwrite
for text in 0 1. 1.0 .2 2.x 2,1 99999999999; do
    usage "option --attention-from: '$text' is not a layer" translate -m "$work/model" --attention-from "$text"
done
usage '--joint-vocab takes one --vocab-size' train --train a b -o "$work/run" --joint-vocab --vocab-size 9,8
usage "unexpected argument 'extra'$" train --train a b extra -o "$work/run"
usage "unexpected argument '-extra'$" train --train a b -o "$work/run" -- -extra
usage '-m FILE is missing$' translate
usage '-m FILE is missing$' heatmap 'a sentence'
usage '--model or --matrix, not both$' heatmap -m none --matrix none
usage 'neither sentences nor --pairs go with it$' heatmap --matrix none 'a sentence'
usage 'the translation of the last sentence is missing$' heatmap -m none --pairs a b c
usage '--n-best 9 is more than --beam-size 2$' heatmap -m none --n-best 9 --beam-size 2
usage '--pairs gives$' heatmap -m none --n-best 2 --pairs
usage '-m FILE is missing$' score a b
usage '-m FILE is missing$' sheet -o x.svg
usage '-o FILE is missing$' sheet -m none
usage 'SOURCE and TARGET, or --tsv FILE are needed$' score -m none a
usage '--n-best 10 is more than the 2 hypotheses of --beam-size$' translate -m none --beam-size 2 --n-best 10
usage '--scores adds nothing to --n-best' translate -m none --n-best 2 --beam-size 2 --scores
usage 'a file, or --preset NAME, is missing$' inspect
usage 'a model file and --preset exclude each other$' inspect none --preset rnnsearch
usage 'options that set them go with --preset$' inspect none --dim-emb 5
[ ! -e "$work/run" ] || fail 'a command that was refused left a folder'

# ---- files that are not there

for name in translate heatmap 'score a b'; do
    # shellcheck disable=SC2086 # a subcommand, perhaps with arguments
    check 1 "^softalign: .*$work/none" $name -m "$work/none"
done
check 1 "^softalign: .*$work/none" inspect "$work/none"
check 1 "^softalign: .*$work/none" train --train "$work/none" "$work/none" -o "$work/run"

# ---- what works without a model

for order in '--preset rnnsearch --dim-emb 33 --vocab-size 100' '--vocab-size=100 --dim-e=33 --preset=rnnsearch'; do
    # shellcheck disable=SC2086 # a list of arguments
    "$program" inspect $order >"$work/out" 2>"$work/err" || fail "inspect $order: exit status $?"
    [ ! -s "$work/err" ] || fail "inspect $order: wrote to standard error"
    grep -Eqx 'dim-emb +33' "$work/out" || fail "inspect $order: does not show dim-emb 33"
    grep -Eqx 'vocab-size +100 source, 100 target' "$work/out" || fail "inspect $order: does not show the vocabulary"
    grep -Eqx '[0-9]+\.[0-9] M parameters \([0-9]+\)' "$work/out" || fail "inspect $order: does not show the total"
done

exit $failed
