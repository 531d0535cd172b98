"""Parallel text in a folder (train.en, train.fr, val.*, test2016.*: a tokenised sentence a line), vocabularies,
batches, BLEU."""
import collections
import math
import os

import torch

PAD, UNK, BOS, EOS = 0, 1, 2, 3
SPECIALS = ["<pad>", "<unk>", "<s>", "</s>"]


def add_text_option(parser):
    parser.add_argument("--text", metavar="DIR", default=os.environ.get("MULTI30K"),
                        help="folder of the tokenised text (default: $MULTI30K)")


def check_text_option(parser, folder):
    if not folder:
        parser.error("where is the text? Give --text DIR or set MULTI30K")
    if not os.path.isfile(os.path.join(folder, "train.en")):
        parser.error(f"no train.en in {folder}")


def read(folder, split, language):
    with open(os.path.join(folder, f"{split}.{language}"), encoding="utf-8") as file:
        return [line.split() for line in file]


class Vocab:
    def __init__(self, words):
        self.words = words
        self.index = {word: i for i, word in enumerate(words)}

    def __len__(self):
        return len(self.words)

    @classmethod
    def build(cls, sentences, size):
        count = collections.Counter(word for sentence in sentences for word in sentence)
        return cls(SPECIALS + sorted(count, key=lambda word: (-count[word], word))[: size - len(SPECIALS)])

    def ids(self, sentence):
        return [self.index.get(word, UNK) for word in sentence] + [EOS]


def load(folder, pair, size):
    """Pairs of ids under "train", pairs of lists of sentences under "val" and "test2016", and both vocabularies."""
    source, target = pair.split("-")
    train = read(folder, "train", source), read(folder, "train", target)
    vocab = Vocab.build(train[0], size), Vocab.build(train[1], size)
    text = {"train": list(zip(map(vocab[0].ids, train[0]), map(vocab[1].ids, train[1])))}
    for split in ("val", "test2016"):
        text[split] = read(folder, split, source), read(folder, split, target)
    return text, *vocab


def pad(sequences):
    longest = max(map(len, sequences))
    return torch.tensor([x + [PAD] * (longest - len(x)) for x in sequences])


def make_batch(pairs):
    """Source, its lengths, decoder input, target."""
    source, target = pad([p[0] for p in pairs]), pad([p[1] for p in pairs])
    lengths = torch.tensor([len(p[0]) for p in pairs])
    shifted = torch.cat([torch.full((len(pairs), 1), BOS), target[:, :-1]], 1)
    return source, lengths, shifted, target


def by_length(pairs):
    return lambda i: (len(pairs[i][1]), len(pairs[i][0]))


def epoch_batches(pairs, size, rng, window=20):
    """Shuffle; take window * size pairs, sort by length, cut into batches, shuffle those (Bahdanau et al.)."""
    order = list(range(len(pairs)))
    rng.shuffle(order)
    for start in range(0, len(order), size * window):
        block = sorted(order[start : start + size * window], key=by_length(pairs))
        batches = [block[i : i + size] for i in range(0, len(block), size)]
        rng.shuffle(batches)
        for batch in batches:
            yield make_batch([pairs[i] for i in batch])


def ngrams(words, n):
    return collections.Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def bleu(hypotheses, references):
    """As multi-bleu.perl computes it: one reference, tokens as they stand."""
    correct, total = [0] * 4, [0] * 4
    for hypothesis, reference in zip(hypotheses, references):
        for n in range(1, 5):
            found, wanted = ngrams(hypothesis, n), ngrams(reference, n)
            total[n - 1] += sum(found.values())
            correct[n - 1] += sum(min(count, wanted[gram]) for gram, count in found.items())
    if min(correct) == 0:
        return 0.0
    ratio = sum(map(len, references)) / sum(map(len, hypotheses))
    brevity = 1.0 if ratio <= 1 else math.exp(1 - ratio)
    return 100 * brevity * math.exp(sum(math.log(c / t) for c, t in zip(correct, total)) / 4)
