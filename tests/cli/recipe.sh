#!/bin/sh
# experiments/recipe/run.sh on a few pairs: recipe.sh PROGRAM
# shellcheck source=lib/run.sh
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
recipe=$lib/../../../experiments/recipe

write_text 60
mkdir text
for set in train val test2016; do
    cp src text/$set.src
    cp tgt text/$set.tgt
done
MINUTES=0.03 "$recipe/run.sh" "$program" text src tgt made seed-2 default no-norm >out 2>err ||
    fail "the variants do not train: $(cat err)"
[ "$(cut -f 1 out | tr '\n' ' ')" = 'variant default seed-2 no-norm ' ] || fail "another order: $(cat out)"
awk -F'\t' 'NR > 1 && (NF != 4 || $4 !~ /^[0-9]+\.[0-9][0-9]$/) { exit 1 }' out || fail "no scores: $(cat out)"
"$program" inspect made/no-norm/best.safetensors | grep -q 'layer-norm *none' || fail 'a variant without its options'

# What was scored is not trained again; what nobody knows is refused, before anything is trained.
cp out before
touch made/begun
MINUTES=5 "$recipe/run.sh" "$program" text src tgt made default seed-2 no-norm >out 2>err || fail "again: $(cat err)"
cmp -s before out || fail "another table the second time"
[ -z "$(find made -name best.safetensors -newer made/begun)" ] || fail 'trained again'
! "$recipe/run.sh" "$program" text src tgt made default nothing >out 2>err || fail 'a variant that is none'
grep -q 'no variant nothing' err || fail "unknown variants: $(cat err)"
exit $failed
