"""The forward pass of the presets made of stacked long short-term memories.

    Sutskever, Vinyals, Le 2014, "Sequence to Sequence Learning with Neural Networks"                  `seq2seq`
    Luong, Pham, Manning 2015, "Effective Approaches to Attention-based Neural Machine Translation"    `luong`
    Wu et al. 2016, "Google's Neural Machine Translation System: ..."                                  `gnmt`

Letters: m embedding, n state, K_x and K_y vocabularies. A matrix W, U or C of a memory has the rows of the gates i, f
and o, then those of the candidate g.
"""
import numpy as np

import coverage
import lexical
from parameters import output, output_shapes, sigmoid
from rnnsearch import attention


def lstm_shapes(unit, n, width):
    return {unit + ".W": (4 * n, width), unit + ".b": (4 * n,), unit + ".U": (4 * n, n)}


def lstm(p, unit, cell, x, state, context=None):
    """One step of the memory `unit` from state (h, c), with input x and, where it has one, a context."""
    h, c = state
    before = p[unit + ".W"] @ x + p[unit + ".b"] + p[unit + ".U"] @ h
    if context is not None:
        before = before + p[unit + ".C"] @ context
    i, f, o, g = np.split(before, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * (np.tanh(c) if cell == "lstm" else c), c


def read(p, unit, cell, xs, n, backwards):
    """The state after each position, and the last one made."""
    states = [None] * len(xs)
    state = np.zeros(n), np.zeros(n)
    for j in reversed(range(len(xs))) if backwards else range(len(xs)):
        state = states[j] = lstm(p, unit, cell, xs[j], state)
    return states, state


# ---- seq2seq ------------------------------------------------------------------------------------------------


def seq2seq_shapes(c):
    m, n = c["dim_emb"], c["dim_rnn"]
    s = {"source.embedding": (c["vocab_source"], m), "target.embedding": (c["vocab_target"], m)}
    for side in "encoder", "decoder":
        for layer in range(c["layers"]):
            s.update(lstm_shapes(f"{side}.{layer + 1}", n, n if layer else m))
    return {**s, **output_shapes(c, n)}


def read_stack(p, c, source):
    """Outputs of the highest layer, and the states that all layers end with."""
    xs = [p["source.embedding"][word] for word in source]
    ends = []
    for layer in range(c["layers"]):
        states, end = read(p, f"encoder.{layer + 1}", c["cell"], xs, c["dim_rnn"], c["reverse_source"])
        xs = [h for h, _ in states]
        ends.append(end)
    return xs, ends


def seq2seq(p, c, source, target):
    _, states = read_stack(p, c, source)
    for i in range(len(target)):
        x = p["target.embedding"][target[i - 1], : c["dim_emb"]] if i > 0 else np.zeros(c["dim_emb"])
        for layer in range(c["layers"]):
            states[layer] = lstm(p, f"decoder.{layer + 1}", c["cell"], x, states[layer])
            x = states[layer][0]
        yield output(p, c, x), x, None, None


# ---- luong --------------------------------------------------------------------------------------------------


def luong_shapes(c):
    m, n, A = c["dim_emb"], c["dim_rnn"], c["dim_att"]
    s = seq2seq_shapes(c)
    if c["input_feeding"]:
        s["decoder.1.C"] = (4 * n, n)
    if c["score"] != "dot":
        s["attention.W_a"] = {"general": (n, n), "concat": (A, n), "location": (c["max_location"], n)}[c["score"]]
    if c["score"] == "concat":
        s["attention.U_a"] = (A, n)
        s["attention.v_a"] = (A,)
    if c["attention"] == "local-p":
        s["attention.W_p"] = (n, n)
        s["attention.v_p"] = (1, n)
    s.update(coverage.shapes(c, A if c["score"] == "concat" else n, n, n))
    s["readout.C_c"] = (n, n)
    s["readout.U_c"] = (n, n)
    return s


def score(p, c, h, annotations, more):
    """Energies of all positions, to whose keys coverage adds more; -inf where location scores none."""
    if c["score"] == "dot":
        return np.array([np.sum(h * (h_s + m)) for h_s, m in zip(annotations, more)])
    W_a = p["attention.W_a"]
    if c["score"] == "general":
        return np.array([np.sum(h * (W_a @ h_s + m)) for h_s, m in zip(annotations, more)])
    if c["score"] == "concat":
        v_a, U_a = p["attention.v_a"], p["attention.U_a"]
        return np.array([v_a @ np.tanh(W_a @ h + U_a @ h_s + m) for h_s, m in zip(annotations, more)])
    e = np.full(len(annotations), -np.inf)
    known = (W_a @ h)[: len(e)]
    e[: len(known)] = known
    return e


def look(p, c, h, annotations, more, step):
    """Weights a_t(s) and context of step 0, 1, 2, ..."""
    S, D = len(annotations), c["attention_window"]
    e, bell = score(p, c, h, annotations, more), np.ones(S)
    if c["attention"] != "global":
        centre = step
        if c["attention"] == "local-p":
            position = S * sigmoid(p["attention.v_p"][0] @ np.tanh(p["attention.W_p"] @ h))
            centre = int(np.floor(position))
            bell = np.exp(-((np.arange(S) - position) ** 2) / (2 * (D / 2) ** 2))
        centre = min(centre, S - 1)
        e = np.where(abs(np.arange(S) - centre) <= D, e, -np.inf)
    a = np.exp(e - e.max())
    a = a / a.sum() * bell
    return a, a @ annotations


def luong(p, c, source, target):
    annotations, states = read_stack(p, c, source)
    words = [p["source.embedding"][word] for word in source]
    annotations, said = np.array(annotations), np.zeros(c["dim_rnn"])
    seen = coverage.Coverage(p, c, annotations)
    for i in range(len(target)):
        x = p["target.embedding"][target[i - 1], : c["dim_emb"]] if i > 0 else np.zeros(c["dim_emb"])
        for layer in range(c["layers"]):
            fed = said if c["input_feeding"] and layer == 0 else None
            states[layer] = lstm(p, f"decoder.{layer + 1}", c["cell"], x, states[layer], fed)
            x = states[layer][0]
        a, context = look(p, c, x, annotations, seen.keys(), i)
        seen.look(a, x)
        said = np.tanh(p["readout.C_c"] @ context + p["readout.U_c"] @ x)
        yield output(p, c, said, lexical.read(p, c, a, words)), said, None, a


# ---- gnmt ---------------------------------------------------------------------------------------------------


def gnmt_shapes(c):
    m, n, A, L = c["dim_emb"], c["dim_rnn"], c["dim_att"], c["layers"]
    s = {"source.embedding": (c["vocab_source"], m), "target.embedding": (c["vocab_target"], m)}
    s.update(lstm_shapes("encoder.1.forward", n, m))
    s.update(lstm_shapes("encoder.1.backward", n, m))
    for layer in range(2, L + 1):
        s.update(lstm_shapes(f"encoder.{layer}", n, 2 * n if layer == 2 else n))
    D = n if L > 1 else 2 * n
    s.update({"attention.W_a": (A, n), "attention.U_a": (A, D), "attention.v_a": (A,)})
    s.update(coverage.shapes(c, A, D, n))
    for layer in range(1, L + 1):
        s.update(lstm_shapes(f"decoder.{layer}", n, n if layer > 1 else m))
        s[f"decoder.{layer}.C"] = (4 * n, D)
    return {**s, **output_shapes(c, n)}


def is_residual(c, layer):
    return c["residual_from"] > 0 and layer >= c["residual_from"]


def gnmt_encode(p, c, source):
    xs = [p["source.embedding"][word] for word in source]
    forward, _ = read(p, "encoder.1.forward", c["cell"], xs, c["dim_rnn"], False)
    backward, end = read(p, "encoder.1.backward", c["cell"], xs, c["dim_rnn"], True)
    xs, ends = [np.concatenate([f[0], b[0]]) for f, b in zip(forward, backward)], [end]
    for layer in range(2, c["layers"] + 1):
        states, end = read(p, f"encoder.{layer}", c["cell"], xs, c["dim_rnn"], False)
        xs = [m + x if is_residual(c, layer) else m for (m, _), x in zip(states, xs)]
        ends.append(end)
    return np.array(xs), ends


def gnmt(p, c, source, target):
    annotations, states = gnmt_encode(p, c, source)
    words = [p["source.embedding"][word] for word in source]
    matrices = (p["attention.W_a"], p["attention.U_a"], p["attention.v_a"])
    seen = coverage.Coverage(p, c, annotations)
    for i in range(len(target)):
        _, a, context = attention(states[0][0], annotations, *matrices, seen.keys())
        seen.look(a, states[0][0])
        x = p["target.embedding"][target[i - 1], : c["dim_emb"]] if i > 0 else np.zeros(c["dim_emb"])
        for layer in range(1, c["layers"] + 1):
            states[layer - 1] = lstm(p, f"decoder.{layer}", c["cell"], x, states[layer - 1], context)
            m = states[layer - 1][0]
            x = m + x if is_residual(c, layer) else m
        yield output(p, c, x, lexical.read(p, c, a, words)), x, None, a
