#!/bin/sh
# What the machine has, and how long training takes: doctor.sh PROGRAM
# Every failed check is printed; exits 1 when there is one.
set -u
. "$(dirname "$0")/lib/run.sh"
: >in

run 0 '' doctor --preset small --threads 1
for pattern in '^softalign +[0-9]+\.[0-9]+\.[0-9]+$' '^processor .*[0-9]+ cores? for this process$' '^instruction sets ' \
    '^matrix products +[a-z0-9_]+: f32' '^memory +[0-9]+\.[0-9] GB, ' '^libraries +oneDNN [0-9.]+, jansson [0-9.]+, zlib [0-9]' \
    '^small +[0-9.]+ M +[0-9]+$'; do
    grep -Eq "$pattern" out || fail "doctor: no line $pattern in $(cat out)"
done

awk 'BEGIN { for (i = 0; i < 100; i++) { print "the dog sees", i >"src"; print "il cane vede", i >"tgt" } }'
gzip src
run 0 '' doctor --preset small --threads 1 --train src.gz tgt --epochs 3
grep -Eq '^training on 100 pairs of src.gz and tgt$' out || fail "doctor --train: $(cat out)"
grep -Eq '^small +[0-9.]+ M +[0-9]+ +[0-9]+ min +[0-9]+ min$' out || fail "doctor --train: $(cat out)"
run 0 '' doctor --preset small --threads 1 --train src.gz tgt --json
grep -Eq '^\{"version":"[0-9.]+",.*"cores":[0-9]+,.*"presets":\[\{"preset":"small","fits":true,"parameters":[0-9]+,"words_per_second":[0-9.]+,"words":[0-9]+,"hours_per_epoch":[0-9.]+,"hours":[0-9.]+\}\]\}$' out ||
    fail "doctor --json: $(cat out)"

head -n 99 tgt >short
run 1 'the two files have not the same number of lines: one ends after line 99' doctor --json --train src.gz short
head -n 3 tgt >few
run 1 'the text has no full minibatch' doctor --json --preset small --train few few
run 1 'nowhere: cannot be opened' doctor --json --train nowhere tgt
# The large presets want gigabytes. (A sanitizer wants addresses without end.)
if (ulimit -v 1500000 && "$program" --version) >out 2>&1; then
    (ulimit -v 1500000 && "$program" doctor --threads 1) >out 2>err
    [ $? -eq 0 ] || fail "ulimit: exit status is not 0: $(cat err)"
    grep -Eq '^small +[0-9.]+ M +[0-9]+$' out || fail "ulimit: $(cat out)"
    ! grep -q '^caption' out || fail "ulimit: $(cat out)"
    grep -q '^rnnsearch  *needs more memory than is left$' out || fail "ulimit: $(cat out)"
    (ulimit -v 1500000 && "$program" doctor --threads 1 --preset rnnsearch) >out 2>err
    [ $? -eq 1 ] || fail 'ulimit, --preset rnnsearch: exit status is not 1'
    grep -q '^softalign: not enough memory: this run needs ' err || fail "ulimit, --preset rnnsearch: $(cat err)"
fi
run 2 'caption reads pictures' doctor --preset caption
run 2 'no preset "tiny"; there are: small' doctor --preset tiny
run 2 '.--train needs files' doctor --train - tgt
exit $failed
