#!/bin/sh
# What is wrong with files and texts, and what the program says to it: bad_input.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"

# refuse PATTERN ARGUMENT...: training fails and leaves no folder.
refuse() {
    refuse_pattern=$1
    shift
    run 1 "^softalign: $refuse_pattern" train -q --vocab-type word --after 1u -o run "$@"
    [ ! -e run ] || {
        fail "train $*: left a folder"
        rm -rf run
    }
}

printf 'ein hund schläft\neine katze läuft\nhunde\n' >src
printf 'a dog sleeps\na cat runs\ndogs\n' >tgt
: >empty
: >in
mkdir folder

tiny='--vocab-type word --dim-emb 8 --dim-rnn 8 --dim-dec 8 --dim-att 8 --dim-maxout 8 --threads 1'
# shellcheck disable=SC2086 # a list of arguments
run 0 '' train -q $tiny --train src tgt --valid src tgt -o good --after 1u
model=good/best.safetensors

# ---- files that are no model

cp $model longer
size=$(wc -c <$model)
dd if=$model of=half bs=1 count=$((size / 2)) 2>/dev/null
dd if=$model of=header bs=1 count=100 2>/dev/null
printf 'PK\003\004rest of an archive' >archive.zip
printf '<!DOCTYPE html><title>404</title>\n' >page.html
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' >pointer
head -c 5000 /dev/zero >zeros
gzip -c $model >model.gz
printf '\000\000\000\000\000\000\001\000{"a":1}' >swapped
printf 'x' >>longer
for command in 'translate -m' 'heatmap -m' inspect; do
    # shellcheck disable=SC2086
    while read -r file pattern; do
        run 1 "^softalign: $file: .*$pattern" $command $file
    done <<'END'
nowhere No such file
folder is a folder
/dev/null is a device
empty the file is empty
half cut short
header cut short
longer belong to nothing
archive.zip ZIP archive
page.html web page
pointer Git LFS pointer
zeros zero bytes
model.gz gzip data
swapped big-endian
src plain text
END
    # shellcheck disable=SC2086
    run 1 'src/model: .*Not a directory' $command src/model
done

# ---- more than the machine has

refuse 'not enough memory: this run needs [0-9.]+ TB, .*--dim-rnn.*--mini-batch' --train src tgt --valid src tgt \
    --dim-rnn 1000000
# A program built with sanitizers cannot even start with so few addresses.
if (ulimit -v 300000 && "$program" --version) >out 2>&1; then
    (ulimit -v 300000 && "$program" train -q --vocab-type word --after 1u -o run --train src tgt --valid src tgt) 2>err
    [ $? -eq 1 ] || fail 'ulimit -v 300000: exit status is not 1'
    grep -q '^softalign: not enough memory: this run needs .* of addresses, .*ulimit -v' err || fail "ulimit: $(cat err)"
    [ ! -e run ] || fail 'ulimit -v 300000: left a folder'
fi

# ---- training texts

printf 'a\nb\n' >two
refuse 'src has 3 lines, two has 2: ' --train src two --valid src tgt
refuse 'two has 2 lines, tgt has 3: ' --train src tgt --valid two tgt
refuse 'nowhere: cannot be opened: No such file' --train nowhere tgt
refuse 'nowhere: cannot be opened: No such file' --train src nowhere
refuse 'nowhere: cannot be opened: No such file' --train src tgt --valid src nowhere
refuse 'folder: is a folder' --train folder tgt
refuse 'empty: there are no lines' --train empty empty --valid src tgt
refuse 'empty: there are no lines' --train src tgt --valid empty empty
refuse 'standard input: there are no lines' --train-tsv - --valid src tgt
refuse 'tgt:1: 1 field, where source, tab, target are needed; so too in line 2, 3$' --train-tsv tgt --valid src tgt
printf 'eins\tone\nzwei\ndrei\tthree\tIII\n' >bad.tsv
refuse 'bad.tsv:2: 1 field, .*; so too in line 3$' --train-tsv bad.tsv --valid src tgt
printf '\n \n\t\n' >blank
refuse 'there is nothing to learn a vocabulary from' --train blank blank --valid src tgt
refuse 'training text: no pair is left of 3: 3 have an empty side' --train src blank --valid src tgt --joint-vocab
printf 'zwei worte\nnoch zwei\n' >long
refuse 'training text: no pair is left of 2: 0 have an empty side, 2 are longer than 1 symbols \(--max-length\)' \
    --train long long --valid src tgt --max-length 1
printf 'gut\nschl\344cht \n' >latin1
refuse 'latin1:2: byte 5, 0xE4, is not UTF-8' --train latin1 two --valid src tgt --strict
gzip -c src | head -c 30 >broken.gz
refuse 'broken.gz: ' --train broken.gz tgt --valid src tgt
run 2 'a vocabulary of 2 symbols is too small' train --vocab-type word --vocab-size 2 --train src tgt --valid src tgt \
    -o run --after 1u
[ ! -e run ] || fail 'a vocabulary that is too small left a folder'
if [ "$(id -u)" -ne 0 ]; then
    cp src secret
    chmod 0 secret
    refuse 'secret: cannot be opened: Permission denied' --train secret tgt
    mkdir locked
    chmod 555 locked
    run 1 'locked.*(cannot write|cannot be made)' train --train src tgt --valid src tgt -o locked --after 1u
fi

# ---- output

run 1 '^softalign: src: exists and is no folder; choose another name' train --train src tgt --valid src tgt -o src/run --after 1u
run 1 '^softalign: src: exists and is no folder' train --train src tgt --valid src tgt -o src --after 1u
run 1 '^softalign: src/out: cannot write: Not a directory' translate -m $model -o src/out
run 1 '^softalign: folder: cannot write: Is a directory' translate -m $model -o folder
cp src kept
cp src in
cat src src >twice
run 2 'kept is both --input and --output' translate -m $model -i kept -o kept
run 2 'in is both --input and --output' translate -m $model -o in
run 2 'is both --model and --output' translate -m $model -o $model
cat kept in | cmp -s - twice || fail 'a refused --output changed a file'
run 1 '^softalign: nowhere: cannot be opened' translate -m $model -i nowhere -o fresh
[ ! -e fresh ] || fail 'an input that is not there left an output'

# ---- what can be in a line

# translates N STDERR-PATTERN: ./in has N lines, and so has its translation, which is UTF-8 without CR and NUL.
translates() {
    run 0 "$2" translate -m $model --beam-size 2
    [ "$(wc -l <out)" -eq "$1" ] || fail "$(head -c 40 in): $(wc -l <out) lines, not $1"
    [ "$(tr -d '\r\000' <out | wc -c)" -eq "$(wc -c <out)" ] || fail "$(head -c 40 in): CR or NUL in the output"
    iconv -f UTF-8 -t UTF-8 out >/dev/null 2>&1 || fail "$(head -c 40 in): the output is not UTF-8"
}

# same_as TEXT N STDERR-PATTERN OTHER: two texts of N lines, as printf's %b writes them, have one translation.
same_as() {
    printf '%b' "$1" >in
    translates "$2" "$3"
    mv out before
    printf '%b' "$4" >in
    translates "$2" ''
    cmp -s before out || fail "$1: translated otherwise than $4"
}

: >in
translates 0 ''
printf 'hunde\n\neine katze läuft\n \t \n' >in
translates 4 ''
sed -n '2p;4p' out | tr -d '\n' | cmp -s - empty || fail 'empty lines: not empty in the output'
same_as 'ein hund\nhunde' 2 '' 'ein hund\nhunde\n'
same_as 'ein hund\r\nhunde\r\n' 2 '' 'ein hund\nhunde\n'
same_as 'ein\rhund\n' 1 '' 'ein hund\n'
same_as '\0357\0273\0277ein hund\n\0357\0273\0277hunde\n' 2 '' 'ein hund\nhunde\n'
same_as 'ein\thund  läuft\n' 1 '' 'ein hund läuft\n'
same_as 'ein\0000hund\nhunde\n' 2 'standard input:1:4: not UTF-8 text: 1 replaced by U\+FFFD; --strict' 'ein\0357\0277\0275hund\nhunde\n'
same_as 'hunde\nschl\0344ft\n' 2 'standard input:2:5: not UTF-8' 'hunde\nschl\0357\0277\0275ft\n'
# U+2028, U+2029, U+0085, VT, FF, FS: no ends of lines.
printf '%b' 'a\0342\0200\0250b\0342\0200\0251c\0302\0205d\013e\014f\034g\nhunde\n' >in
translates 2 ''
# No-break and ideographic spaces, a family, right-to-left text with an override, words of control.
printf '%b' 'a\0302\0240b\0343\0200\0200c\n\0360\0237\0221\0250\0342\0200\0215\0360\0237\0221\0251\n' >in
printf '%b' '\0342\0200\0256\0327\0251\0327\0234\n<s> </s> <unk> ||| @@ \0342\0226\0201 hunde\n' >>in
translates 4 ''
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "hund "; print ""; print "hunde" }' >in
translates 2 'standard input:1: a sentence longer than 1000 symbols; the line was translated in [0-9]+ pieces \(--max-length\)'
tail -n 1 out >last
head -c 100000 /dev/zero | tr '\000' x >in
printf '\nhunde\n' >>in
translates 2 ''
tail -n 1 out | cmp -s - last || fail 'a long word changes the next line'
printf 'hunde\n' >in
translates 1 ''
cmp -s out last || fail 'a long line changes the next one'

# Strict: the lines before the broken one are answered.
printf 'hunde\n\344\nkatze\n' >in
"$program" translate -m $model --strict <in >out 2>err
[ $? -eq 1 ] || fail '--strict: exit status is not 1'
grep -q '^softalign: standard input:2: byte 1, 0xE4, is not UTF-8' err || fail "--strict: $(cat err)"
cmp -s out last || fail "--strict: wrote $(cat out)"
run 0 '' translate -q -m $model

# Training on such texts, and reading the model back.
printf '%b' 'ein\0000hund\r\n\0357\0273\0277katze\0342\0200\0250x\n\nhund \rkatze\nnur links\n' >odd.src
printf '%b' 'a dog\r\n\0344 cat\nnothing\ndog cat\n\n' >odd.tgt
# shellcheck disable=SC2086
run 0 '3 pairs, .*dropped: 2 with an empty side' train $tiny --train odd.src odd.tgt --valid src tgt -o odd --after 1u
grep -q '2 invalid bytes or NULs were replaced by U+FFFD, the first at odd.src:1:4$' err || fail "odd text: $(cat err)"
cp odd.src in
run 0 'not UTF-8' translate -m odd/best.safetensors
run 0 '' inspect --json odd/best.safetensors
grep -q 'x0D\|\\r' out && fail 'a CR became part of a word'
exit $failed
