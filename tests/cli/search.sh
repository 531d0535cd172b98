#!/bin/sh
# What translate and score do with their options: search.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"

# Some words are rare: with --vocab-size 14 they are unknown.
awk 'BEGIN {
    n = split("dog cat horse bear bars toad newt wolf", noun); split("cane gatto cavallo orso ||| rospo tritone lupo", nome)
    split("sees hears likes", verb); split("vede sente ama", verbo)
    split("today now", adverb); split("oggi ora", avverbio)
    for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) for (k = 1; k <= 3; k++) for (l = 1; l <= 2; l++)
        if ((i + j + k + l) % 2 && (i < 6 || (i + j + k) % 3 == 0)) {
            print noun[i], verb[k], noun[j], adverb[l] >"src"
            print avverbio[l], "il", nome[i], verbo[k], "il", nome[j] >"tgt"
        }
}'
: >in

# train FOLDER ARGUMENT...
train() {
    output=$1
    shift
    # shellcheck disable=SC2086 # a list of arguments
    run 0 '' train -q --vocab-type word --vocab-size 100 --dim-emb 24 --dim-rnn 32 --dim-dec 32 --dim-maxout 24 \
        $attention --dropout 0 --dropout-emb 0 --label-smoothing 0 --average 0 --learning-rate 0.01 --warmup 10 \
        --schedule constant --mini-batch 16 --early-stopping 0 --threads 1 --train src tgt --valid src tgt \
        --valid-freq 1000 -o "$output" "$@"
}
attention='--dim-att 24'
train good --after 20e
train vague --after 3e
train few --after 10e --vocab-size 14
train pieces --after 4e --vocab-type bpe --vocab-size 40
attention=
train blind --after 1e --preset rnnencdec --dim-emb 24 --dim-rnn 32 --dim-dec 32 --dim-maxout 24 --output-rank 0
for name in good vague few pieces blind; do
    mv $name/best.safetensors $name.model && rm -r $name
done

# Lines of many lengths, with unknown words among them.
awk 'BEGIN {
    srand(5)
    n = split("dog cat horse bear bars toad newt wolf sees hears likes today now xyzzy q", word)
    for (i = 0; i < 120; i++) {
        line = ""
        for (k = int(rand() * rand() * 25); k >= 0; k--)
            line = line (line == "" ? "" : " ") word[1 + int(rand() * n)]
        print i % 17 == 5 ? "" : line
    }
}' >mixed

# ---- one text, whatever runs beside it

# same ARGUMENT...: no size of batch and no number of threads changes what is written. (Of the scores, the last digits
# may: oneDNN's products keep all bits on AVX-512 only.)
same() {
    cp mixed in
    run 0 '' translate --n-best 2 --threads 1 "$@"
    sed 's/\(.* ||| .*\) ||| .* ||| .*/\1/' out >wanted
    for batch in 1 3 8 64; do
        for threads in 1 2; do
            run 0 '' translate --n-best 2 --mini-batch $batch --threads $threads "$@"
            sed 's/\(.* ||| .*\) ||| .* ||| .*/\1/' out | cmp -s - wanted || fail "$*: --mini-batch $batch --threads $threads: other translations"
        done
    done
}

same -m vague.model
same -m few.model --replace-unk --coverage-penalty 0.3 --length-penalty 0.8
same -m vague.model -m good.model --no-repeat-ngram 2 --min-length 3 --forbid-unk
same -m vague.model --sample --seed 3 --temperature 1.3
same -m pieces.model --sample --top-k 5
for name in vague few pieces; do
    cp mixed in
    run 0 '' translate -m $name.model
    cp out wanted
    sed '1!G;h;$!d' mixed >in
    run 0 '' translate -m $name.model --threads 2
    sed '1!G;h;$!d' out | cmp -s - wanted || fail "$name: lines reversed: other translations"
done

# ---- scores

# scored ARGUMENT...: what translate gives its best, score gives the same.
scored() {
    cp mixed in
    run 0 '' translate --n-best 1 "$@"
    sed "s/ ||| F0= /\t/; s/ ||| /\t/g; s/&#124;/|/g" out >rows
    cut -f 2 rows >texts
    run 0 '' score "$@" mixed texts
    [ "$(wc -l <out)" -eq 120 ] || fail "score $*: $(wc -l <out) lines"
    paste rows out >compared
    paste mixed texts >in
    run 0 '' score "$@" --tsv - --mini-batch 3
    paste rows out >>compared
    awk -F '\t' -v what="score $*" '
        function far(a, b) { return a - b > 1e-4 || b - a > 1e-4 }
        NF != 6 || far($3, $5) || far($4, $6) { print what ": line " NR ": " $0; exit }' compared >complaints
    [ ! -s complaints ] || fail "$(cat complaints)"
}
scored -m vague.model
scored -m vague.model -m good.model --normalize 0.5
scored -m few.model --coverage-penalty 0.4 --length-penalty 0.7
scored -m blind.model --normalize 0
scored -m pieces.model --symbols

printf 'dog hears cat now\n' >one
printf 'ora il cane sente il gatto\n' >two
run 0 '' score -m good.model --word-scores one two
awk -F '\t' '
    NF != 3 || $1 > 0 || $1 < -1 { print "score: " $0 }
    { n = split($3, item, " ")
      for (i = 1; i <= n; i++) {
          at = match(item[i], ":-*[0-9.]*$")
          text = text " " substr(item[i], 1, at - 1)
          sum += substr(item[i], at + 1)
      }
      if (text != " ora il cane sente il gatto </s>") print "symbols: " text
      if (sum - $1 > 1e-5 || $1 - sum > 1e-5 || $1 / 7 - $2 > 1e-5 || $2 - $1 / 7 > 1e-5) print "sums: " $0 }' out >complaints
[ ! -s complaints ] || fail "--word-scores: $(cat complaints)"
printf 'bars\n' >in
run 0 '' translate -m good.model --word-scores --prefix one --beam-size 2
grep -q "	dog:-" out && fail "words of a prefix are unknown here: $(cat out)"
grep -q '^dog hears cat now' out || fail "a prefix is not written: $(cat out)"
run 0 '' translate -m good.model --n-best 2 --word-scores --min-length 3
[ "$(awk -F ' [|][|][|] ' 'NF == 5' out | wc -l)" -eq 2 ] || fail "--word-scores in rows: $(cat out)"

printf 'dog\n\n\ndog\n' >one
printf '\n\ncane\ncane\n' >two
run 0 '' score -m good.model one two
[ "$(wc -l <out)" -eq 4 ] || fail "empty sides: $(wc -l <out) lines"
[ "$(sed -n 2p out)" = '0.000000	0.000000' ] || fail "two empty sides: $(sed -n 2p out)"
printf 'dog dog dog dog\n' >one
printf 'cane\n' >two
run 0 'one:1: a side longer than 3 symbols; the rest was left out \(--max-length\)' score -m good.model --max-length 3 one two
printf 'dog\ncat\n' >one
run 1 'one has 2 lines, two has 1: line i of one' score -m good.model one two
# Of a pipe the lines are counted as they come.
"$program" score -m good.model - two <one >out 2>err
[ $? -eq 1 ] || fail 'a target that is too short: exit status is not 1'
grep -q 'standard input has 2 lines, two has 1: line i of one' err || fail "a target that is too short: $(cat err)"
printf 'dog\tcane\ncat\n' >in
"$program" score -m good.model --tsv - <in >out 2>err
[ $? -eq 1 ] || fail 'a bad row of TSV: exit status is not 1'
grep -q 'standard input:2: 1 field, where source, tab, target are needed' err || fail "a bad row: $(cat err)"
[ "$(wc -l <out)" -eq 1 ] || fail 'the row before a bad one was not scored'
run 2 'two files, SOURCE and TARGET, or --tsv FILE are needed' score -m good.model one
run 2 'two files and --tsv exclude each other' score -m good.model --tsv one two
run 2 'standard input cannot be both' score -m good.model - -

# ---- unknown words

printf 'qqq zzz xxx\nqqq\n' >in
run 0 '' translate -m few.model --replace-unk
grep -q '<unk>' out && fail "--replace-unk: $(cat out)"
run 0 '' translate -m few.model --forbid-unk
grep -q '<unk>' out && fail "--forbid-unk: $(cat out)"
cp src in
run 0 '' translate -m few.model
grep -q '<unk>' out || fail 'few words, and none is unknown'
run 0 '' translate -m few.model --replace-unk
grep -q '<unk>' out && fail "--replace-unk: $(grep '<unk>' out | head -n 1)"
grep -q 'wolf\|newt' out || fail '--replace-unk: no source word in the translations'
printf 'wolf\tlupo grigio\nnewt\ttritone\nwolf\tother\n' | gzip >dictionary.gz
run 0 '' translate -m few.model --replace-unk --dictionary dictionary.gz
grep -q 'wolf\|newt\|other' out && fail "--dictionary: $(grep 'wolf\|newt' out | head -n 1)"
grep -q 'lupo grigio\|tritone' out || fail '--dictionary: nothing of it in the translations'
printf 'wolf lupo\n' >bad
run 1 'bad:1: 1 field, where source, tab, target are needed' translate -m few.model --replace-unk --dictionary bad
run 2 '.--dictionary goes with --replace-unk' translate -m few.model --dictionary dictionary.gz
run 2 'replacing unknown words needs attention' translate -m blind.model --replace-unk
run 2 'a coverage penalty needs attention' translate -m blind.model --coverage-penalty 0.2

# ---- forced starts

head -n 4 src >in
printf 'ora il\n\noggi il xyzzy\nil\n' >start
run 0 '' translate -m good.model --prefix start
paste -d '\t' start out | awk -F '\t' 'index($2, $1) != 1 { print "line " NR ": " $0 }' >complaints
[ ! -s complaints ] || fail "--prefix: $(cat complaints)"
# With pieces the last word goes on, unless it ended.
printf 'ora i\nora il c\nog\nora il \n' >start
run 0 '' translate -m pieces.model --prefix start
paste -d '\t' start out | awk -F '\t' 'index($2 " ", $1) != 1 { print "line " NR ": " $0 }' >complaints
[ ! -s complaints ] || fail "--prefix with pieces: $(cat complaints)"
head -n 3 start >short
"$program" translate -m good.model --prefix short <in >out 2>err
[ $? -eq 1 ] || fail 'too few prefixes: exit status is not 1'
grep -q 'short ends after line 3, but standard input goes on' err || fail "too few prefixes: $(cat err)"
[ "$(wc -l <out)" -eq 3 ] || fail 'too few prefixes: the lines that have one were not translated'
cat start start >long
"$program" translate -m good.model --prefix long <in >out 2>err
[ $? -eq 1 ] || fail 'too many prefixes: exit status is not 1'
grep -q 'long goes on after line 4, where standard input ends' err || fail "too many prefixes: $(cat err)"
run 2 'standard input can be one text only' translate -m good.model --prefix -

# ---- samples, repetition, length, several models

cp mixed in
run 0 '' translate -m vague.model --sample --n-best 20 --beam-size 2
[ "$(wc -l <out)" -gt 2000 ] || fail "--sample --n-best 20: $(wc -l <out) rows"
cp out wanted
run 0 '' translate -m vague.model --sample --n-best 20 --seed 2
cmp -s out wanted && fail '--seed 2: the samples of --seed 1'
run 0 '' translate -m vague.model --beam-size 1
cp out wanted
run 0 '' translate -m vague.model --sample --top-k 1
cmp -s out wanted || fail '--sample --top-k 1 is not greedy search'
for option in '--temperature 2' '--top-k 3' '--seed 9'; do
    # shellcheck disable=SC2086 # an option and its argument
    run 2 'go with --sample' translate -m vague.model $option
done
run 0 '' translate -m vague.model --no-repeat-ngram 1
awk '{ for (i = 1; i <= NF; i++) if (seen[NR, $i]++) print "line " NR ": " $0 }' out >complaints
[ ! -s complaints ] || fail "--no-repeat-ngram 1: $(head -n 1 complaints)"
run 0 '' translate -m vague.model --min-length 9
awk 'NF > 0 && NF < 9 { print "line " NR ": " $0 }' out >complaints
[ ! -s complaints ] || fail "--min-length 9: $(head -n 1 complaints)"
run 2 'good.model and few.model have different source vocabularies' translate -m good.model -m few.model
: >in
run 2 'good.model and pieces.model have different source vocabularies' translate -m good.model -m pieces.model -o kept
[ ! -e kept ] || fail 'models that do not go together: an output was made'
run 2 'different source vocabularies' score -m good.model -m few.model mixed mixed
run 2 '.--symbols writes none' translate -m few.model --symbols --replace-unk
exit $failed
