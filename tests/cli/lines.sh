#!/bin/sh
# As many lines out as in, whatever is in them, from every subcommand that works through lines: lines.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"

printf 'der hund schläft\ndie katze läuft\nhunde\n' >src
printf 'the dog sleeps\na cat runs\ndogs\n' >tgt
: >in
tiny='--dim-emb 8 --dim-rnn 8 --dim-dec 8 --dim-att 8 --dim-maxout 8 --threads 1'
# shellcheck disable=SC2086 # a list of arguments
run 0 '' train -q $tiny --vocab-type word --train src tgt --valid src tgt -o words --after 1u
# shellcheck disable=SC2086
run 0 '' train -q $tiny --vocab-type bpe --vocab-size 40 --protect --normalization nfc --train src tgt --valid src tgt \
    -o pieces --after 1u

# ---- texts: a name, how many lines, and the text as printf's %b writes it

mkdir texts
text() {
    printf '%b' "$3" >"texts/$1.$2"
}
text empty 0 ''
text empty_lines 3 'hund\n\nkatze\n'
text only_blanks 3 '   \n \t \n.\n'
text no_final_newline 2 'hund\nder hund'
text final_carriage_return 1 'hund\r'
text crlf 2 'der hund\r\ndie\r katze\r\n'
text marks 2 '\0357\0273\0277der hund\n\0357\0273\0277die katze\n'
text zeros 2 'der\0000 hund\ndie katze\n'
text not_utf8 3 'caf\0351 \0300\0257 \0355\0240\0200 \0364\0220\0200\0200 ende\nabc\0342\0202\nder hund\n'
text separators 3 'a\0342\0200\0250b\0342\0200\0251c\nd\0302\0205e\nf\0013g\0014h\0034i\n'
text wide_blanks 2 'der  hund\0302\0240schl\0303\0244ft\0343\0200\0200. \n\0343\0200\0200\n'
text right_to_left 3 '\0327\0242\n\0331\0205\0330\0261 (abc) 12:30 \0342\0200\0217!\n\0342\0200\0256der hund\n'
text emoji 1 'hallo \0360\0237\0230\0200 \0360\0237\0221\0250\0342\0200\0215\0360\0237\0221\0251 \0360\0237\0207\0251\0360\0237\0207\0252 !\n'
text control_words 2 'der </s> hund <unk> <s> ||| katze @@ mi@@ lch \0342\0226\0201brot <pad>\n</s>\n'
text markup 2 '<p>hund</p>\n<b>der <i id="1">hund</i></b><br/>schl\0303\0244ft\n'
text tab 2 'der\thund\n\t\n'
text noncharacters 1 '\0357\0267\0220 \0357\0267\0221 \0357\0267\0222 \0357\0267\0223 \0357\0267\0227 \0357\0277\0277\n'
text combining 2 'e\0314\0201\0314\0201\0314\0201\n\0314\0201\n'
text json 4 '{"text": "hund"}\n{"text": \n"hund"\n{}\n'
text ansi 1 'hund \0033[31mrot\0033[0m \0007\n'
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%shund", i ? " " : ""; print ""; print "die katze" }' >texts/many_words.2
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "a"; print ""; print "die katze" }' >texts/long_word.2
awk 'BEGIN { for (i = 0; i < 4000; i++) printf "\314\201"; print ""; print "die katze" }' >texts/many_marks.2
awk 'BEGIN { for (i = 0; i < 600; i++) printf "%d <b> {x} ", i; print ""; print "die katze" }' >texts/many_items.2

# lines STATUS N WHAT COMMAND...: reads $text as standard input.
lines() {
    lines_status=$1 lines_n=$2 lines_what=$3
    shift 3
    "$program" "$@" <"$text" >out 2>err
    status=$?
    [ "$status" -eq "$lines_status" ] || fail "$text: $lines_what: exit status $status: $(head -c 300 err)"
    [ "$(grep -c "$pattern" out)" -eq "$lines_n" ] || fail "$text: $lines_what: $(grep -c "$pattern" out) lines, not $lines_n"
    iconv -f UTF-8 -t UTF-8 out >/dev/null 2>&1 || fail "$text: $lines_what: not UTF-8"
    [ "$(tr -d '\r\000' <out | wc -c)" -eq "$(wc -c <out)" ] || fail "$text: $lines_what: CR or NUL in the output"
}

fast='-q --beam-size 2 --threads 1 --max-length-factor 1'
for text in texts/*; do
    n=${text##*.}
    [ "$(awk 'END { print NR }' "$text")" -eq "$n" ] || fail "$text: the test itself has another number of lines"
    for model in words pieces; do
        pattern=''
        # shellcheck disable=SC2086 # a list of options
        for how in '' '--replace-unk --forbid-unk' '--mini-batch 1 --max-length 40' '--split-sentences --word-scores' \
            '--output-format tsv' '--output-format n-best' '--output-format jsonl'; do
            lines 0 "$n" "translate $model $how" translate -m $model/best.safetensors $fast $how
        done
        status=0
        [ "$n" -eq 0 ] || status=1
        # shellcheck disable=SC2086
        lines $status "$n" "jsonl $model" translate -m $model/best.safetensors $fast --input-format jsonl
        # shellcheck disable=SC2086
        lines 0 "$n" "tsv $model" translate -m $model/best.safetensors $fast --input-format tsv
        lines 0 "$n" "score $model" score -q --threads 1 -m $model/best.safetensors "$text" "$text"
        pattern='^score -\{0,1\}[0-9]'
        # shellcheck disable=SC2086
        lines 0 "$n" "heatmap $model" heatmap -m $model/best.safetensors $fast
    done
    if [ "$n" -gt 0 ]; then
        pattern='= [0-9]'
        lines 0 "$n" evaluate evaluate --sentence "$text"
    fi
done

# ---- ten thousand lines: many, and each is translated as it was the first time

for text in texts/*; do
    case $text in
    */long_* | */many_*) ;;
    *) sed '$a\' "$text" ;; # with a newline at its end
    esac
done >short
while [ "$(awk 'END { print NR }' short)" -lt 10000 ]; do
    cat short short >longer
    mv longer short
done
head -n 10000 short >in
for model in words pieces; do
    "$program" translate -q -m $model/best.safetensors --beam-size 2 --max-length-factor 1 --threads 2 <in >out 2>err ||
        fail "10,000 lines, $model: $(head -c 300 err)"
    awk -v what="10,000 lines, $model" '
        NR == FNR { line[NR] = $0; next }
        { if (line[FNR] in was && was[line[FNR]] != $0) other++; was[line[FNR]] = $0 }
        END { if (FNR != 10000 || other) print what ": " FNR " lines, " other + 0 " that were translated otherwise before" }' \
        in out >complaints
    [ ! -s complaints ] || fail "$(cat complaints)"
done

# ---- memory that is short

# A program built with sanitizers cannot even start with so few addresses.
if (ulimit -v 90000 && "$program" --version) >out 2>&1; then
    printf 'der hund\n' >in
    (
        ulimit -v 90000
        "$program" translate -m pieces/best.safetensors <in >out 2>err
        echo $? >status
    )
    case $(cat status) in
    0) [ "$(wc -l <out)" -eq 1 ] || fail 'ulimit -v: no line, and no failure' ;;
    1) grep -q '^softalign: ' err || fail "ulimit -v: no message: $(head -c 200 err)" ;;
    *) [ -s err ] || fail "ulimit -v: exit status $(cat status) without a word" ;;
    esac
fi
exit $failed
