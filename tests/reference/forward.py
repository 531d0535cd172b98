#!/usr/bin/env python3
"""The forward pass of the presets `rnnsearch` and `rnnencdec`, a second source in NumPy.

Written from the equations (docs/equations.md), not from the C code: float64, one sentence at a time, one line
per line of the paper. Running it writes forward.json beside it, which the tests of the C library read.

    Bahdanau, Cho, Bengio 2015, "Neural Machine Translation by Jointly Learning to Align and Translate"
    Cho et al. 2014, "Learning Phrase Representations using RNN Encoder-Decoder ..."

Letters: m embedding, n encoder state of one direction, d decoder state, D annotation (2n, or n for `rnnencdec`),
A hidden layer of the alignment model, l maxout units, K_x and K_y vocabularies. Matrices act as y = W x and are
laid out row by row; a matrix named _zr has the rows of z (update gate), then those of r (reset gate).
"""
import json
import math
import pathlib

import numpy as np

END = 0  # </s>, the last symbol of every sentence, counted like a word
SMOOTHING = 0.1


# ---- parameters: numbers by formula, so that the C test fills in the same ----------------------------------


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


def shapes(c):
    """Names and shapes of all parameters of a configuration."""
    m, n, d, l = c["dim_emb"], c["dim_rnn"], c["dim_dec"], c["dim_maxout"]
    K_x, K_y, rank = c["vocab_source"], c["vocab_target"], c["output_rank"]
    search = c["preset"] == "rnnsearch"
    D = 2 * n if search else n
    s = {"source.embedding": (K_x, m), "source.embedding.b": (m,)}
    for direction in ["forward", "backward"] if search else ["forward"]:
        s["encoder." + direction + ".W_zr"] = (2 * n, m)
        s["encoder." + direction + ".W"] = (n, m)
        s["encoder." + direction + ".U_zr"] = (2 * n, n)
        s["encoder." + direction + ".U"] = (n, n)
        s["encoder." + direction + ".b"] = (n,)
    s["decoder.initial.W_s"] = (d, n)
    s["decoder.initial.b"] = (d,)
    if search:
        s["attention.W_a"] = (c["dim_att"], d)
        s["attention.U_a"] = (c["dim_att"], D)
        s["attention.v_a"] = (c["dim_att"],)
    s["target.embedding"] = (K_y, m)
    s["target.embedding.b"] = (m,)
    s["decoder.gru.W_zr"] = (2 * d, m)
    s["decoder.gru.W"] = (d, m)
    s["decoder.gru.U_zr"] = (2 * d, d)
    s["decoder.gru.U"] = (d, d)
    s["decoder.gru.C_zr"] = (2 * d, D)
    s["decoder.gru.C"] = (d, D)
    s["decoder.gru.b"] = (d,)
    s["readout.U_o"] = (2 * l, d)
    s["readout.V_o"] = (2 * l, m)
    s["readout.C_o"] = (2 * l, D)
    s["readout.b"] = (2 * l,)
    if rank:
        s["output.W_1"] = (rank, l)
    width = rank if rank else l
    if c["tied_target"]:
        assert width == m, "tied target embeddings need a readout of the embedding's width"
    else:
        s["output.W_o"] = (K_y, width)
    s["output.b"] = (K_y,)
    return s


# ---- the equations ------------------------------------------------------------------------------------------


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def gru(p, unit, reset, x, h, c=None):
    """One step of the gated unit `unit` from state h with input x and, in the decoder, context c.

    z multiplies the new candidate. The only bias is the candidate's.
    """
    size = len(h)
    W_z, W_r = np.split(p[unit + ".W_zr"], 2)
    U_z, U_r = np.split(p[unit + ".U_zr"], 2)
    W, U, b = p[unit + ".W"], p[unit + ".U"], p[unit + ".b"]
    from_context_z = from_context_r = from_context = np.zeros(size)
    if c is not None:
        C_z, C_r = np.split(p[unit + ".C_zr"], 2)
        from_context_z, from_context_r, from_context = C_z @ c, C_r @ c, p[unit + ".C"] @ c
    z = sigmoid(W_z @ x + U_z @ h + from_context_z)
    r = sigmoid(W_r @ x + U_r @ h + from_context_r)
    if reset == "before":
        candidate = np.tanh(W @ x + U @ (r * h) + from_context + b)
    else:
        candidate = np.tanh(W @ x + r * (U @ h) + from_context + b)
    return (1 - z) * h + z * candidate


def encode(p, c, source):
    """Annotations (T, D), the initial decoder state, and the fixed context (None where there is attention)."""
    n, T = c["dim_rnn"], len(source)
    E_x = [p["source.embedding"][word] + p["source.embedding.b"] for word in source]
    forward = []
    h = np.zeros(n)
    for j in range(T):
        h = gru(p, "encoder.forward", c["reset"], E_x[j], h)
        forward.append(h)
    W_s, b = p["decoder.initial.W_s"], p["decoder.initial.b"]
    if c["preset"] == "rnnencdec":
        summary = forward[T - 1]
        return np.array(forward), np.tanh(W_s @ summary + b), summary
    backward = [None] * T
    h = np.zeros(n)
    for j in reversed(range(T)):
        h = gru(p, "encoder.backward", c["reset"], E_x[j], h)
        backward[j] = h
    annotations = np.array([np.concatenate([forward[j], backward[j]]) for j in range(T)])
    return annotations, np.tanh(W_s @ backward[0] + b), None


def attention(s, h, W_a, U_a, v_a):
    """Energies e_j = v_a . tanh(W_a s + U_a h_j), their softmax, and the context sum_j a_j h_j."""
    e = np.array([v_a @ np.tanh(W_a @ s + U_a @ h_j) for h_j in h])
    weights = np.exp(e - e.max())
    weights = weights / weights.sum()
    context = sum(a_j * h_j for a_j, h_j in zip(weights, h))
    return e, weights, context


def readout(p, c, s, previous, context):
    """log p(y | s, previous word's embedding, context) for the whole target vocabulary."""
    before_max = p["readout.U_o"] @ s + p["readout.V_o"] @ previous + p["readout.C_o"] @ context + p["readout.b"]
    t = np.array([max(before_max[2 * k], before_max[2 * k + 1]) for k in range(c["dim_maxout"])])
    if c["output_rank"]:
        t = p["output.W_1"] @ t
    W_o = p["target.embedding"] if c["tied_target"] else p["output.W_o"]
    logits = W_o @ t + p["output.b"]
    top = logits.max()
    return logits - top - math.log(np.exp(logits - top).sum())


def run(p, c, source, target):
    """Teacher-forced pass over one sentence pair, with all that a test may want to compare."""
    assert source[-1] == END and target[-1] == END
    annotations, s, fixed = encode(p, c, source)
    E_y = [p["target.embedding"][word] + p["target.embedding.b"] for word in target]
    K = c["vocab_target"]
    epsilon = c["label_smoothing"]
    log_probs, weights, contexts, states, smoothed, first = [], [], [], [], 0.0, None
    for i, word in enumerate(target):
        previous = E_y[i - 1] if i > 0 else np.zeros(c["dim_emb"])  # E y_0 = 0: no word and no bias
        if fixed is None:
            _, a, context = attention(s, annotations, p["attention.W_a"], p["attention.U_a"], p["attention.v_a"])
            weights.append(a)
        else:
            context = fixed
        if c["decoder_order"] == "update-first":
            s = gru(p, "decoder.gru", c["reset"], previous, s, context)
        log_p = readout(p, c, s, previous, context)
        states.append(s)
        contexts.append(context)
        log_probs.append(log_p[word])
        wanted = np.full(K, epsilon / K)
        wanted[word] += 1 - epsilon
        smoothed -= wanted @ log_p
        if i == 0:
            first = log_p
        if c["decoder_order"] == "look-first":
            s = gru(p, "decoder.gru", c["reset"], E_y[i], s, context)
    result = {
        "source": source,
        "target": target,
        "log_probs": log_probs,
        "log_prob": sum(log_probs),
        "smoothed_loss": smoothed,
        "states": states,
        "contexts": contexts,
        "first_log_distribution": first,
    }
    if fixed is None:
        result["attention"] = weights
    return result


# ---- the cases ----------------------------------------------------------------------------------------------

SENTENCES = [
    ([3, 7, 2, 0], [5, 12, 4, 9, 0]),
    ([10, 1, 6, 6, 8, 4, 0], [2, 2, 1, 0]),
    ([9, 0], [11, 3, 8, 7, 10, 6, 1, 0]),
    ([0], [0]),
    ([5, 4, 3, 2, 10, 9, 8, 7, 0], [6, 0]),
]


def config(preset, order, reset, **changed):
    c = {
        "preset": preset,
        "vocab_source": 11,
        "vocab_target": 13,
        "dim_emb": 5,
        "dim_rnn": 4,
        "dim_dec": 6,
        "dim_att": 3,
        "dim_maxout": 4,
        "output_rank": 0,
        "decoder_order": order,
        "reset": reset,
        "tied_target": False,
        "label_smoothing": SMOOTHING,
    }
    assert all(key in c for key in changed)
    return {**c, **changed}


def case(name, c):
    s = shapes(c)
    p = {key: filled(key, shape, usual_scale(key, shape)) for key, shape in s.items()}
    sentences = [run(p, c, source, target) for source, target in SENTENCES]
    return {
        "name": name,
        "config": c,
        "parameters": s,
        "sentences": sentences,
        "loss": -sum(r["log_prob"] for r in sentences),
        "smoothed_loss": sum(r["smoothed_loss"] for r in sentences),
    }


def model_cases():
    grid = [(order, reset) for order in ("look-first", "update-first") for reset in ("before", "after")]
    for preset in ("rnnsearch", "rnnencdec"):
        for order, reset in grid:
            yield case(f"{preset} {order} {reset}", config(preset, order, reset))
    for preset, order in (("rnnsearch", "look-first"), ("rnnsearch", "update-first"), ("rnnencdec", "look-first")):
        wide = {"dim_maxout": 5}
        tall = {"output_rank": 5}
        yield case(f"{preset} {order} rank", config(preset, order, "before", output_rank=3))
        yield case(f"{preset} {order} tied", config(preset, order, "before", tied_target=True, **wide))
        yield case(f"{preset} {order} rank tied", config(preset, order, "after", tied_target=True, **tall))
    equal = {"dim_emb": 4, "dim_dec": 4, "dim_att": 4}
    yield case("rnnsearch all widths equal", config("rnnsearch", "look-first", "before", **equal))


def attention_case(name, inputs):
    energies, weights, context = attention(**inputs)
    shape = {
        "T": len(inputs["h"]),
        "d_dec": len(inputs["s"]),
        "d_enc": inputs["h"].shape[1],
        "d_att": len(inputs["v_a"]),
    }
    return {
        "name": name,
        "shape": shape,
        "inputs": inputs,
        "energies": energies,
        "weights": weights,
        "context": context,
    }


def attention_cases():
    for T, d_dec, d_enc, d_att in ((1, 1, 1, 1), (1, 3, 4, 2), (5, 3, 4, 2), (7, 6, 8, 5), (12, 4, 4, 4)):
        dims = {"s": (d_dec,), "h": (T, d_enc), "W_a": (d_att, d_dec), "U_a": (d_att, d_enc), "v_a": (d_att,)}
        inputs = {key: filled(key, shape, usual_scale(key, shape)) for key, shape in dims.items()}
        yield attention_case(f"formula T={T} d_dec={d_dec} d_enc={d_enc} d_att={d_att}", inputs)


def energy_cases():
    """Energies of +-1000 and +-1000.5, exact in float as well: every tanh is +-1 there."""
    ways = {
        "both ways": [1, -1, 1, -1],
        "all high": [1, 1, 1],
        "all low": [-1, -1, -1],
        "one high": [-1, -1, 1, -1],
    }
    for name, signs in ways.items():
        h = np.array([[50.0 * sign, j + 1.0] for j, sign in enumerate(signs)])
        yield attention_case(name, {
            "s": np.array([1.0, -1.0]),
            "h": h,
            "W_a": np.array([[2.0, 2.0]]),
            "U_a": np.array([[1.0, 0.0]]),
            "v_a": np.array([1000.0]),
        })
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1], [1, 1]])
    yield attention_case("1000 apart from a half", {
        "s": np.array([0.0]),
        "h": 50.0 * signs,
        "W_a": np.zeros((2, 1)),
        "U_a": np.eye(2),
        "v_a": np.array([1000.0, 0.5]),
    })


# ---- the file -----------------------------------------------------------------------------------------------


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.15g}")
    return value


def written(value, indent=0):
    """JSON with one line for each record that holds no record, so that a change shows as few lines."""
    pad = " " * indent
    if isinstance(value, dict) and value:
        rows = [f"{pad} {json.dumps(key)}: {written(item, indent + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{pad}}}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(pad + " " + written(item, indent + 1) for item in value) + f"\n{pad}]"
    return json.dumps(value)


def main():
    checked = ("source.embedding", "attention.v_a", "output.b")
    everything = {
        "about": "written by forward.py; natural logarithms; parameter values by the formula there",
        "hash": {name: f"{fnv1a64(name):016x}" for name in checked},
        "uniform": {name: filled(name, (4,), 1.0) for name in checked},
        "cases": list(model_cases()),
        "attention": list(attention_cases()),
        "energies": list(energy_cases()),
    }
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(written(plain(everything)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
