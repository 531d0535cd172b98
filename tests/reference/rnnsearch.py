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


def unit_shapes(unit, width, input=0, context=0, normalised=False, gate_bias=False):
    """Of a gated unit; input 0: it reads nothing."""
    s = {}
    if input:
        s[unit + ".W_zr"] = (2 * width, input)
        s[unit + ".W"] = (width, input)
    if normalised:
        for name in ("U", "W") if input else ("U",):
            s[f"{unit}.g_{name}_zr"] = (2 * width,)
            s[f"{unit}.g_{name}"] = (width,)
        s[unit + ".b_U"] = (width,)
    if normalised or gate_bias:
        s[unit + ".b_zr"] = (2 * width,)
    s[unit + ".b"] = (width,)
    s[unit + ".U_zr"] = (2 * width, width)
    s[unit + ".U"] = (width, width)
    if context:
        s[unit + ".C_zr"] = (2 * width, context)
        s[unit + ".C"] = (width, context)
    return s


def deep_shapes(prefix, n, width, normalised):
    """Of n units without input, one after the other."""
    s = {}
    for i in range(n):
        s.update(unit_shapes(f"{prefix}.{i + 1}", width, normalised=normalised, gate_bias=True))
    return s


def shapes(c):
    """Names and shapes of all parameters of a configuration."""
    m, n, d, l = c["dim_emb"], c["dim_rnn"], c["dim_dec"], c["dim_maxout"]
    K_x, K_y = c["vocab_source"], c["vocab_target"]
    search, conditional = c["preset"] == "rnnsearch", c["decoder_order"] == "conditional"
    in_encoder, everywhere = c["layer_norm"] != "none", c["layer_norm"] == "all"
    D = 2 * n if search else n
    s = {"source.embedding": (K_x, m), "source.embedding.b": (m,)}
    for direction in ["forward", "backward"] if search else ["forward"]:
        s.update(unit_shapes("encoder." + direction, n, input=m, normalised=in_encoder))
        s.update(deep_shapes(f"encoder.{direction}.deep", c["encoder_transition"], n, in_encoder))
    s["decoder.initial.W_s"] = (d, D if c.get("decoder_start") == "mean" else n)
    s["decoder.initial.b"] = (d,)
    if search:
        s["attention.W_a"] = (c["dim_att"], d)
        s["attention.U_a"] = (c["dim_att"], D)
        s["attention.v_a"] = (c["dim_att"],)
        s.update(coverage.shapes(c, c["dim_att"], D, d))
    s["target.embedding"] = (K_y, m)
    s["target.embedding.b"] = (m,)
    s.update(unit_shapes("decoder.gru", d, input=m, context=0 if conditional else D, normalised=everywhere))
    if conditional:
        s.update(unit_shapes("decoder.gru2", d, input=D, normalised=everywhere, gate_bias=True))
    s.update(deep_shapes("decoder.deep", c["decoder_transition"], d, everywhere))
    s["readout.U_o"] = (2 * l, d)
    s["readout.V_o"] = (2 * l, m)
    s["readout.C_o"] = (2 * l, D)
    s["readout.b"] = (2 * l,)
    if everywhere:
        s["decoder.initial.g"] = (d,)
        s["readout.g"] = (2 * l,)
        if search:
            s.update({"attention.g_W": (c["dim_att"],), "attention.g_U": (c["dim_att"],), "attention.b": (c["dim_att"],)})
    return {**s, **output_shapes(c, l)}


def normalised(x):
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5)


def scaled(p, gain, x):
    """x, or where there is such a gain, gain * normalised(x)."""
    return p[gain] * normalised(x) if gain in p else x


def gru(p, unit, reset, x, h, c=None):
    """One step of the gated unit `unit` from state h with input x (None: no input) and context c (None: no context).

    z multiplies the new candidate. Without normalisation the only bias is the candidate's, where the input is a word.
    """
    size = len(h)
    given_zr, given = np.zeros(2 * size), np.zeros(size)
    if x is not None:
        given_zr, given = p[unit + ".W_zr"] @ x, p[unit + ".W"] @ x
    if c is not None:
        given_zr, given = given_zr + p[unit + ".C_zr"] @ c, given + p[unit + ".C"] @ c
    given_zr, given = scaled(p, unit + ".g_W_zr", given_zr), scaled(p, unit + ".g_W", given)
    z, r = np.split(
        sigmoid(given_zr + scaled(p, unit + ".g_U_zr", p[unit + ".U_zr"] @ h) + p.get(unit + ".b_zr", 0)), 2
    )
    U, b = p[unit + ".U"], p[unit + ".b"]
    if reset == "before":
        candidate = np.tanh(given + U @ (r * h) + b)
    else:
        candidate = np.tanh(given + r * (scaled(p, unit + ".g_U", U @ h) + p.get(unit + ".b_U", 0)) + b)
    return (1 - z) * h + z * candidate


def embedded(p, c, side, words):
    return [p[side + ".embedding"][word, : c["dim_emb"]] + p[side + ".embedding.b"] for word in words]


def transition(p, prefix, n, reset, h):
    for i in range(n):
        h = gru(p, f"{prefix}.{i + 1}", reset, None, h)
    return h


def encode(p, c, source):
    """Annotations (T, D), the initial decoder state, and the fixed context (None where there is attention)."""
    n, T = c["dim_rnn"], len(source)
    E_x = embedded(p, c, "source", source)

    def read(direction, x, h):
        h = gru(p, "encoder." + direction, c["reset"], x, h)
        return transition(p, f"encoder.{direction}.deep", c["encoder_transition"], c["reset"], h)

    def first(summary):
        return np.tanh(scaled(p, "decoder.initial.g", p["decoder.initial.W_s"] @ summary) + p["decoder.initial.b"])

    forward = []
    h = np.zeros(n)
    for j in range(T):
        h = read("forward", E_x[j], h)
        forward.append(h)
    if c["preset"] == "rnnencdec":
        summary = forward[T - 1]
        return np.array(forward), first(summary), summary
    backward = [None] * T
    h = np.zeros(n)
    for j in reversed(range(T)):
        h = read("backward", E_x[j], h)
        backward[j] = h
    annotations = np.array([np.concatenate([forward[j], backward[j]]) for j in range(T)])
    return annotations, first(annotations.mean(0) if c["decoder_start"] == "mean" else backward[0]), None


def attention(s, h, W_a, U_a, v_a, more=None):
    """Energies e_j = v_a . tanh(W_a s + U_a h_j + more_j), their softmax, and the context sum_j a_j h_j."""
    more = np.zeros((len(h), 1)) if more is None else more
    return look(W_a @ s, [U_a @ h_j + more_j for h_j, more_j in zip(h, more)], v_a, h)


def look(query, keys, v_a, h):
    """The same from what is added up: that of the state, and that of each position."""
    e = np.array([v_a @ np.tanh(query + key) for key in keys])
    weights = np.exp(e - e.max())
    weights = weights / weights.sum()
    context = sum(a_j * h_j for a_j, h_j in zip(weights, h))
    return e, weights, context


def readout(p, c, s, previous, context, l):
    """log p(y | s, previous word's embedding, context, lexical model) for the whole target vocabulary."""
    before_max = p["readout.U_o"] @ s + p["readout.V_o"] @ previous + p["readout.C_o"] @ context
    before_max = scaled(p, "readout.g", before_max) + p["readout.b"]
    t = np.array([max(before_max[2 * k], before_max[2 * k + 1]) for k in range(c["dim_maxout"])])
    return output(p, c, t, l)


def decode(p, c, source, target):
    """Of each step: log p of the target vocabulary, the state, the context, the attention (None without)."""
    annotations, s, fixed = encode(p, c, source)
    seen = None if fixed is not None else coverage.Coverage(p, c, annotations)
    order, reset, context, a = c["decoder_order"], c["reset"], fixed, None
    E_x, E_y = embedded(p, c, "source", source), embedded(p, c, "target", target)

    def attend(s):
        query = scaled(p, "attention.g_W", p["attention.W_a"] @ s)
        keys = [scaled(p, "attention.g_U", p["attention.U_a"] @ h) + p.get("attention.b", 0) for h in annotations]
        _, a, context = look(query, keys + seen.keys(), p["attention.v_a"], annotations)
        seen.look(a, s)
        return a, context

    def deepened(s):
        return transition(p, "decoder.deep", c["decoder_transition"], reset, s)

    for i in range(len(target)):
        previous = E_y[i - 1] if i > 0 else np.zeros(c["dim_emb"])  # E y_0 = 0: no word and no bias
        if order == "conditional":
            s = gru(p, "decoder.gru", reset, previous, s)
        if fixed is None:
            a, context = attend(s)
        if order == "update-first":
            s = deepened(gru(p, "decoder.gru", reset, previous, s, context))
        if order == "conditional":
            s = deepened(gru(p, "decoder.gru2", reset, context, s))
        yield readout(p, c, s, previous, context, lexical.read(p, c, a, E_x)), s, context, a
        if order == "look-first":
            s = gru(p, "decoder.gru", reset, E_y[i], s, context)
