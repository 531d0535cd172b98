#!/usr/bin/env python3
"""Throughput of training and translating with the PyTorch model of model.py.

  bench.py --text DIR                quick: trains and translates at size a, trains at size p, 1 and 2 threads
  bench.py train --text DIR --size a,p --threads 1,2 --impl custom,plain --batches 20 --passes 2
  bench.py decode --text DIR --model a|p|FILE --threads 1,2 --beam 1,5 --batch 1,64 --sentences 1000

Size a: embedding 256, states 512, 10k words a side. Size p: the paper's 620, 1000, 30k. Each measurement is a
process of its own with its threads pinned and malloc tuned. The time of a batch is its minimum over the passes, as
other load only adds time; "mean" is the plain average; the last figure tells how many cores others kept busy.
"""
import time

STARTED = time.perf_counter()

import argparse
import json
import os
import random
import resource
import subprocess
import sys

import torch

import data
from model import NMT, nparams, translate

IMPORT_SECONDS = time.perf_counter() - STARTED
HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = {
    "a": dict(emb=256, hid=512, dhid=512, att=512, maxout=256, vs=10000, vt=10000),
    "p": dict(emb=620, hid=1000, dhid=1000, att=1000, maxout=500, vs=30000, vt=30000),
}
BATCH, WINDOW = 80, 20
OPENBLAS_OPENMP = "/usr/lib/x86_64-linux-gnu/openblas-openmp"  # Debian's libopenblas0-openmp


def machine_seconds():
    """CPU seconds that the whole machine has used so far, stolen ones included."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(x) for x in file.readline().split()[1:9]]
    idle, waiting = ticks[3], ticks[4]
    return (sum(ticks) - idle - waiting) / os.sysconf("SC_CLK_TCK")


class Watch:
    """Wall and CPU time since it was made, and the cores that other processes kept busy meanwhile."""

    def __init__(self):
        self.machine, self.cpu, self.wall = machine_seconds(), time.process_time(), time.perf_counter()

    def read(self):
        wall = time.perf_counter() - self.wall
        cpu = time.process_time() - self.cpu
        return wall, cpu, max(0.0, (machine_seconds() - self.machine - cpu) / wall)


def wait_until_quiet(limit, threshold=0.10, window=3.0):
    end = time.time() + limit
    while time.time() < end:
        before = machine_seconds()
        time.sleep(window)
        if (machine_seconds() - before) / window < threshold:
            return True
    return False


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def make_optimizer(name, parameters):
    if name == "adam":
        return torch.optim.Adam(parameters, 1e-4, foreach=True)
    return torch.optim.Adadelta(parameters, 1.0, 0.95, 1e-6, foreach=True)


def spread_batches(pairs, count):
    """`count` batches out of one window sorted by length, evenly from the shortest to the longest."""
    order = list(range(len(pairs)))
    random.Random(1).shuffle(order)
    block = sorted(order[: BATCH * WINDOW], key=data.by_length(pairs))
    picked = [int((k + 0.5) * WINDOW / count) for k in range(count)]
    return [data.make_batch([pairs[i] for i in block[BATCH * k : BATCH * (k + 1)]]) for k in picked]


def measure_training(text, size, threads, impl, arch, batches, passes, optimizer):
    torch.set_num_threads(threads)
    pairs = data.load(text, "en-fr", 10000)[0]["train"]
    torch.manual_seed(1)
    model = NMT(arch=arch, impl=impl, **SIZES[size])
    step = make_optimizer(optimizer, model.parameters())
    chosen = spread_batches(pairs, batches)

    def update(batch):
        started = time.perf_counter()
        step.zero_grad(set_to_none=True)
        loss, words = model(*batch)
        (loss / words).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        step.step()
        return time.perf_counter() - started

    for batch in (chosen[-1], chosen[0]):
        update(batch)
    watch = Watch()
    times = [[update(batch) for batch in chosen] for _ in range(passes)]
    wall, cpu, others = watch.read()
    best = sum(min(column) for column in zip(*times))
    sentences = BATCH * batches
    target = sum((batch[3] != data.PAD).sum().item() for batch in chosen) - sentences
    source = sum(batch[1].sum().item() for batch in chosen) - sentences
    print(f"train {arch} size {size} {impl} {optimizer} threads {threads}: {nparams(model) / 1e6:.2f}M parameters "
          f"| target words/s {target / best:.0f} (mean {passes * target / wall:.0f}) "
          f"source words/s {source / best:.0f} updates/s {batches / best:.2f} | cpu/wall {cpu / wall:.2f} "
          f"peak {peak_megabytes():.0f} MB | others used {others:.2f} cores", flush=True)


def open_model(name, text):
    """A trained model, or one of random weights, with its vocabularies and pair of languages."""
    if name in SIZES:
        model = NMT(**SIZES[name])
        _, source, target = data.load(text, "en-fr", 10000)
        target.words += ["x"] * (SIZES[name]["vt"] - len(target))
        return model, source, target, "en-fr"
    stored = torch.load(name)
    model = NMT(**stored["config"])
    model.load_state_dict(stored["parameters"])
    return model, data.Vocab(stored["source"]), data.Vocab(stored["target"]), stored["pair"]


def measure_decoding(text, model, threads, beam, batch, sentences, passes):
    torch.set_num_threads(threads)
    before = time.perf_counter()
    network, source, target, pair = open_model(model, text)
    opening = time.perf_counter() - before
    lines, references = (data.read(text, "test2016", language) for language in pair.split("-"))
    stride = max(1, len(lines) // sentences)
    lines, references = lines[::stride][:sentences], references[::stride][:sentences]
    force = model in SIZES
    translate(network, source, target, lines[: max(3, batch)], batch, beam, force)
    watch = Watch()
    times = []
    for _ in range(passes):
        before = time.perf_counter()
        found = translate(network, source, target, lines, batch, beam, force)
        times.append(time.perf_counter() - before)
    wall, cpu, others = watch.read()
    words = sum(map(len, found))
    print(f"decode {os.path.basename(model)} beam {beam} batch {batch} threads {threads}: "
          f"{len(lines) / min(times):.1f} sentences/s {words / min(times):.0f} words/s BLEU "
          f"{data.bleu(found, references):.2f} | import {IMPORT_SECONDS:.2f} s open {opening:.2f} s "
          f"cpu/wall {cpu / wall:.2f} peak {peak_megabytes():.0f} MB, {nparams(network) / 1e6:.2f}M parameters | "
          f"others used {others:.2f} cores", flush=True)


MEASUREMENTS = {"train": measure_training, "decode": measure_decoding}


def environment(threads, kernels):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    # Freed memory stays with the process, in huge pages: 5 to 10% here.
    env.update(MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_=str(1 << 34), MALLOC_TOP_PAD_=str(1 << 26),
               GLIBC_TUNABLES="glibc.malloc.hugetlb=1")
    if kernels:
        env["OPENBLAS_CORETYPE"] = kernels
    if threads > 1 and os.path.isdir(OPENBLAS_OPENMP):
        # One pool of threads for PyTorch and OpenBLAS; two pools fight for the cores.
        env["LD_LIBRARY_PATH"] = OPENBLAS_OPENMP + ":" + env.get("LD_LIBRARY_PATH", "")
    return env


def measure(options, kind, threads, **what):
    if options.wait and not wait_until_quiet(options.wait):
        print("(machine not quiet)", end=" ", flush=True)
    arguments = json.dumps(dict(text=os.path.abspath(options.text), threads=threads, **what))
    # Which of OpenBLAS's kernels train faster depends on the processor: AVX2 by 5% on Zen 4, AVX-512 by half on Zen 5.
    # Both are measured; the better line counts.
    chosen = [os.environ.get("OPENBLAS_CORETYPE")]
    if kind == "train" and not chosen[0]:
        chosen = ["Haswell", "SkylakeX"]
    for kernels in chosen:
        print(f"{kernels or 'default'} kernels:", end=" ", flush=True)
        subprocess.run([sys.executable, os.path.join(HERE, "bench.py"), "--measure", kind, arguments],
                       env=environment(threads, kernels), check=True)


def quick(options, threads):
    for size, batches, passes in (("a", 5, 2), ("p", 3, 1)):
        measure(options, "train", threads, size=size, impl="custom", arch="search", batches=batches, passes=passes,
                optimizer=options.optimizer)
    for beam, batch, sentences in ((1, 1, 100), (1, 64, 1000), (5, 1, 50), (5, 64, 500)):
        measure(options, "decode", threads, model=options.model, beam=beam, batch=batch, sentences=sentences,
                passes=1)


def train_grid(options, threads):
    for size in options.size:
        for arch in options.arch:
            for impl in options.impl:
                measure(options, "train", threads, size=size, impl=impl, arch=arch, batches=options.batches,
                        passes=options.passes, optimizer=options.optimizer)


def decode_grid(options, threads):
    for beam in options.beam:
        for batch in options.batch:
            measure(options, "decode", threads, model=options.model, beam=beam, batch=batch,
                    sentences=options.sentences, passes=options.passes)


GRIDS = {"quick": quick, "train": train_grid, "decode": decode_grid}


def names(text):
    return text.split(",")


def numbers(text):
    return [int(x) for x in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="quick", choices=GRIDS)
    data.add_text_option(parser)
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--size", type=names, default=["a", "p"], help="training: a, p")
    parser.add_argument("--impl", type=names, default=["custom"], help="training: custom, plain")
    parser.add_argument("--arch", type=names, default=["search"], help="training: search, encdec")
    parser.add_argument("--optimizer", default="adam", choices=["adam", "adadelta"])
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--model", default="a", help="translating: a, p (random weights) or a file of train.py")
    parser.add_argument("--beam", type=numbers, default=[1, 5])
    parser.add_argument("--batch", type=numbers, default=[1, 64])
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--wait", type=float, default=0, metavar="SECONDS",
                        help="wait that long at most for idle cores before each measurement")
    options = parser.parse_args()
    data.check_text_option(parser, options.text)
    if os.path.isfile(options.model):
        options.model = os.path.abspath(options.model)
    for threads in options.threads:
        GRIDS[options.what](options, threads)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--measure":
        MEASUREMENTS[sys.argv[2]](**json.loads(sys.argv[3]))
    else:
        main()
