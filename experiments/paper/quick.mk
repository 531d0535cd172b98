# The same in ten minutes of two idle cores, on the help pages of LibreOffice that Debian's mirrors have, whose short
# sentences are joined to longer ones: small models, two minutes each, which show how it goes and not how good it gets.
OUT ?= paper/quick
MODELS ?= search50 encdec50 search30 encdec30
TRAIN ?= $(OUT)/joined/train.en $(OUT)/joined/train.fr
DEV ?= $(OUT)/joined/valid.en $(OUT)/joined/valid.fr
TEST ?= $(OUT)/joined/test.en $(OUT)/joined/test.fr

ATTENTION ?= --dim-att 192
TRAINING ?= --vocab-type word --vocab-size 8000 --dim-emb 128 --dim-rnn 192 --dim-dec 192 --dim-maxout 128 \
    --optimizer adam --learning-rate 0.002 --average 0.99 --mini-batch 80 --threads 2 \
    --valid-freq 200 --early-stopping 0
AFTER_50 ?= 2m
AFTER_30 ?= 2m

SAMPLE ?= 500
LENGTHS ?= 10 20 40 80
VOCABULARIES ?= 500 1000 2000 4000 8000
FIGURE3 ?= $(here)figure3-help.en

$(OUT)/joined/%: $(OUT)/debian/origin.txt
	@mkdir -p $(@D)
	awk -f $(here)join.awk $(<D)/$* > $@
$(OUT)/debian/origin.txt:
	HELP_PAIRS=$${HELP_PAIRS-build/examples/help_pairs} examples/debian/get-text.sh $(@D) 60
