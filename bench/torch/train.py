#!/usr/bin/env python3
"""Trains model.py on a folder of text for a budget of CPU minutes (with one thread: minutes of an idle core).

Validation does not count against the budget. Writes NAME.pt, the best model on val by greedy BLEU, NAME.test.hyp,
its translation of test2016 with beam 5, and NAME.jsonl, which `softalign plot --x minutes` draws beside runs of
softalign; prints BLEU on val and test2016, and on test2016 by length.
"""
import argparse
import json
import math
import os
import random
import sys
import time

import torch

import data
from model import NMT, nparams, translate

MODEL_OPTIONS = ("arch", "impl", "emb", "hid", "dhid", "att", "maxout", "drop", "edrop")
BUCKETS = ((1, 8), (9, 11), (12, 14), (15, 19), (20, 24), (25, 999))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.add_text_option(parser)
    parser.add_argument("--name", default="run", help="of the files written")
    parser.add_argument("--pair", default="en-fr")
    parser.add_argument("--arch", default="search", choices=["search", "encdec"])
    parser.add_argument("--impl", default="custom", choices=["custom", "plain"])
    for name, value in (("emb", 256), ("hid", 256), ("dhid", 512), ("att", 256), ("maxout", 256)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--untied", action="store_true", help="output matrix of its own")
    parser.add_argument("--vocab", type=int, default=10000, help="words a side")
    parser.add_argument("--drop", type=float, default=0.3, help="dropout of annotations, states, readout")
    parser.add_argument("--edrop", type=float, default=0.2, help="dropout of embeddings")
    parser.add_argument("--smooth", type=float, default=0.1, help="label smoothing")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--warmup", type=int, default=200, help="updates")
    parser.add_argument("--constant", action="store_true", help="no linear decay of the learning rate")
    parser.add_argument("--clip", type=float, default=1.0)
    parser.add_argument("--average", type=float, default=0.999, help="of the parameters, exponential; 0: none")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    data.check_text_option(parser, options.text)
    return options


def pin_threads(threads):
    """Starts the program again unless the number is set: OpenBLAS reads it when it is loaded."""
    wanted = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **wanted})
    torch.set_num_threads(threads)


class Average:
    """Exponential moving average of the parameters, brought up to date every few updates."""

    EVERY = 4

    def __init__(self, model, decay):
        self.model, self.decay = model, decay
        self.mean = {k: v.clone() for k, v in model.state_dict().items()}

    def follow(self, update):
        if update % self.EVERY:
            return
        decay = min(self.decay**self.EVERY, (1 + update) / (10 + update))
        current = self.model.state_dict()
        with torch.no_grad():
            torch._foreach_mul_(list(self.mean.values()), decay)
            torch._foreach_add_(list(self.mean.values()), [current[k] for k in self.mean], alpha=1 - decay)

    def swap(self):
        """Puts the mean into the model; returns what was there."""
        raw = {k: v.clone() for k, v in self.model.state_dict().items()}
        self.model.load_state_dict(self.mean)
        return raw


class Run:
    def __init__(self, options):
        torch.manual_seed(options.seed)
        self.options, self.rng = options, random.Random(options.seed)
        self.text, self.source, self.target = data.load(options.text, options.pair, options.vocab)
        self.config = {k: getattr(options, k) for k in MODEL_OPTIONS}
        self.config.update(vs=len(self.source), vt=len(self.target), tied=not options.untied)
        self.model = NMT(**self.config)
        self.adam = torch.optim.AdamW(self.model.parameters(), lr=options.rate, weight_decay=0.0, foreach=True)
        self.average = Average(self.model, options.average) if options.average else None
        pairs = [(self.source.ids(x), self.target.ids(y)) for x, y in zip(*self.text["val"])]
        self.valid = [data.make_batch(pairs[i : i + 64]) for i in range(0, len(pairs), 64)]
        self.update = self.epoch = 0
        self.best = -1.0
        self.validating = 0.0
        self.fresh = True
        self.started = time.process_time()

    def used(self):
        """Part of the budget used so far."""
        return (time.process_time() - self.started - self.validating) / (60 * self.options.minutes)

    def translations(self, split, beam):
        return translate(self.model, self.source, self.target, self.text[split][0], 64, beam)

    def bleu(self, split, beam):
        return data.bleu(self.translations(split, beam), self.text[split][1])

    def train_epoch(self):
        """Loss a word; the epoch is cut short when the budget is spent."""
        self.epoch += 1
        self.model.train()
        total, words = 0.0, 0
        for batch in data.epoch_batches(self.text["train"], self.options.batch, self.rng):
            used = self.used()
            if used >= 1:
                break
            self.update += 1
            rate = self.options.rate * min(1, self.update / self.options.warmup)
            for group in self.adam.param_groups:
                group["lr"] = rate if self.options.constant else rate * (1 - 0.95 * used)
            self.adam.zero_grad(set_to_none=True)
            loss, n = self.model(*batch, smooth=self.options.smooth)
            (loss / n).backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.options.clip)
            self.adam.step()
            total, words = total + loss.item(), words + n
            if self.average:
                self.average.follow(self.update)
        return total / max(words, 1)

    def validate(self, train_loss):
        started = time.process_time()
        raw = self.average.swap() if self.average else None
        self.model.eval()
        with torch.inference_mode():
            sums = [self.model(*batch) for batch in self.valid]
        cross_entropy = sum(loss.item() for loss, _ in sums) / sum(n for _, n in sums)
        bleu = self.bleu("val", 1)
        improved = bleu > self.best
        if improved:
            self.best = bleu
            torch.save(dict(config=self.config, parameters=self.model.state_dict(), source=self.source.words,
                            target=self.target.words, pair=self.options.pair), f"{self.options.name}.pt")
        if raw:
            self.model.load_state_dict(raw)
        self.validating += time.process_time() - started
        minutes = self.used() * self.options.minutes
        self.record("progress", minutes, loss=train_loss, learning_rate=self.adam.param_groups[0]["lr"])
        self.record("validation", minutes, cross_entropy=cross_entropy, bleu=bleu)
        print(f"epoch {self.epoch} update {self.update} cpu {minutes:.1f}m "
              f"train {train_loss:.3f} val perplexity {math.exp(cross_entropy):.2f} BLEU (greedy) {bleu:.2f}"
              f"{' best' if improved else ''}", flush=True)

    def record(self, kind, minutes, **values):
        line = {"kind": kind, "update": self.update, "epoch": self.epoch, "seconds": 60 * minutes, **values}
        with open(f"{self.options.name}.jsonl", "w" if self.fresh else "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self.fresh = False

    def report(self):
        self.model.load_state_dict(torch.load(f"{self.options.name}.pt")["parameters"])
        scores = {f"{split} beam {k}": round(self.bleu(split, k), 2) for split in ("val", "test2016")
                  for k in (1, 5, 12)}
        print("BLEU", json.dumps(scores), flush=True)
        found, (lines, references) = self.translations("test2016", 5), self.text["test2016"]
        with open(f"{self.options.name}.test.hyp", "w", encoding="utf-8") as file:
            file.writelines(" ".join(words) + "\n" for words in found)
        for low, high in BUCKETS:
            part = [i for i in range(len(lines)) if low <= len(lines[i]) <= high]
            score = data.bleu([found[i] for i in part], [references[i] for i in part])
            print(f"  {low} to {high} source words ({len(part)} sentences): BLEU {score:.2f}")


def main():
    options = parse()
    pin_threads(options.threads)
    run = Run(options)
    print(f"{nparams(run.model)} parameters; {vars(options)}", flush=True)
    while run.used() < 1:
        run.validate(run.train_epoch())
    run.report()


if __name__ == "__main__":
    main()
