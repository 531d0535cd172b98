"""The forward pass of the presets `rnnsearch` and `rnnencdec`.

    Bahdanau, Cho, Bengio 2015, "Neural Machine Translation by Jointly Learning to Align and Translate"
    Cho et al. 2014, "Learning Phrase Representations using RNN Encoder-Decoder ..."

Letters: m embedding, n encoder state of one direction, d decoder state, D annotation (2n, or n for `rnnencdec`),
A hidden layer of the alignment model, l maxout units, K_x and K_y vocabularies. Matrices act as y = W x and are
laid out row by row; a matrix named _zr has the rows of z (update gate), then those of r (reset gate).
"""
import numpy as np

import coverage
import lexical
from parameters import output, output_shapes, sigmoid


def shapes(c):
    """Names and shapes of all parameters of a configuration."""
    m, n, d, l = c["dim_emb"], c["dim_rnn"], c["dim_dec"], c["dim_maxout"]
    K_x, K_y = c["vocab_source"], c["vocab_target"]
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
        s.update(coverage.shapes(c, c["dim_att"], D, d))
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
    return {**s, **output_shapes(c, l)}


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


def embedded(p, c, side, words):
    return [p[side + ".embedding"][word, : c["dim_emb"]] + p[side + ".embedding.b"] for word in words]


def encode(p, c, source):
    """Annotations (T, D), the initial decoder state, and the fixed context (None where there is attention)."""
    n, T = c["dim_rnn"], len(source)
    E_x = embedded(p, c, "source", source)
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


def attention(s, h, W_a, U_a, v_a, more=None):
    """Energies e_j = v_a . tanh(W_a s + U_a h_j + more_j), their softmax, and the context sum_j a_j h_j."""
    more = np.zeros((len(h), 1)) if more is None else more
    e = np.array([v_a @ np.tanh(W_a @ s + U_a @ h_j + more_j) for h_j, more_j in zip(h, more)])
    weights = np.exp(e - e.max())
    weights = weights / weights.sum()
    context = sum(a_j * h_j for a_j, h_j in zip(weights, h))
    return e, weights, context


def readout(p, c, s, previous, context, l):
    """log p(y | s, previous word's embedding, context, lexical model) for the whole target vocabulary."""
    before_max = p["readout.U_o"] @ s + p["readout.V_o"] @ previous + p["readout.C_o"] @ context + p["readout.b"]
    t = np.array([max(before_max[2 * k], before_max[2 * k + 1]) for k in range(c["dim_maxout"])])
    return output(p, c, t, l)


def decode(p, c, source, target):
    """Of each step: log p of the target vocabulary, the state, the context, the attention (None without)."""
    annotations, s, fixed = encode(p, c, source)
    seen = None if fixed is not None else coverage.Coverage(p, c, annotations)
    E_x, E_y = embedded(p, c, "source", source), embedded(p, c, "target", target)
    for i in range(len(target)):
        previous = E_y[i - 1] if i > 0 else np.zeros(c["dim_emb"])  # E y_0 = 0: no word and no bias
        a, context = None, fixed
        if fixed is None:
            matrices = (p["attention.W_a"], p["attention.U_a"], p["attention.v_a"])
            _, a, context = attention(s, annotations, *matrices, seen.keys())
            seen.look(a, s)
        if c["decoder_order"] == "update-first":
            s = gru(p, "decoder.gru", c["reset"], previous, s, context)
        yield readout(p, c, s, previous, context, lexical.read(p, c, a, E_x)), s, context, a
        if c["decoder_order"] == "look-first":
            s = gru(p, "decoder.gru", c["reset"], E_y[i], s, context)
