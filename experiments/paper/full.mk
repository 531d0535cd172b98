# The experiments on a corpus of some hundred thousand pairs: about half an hour of two idle cores for each model.
OUT ?= paper/full
MODELS ?= search50 encdec50 search30 encdec30 search50more
define no_text :=
which text? For example Europarl v7 and the news tests of WMT from https://www.statmt.org (README.md), and then:
    make paper TRAIN='europarl.en europarl.fr' DEV='dev.en dev.fr' TEST='test.en test.fr'
endef

ATTENTION ?= --dim-att 512
TRAINING ?= --vocab-type word --vocab-size 15000 --dim-emb 256 --dim-rnn 512 --dim-dec 512 --dim-maxout 256 \
    --optimizer adam --learning-rate 0.0005 --average 0.999 --mini-batch 80 --threads 2 \
    --valid-freq 1000 --early-stopping 0
AFTER_50 ?= 6000u
AFTER_30 ?= 4000u
LONGER ?= --early-stopping 3 --after 30000u

SAMPLE ?= 2000
LENGTHS ?= 10 20 40 80 160
VOCABULARIES ?= 1000 2000 4000 8000 15000 30000 50000
FIGURE3 ?= $(here)figure3.en
