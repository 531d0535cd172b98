"""The forward pass of the presets `transformer` and `transformer-small`.

    Vaswani et al. 2017, "Attention Is All You Need"

Letters: d width of words and layers, F hidden layer of the network on each position. A matrix W_kv has the rows of the
keys, then those of the values.
"""
import math

import numpy as np

from parameters import output, output_shapes


def attention_shapes(unit, d):
    s = {unit + ".W_q": (d, d), unit + ".W_kv": (2 * d, d), unit + ".W_o": (d, d)}
    return {**s, unit + ".norm.gain": (d,), unit + ".norm.b": (d,)}


def network_shapes(unit, d, F):
    s = {unit + ".W_1": (F, d), unit + ".b_1": (F,), unit + ".W_2": (d, F), unit + ".b_2": (d,)}
    return {**s, unit + ".norm.gain": (d,), unit + ".norm.b": (d,)}


def decoder_layers(c):
    return c["dec_layers"] or c["layers"]


def encoder_shapes(c):
    d, s = c["dim_emb"], {}
    for layer in range(1, c["layers"] + 1):
        s.update(attention_shapes(f"encoder.{layer}.attention", d))
        s.update(network_shapes(f"encoder.{layer}.network", d, c["dim_ffn"]))
    return s


def shapes(c):
    d, F = c["dim_emb"], c["dim_ffn"]
    s = {"target.embedding": (c["vocab_target"], d)}
    if not c["tied_source"]:
        s["source.embedding"] = (c["vocab_source"], d)
    s.update(encoder_shapes(c))
    for layer in range(1, decoder_layers(c) + 1):
        s.update(attention_shapes(f"decoder.{layer}.attention", d))
        s.update(attention_shapes(f"decoder.{layer}.look", d))
        s.update(network_shapes(f"decoder.{layer}.network", d, F))
    return {**s, **output_shapes(c, d)}


def wave(position, d):
    """sin and cos in turns, of position / 10000^(2k/d)."""
    return np.array([(math.cos if i % 2 else math.sin)(position / 10000 ** ((i - i % 2) / d)) for i in range(d)])


def place(embedded, d):
    return np.array([math.sqrt(d) * e + wave(position, d) for position, e in enumerate(embedded)])


def softmax(e):
    a = np.exp(e - e.max(axis=-1, keepdims=True))
    return a / a.sum(axis=-1, keepdims=True)


def norm(p, unit, z):
    mean = z.mean(axis=-1, keepdims=True)
    variance = ((z - mean) ** 2).mean(axis=-1, keepdims=True)
    return p[unit + ".norm.gain"] * (z - mean) / np.sqrt(variance + 1e-5) + p[unit + ".norm.b"]


def attend(p, unit, heads, x, z, causal):
    """norm(x + attention of the rows of x to those of z), and the weights of every head."""
    d = x.shape[1]
    W_k, W_v = np.split(p[unit + ".W_kv"], 2)
    q, k, v = x @ p[unit + ".W_q"].T, z @ W_k.T, z @ W_v.T
    contexts, weights = [], []
    for own in np.split(np.arange(d), heads):
        e = q[:, own] @ k[:, own].T / math.sqrt(len(own))
        if causal:
            e = np.where(np.arange(len(z))[None, :] <= np.arange(len(x))[:, None], e, -np.inf)
        weights.append(softmax(e))
        contexts.append(weights[-1] @ v[:, own])
    return norm(p, unit, x + np.concatenate(contexts, axis=1) @ p[unit + ".W_o"].T), weights


def network(p, unit, x):
    hidden = np.maximum(x @ p[unit + ".W_1"].T + p[unit + ".b_1"], 0)
    return norm(p, unit, x + hidden @ p[unit + ".W_2"].T + p[unit + ".b_2"])


def encode(p, c, source):
    E_x = p["target.embedding" if c["tied_source"] else "source.embedding"]
    h = place([E_x[word] for word in source], c["dim_emb"])
    for layer in range(1, c["layers"] + 1):
        h, _ = attend(p, f"encoder.{layer}.attention", c["heads"], h, h, causal=False)
        h = network(p, f"encoder.{layer}.network", h)
    return h


def decode(p, c, source, target):
    d, heads = c["dim_emb"], c["heads"]
    h = encode(p, c, source)
    before = [np.zeros(d)] + [p["target.embedding"][word] for word in target[:-1]]  # E y_0 = 0
    x, shown, layers = place(before, d), None, decoder_layers(c)
    for layer in range(1, layers + 1):
        x, _ = attend(p, f"decoder.{layer}.attention", heads, x, x, causal=True)
        x, weights = attend(p, f"decoder.{layer}.look", heads, x, h, causal=False)
        x = network(p, f"decoder.{layer}.network", x)
        if layer == (c["align_layer"] or max(layers - 1, 1)):
            shown = weights[c["align_head"] - 1] if c["align_head"] else np.mean(weights, axis=0)
    for state, a in zip(x, shown):
        yield output(p, c, state), state, None, a
