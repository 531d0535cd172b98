"""Parameter values by formula, so that the C test fills in the same."""
import math

import numpy as np

import lexical


def fnv1a64(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def splitmix64(x):
    z = (x + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def filled(name, shape, scale):
    """Element i, row by row, is scale * u with u in [-1, 1): 24 bits of splitmix64(hash of the name + i)."""
    start = fnv1a64(name)
    u = [(splitmix64((start + i) % 2**64) >> 40) * 2.0**-23 - 1.0 for i in range(math.prod(shape))]
    return scale * np.array(u).reshape(shape)


def usual_scale(name, shape):
    if len(shape) == 2:
        return 1.5 / math.sqrt(shape[1])
    return 1.0 if name in ("attention.v_a", "v_a") else 0.3


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def log_softmax(logits):
    top = logits.max()
    return logits - top - math.log(np.exp(logits - top).sum())


def output_shapes(c, width):
    """The output layer of every preset, from a readout of that width."""
    s = lexical.shapes(c)
    if c["output_rank"]:
        s["output.W_1"] = (c["output_rank"], width)
    width = c["output_rank"] or width
    if c["tied_target"]:
        assert width == c["dim_emb"], "tied target embeddings need a readout of the embedding's width"
        s["target.embedding"] = (c["vocab_target"], width + lexical.width(c))
    else:
        s["output.W_o"] = (c["vocab_target"], width + lexical.width(c))
    s["output.b"] = (c["vocab_target"],)
    return s


def output(p, c, t, l=np.zeros(0)):
    """log p over the target vocabulary, from the readout t and what the lexical model reads."""
    if c["output_rank"]:
        t = p["output.W_1"] @ t
    W = p["target.embedding"] if c["tied_target"] else p["output.W_o"]
    W_o, W_lex = W[:, : len(t)], W[:, len(t) :]
    return log_softmax(W_o @ t + W_lex @ l + p["output.b"])
