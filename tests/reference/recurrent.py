"""The forward pass of the presets made of stacked long short-term memories.

    Sutskever, Vinyals, Le 2014, "Sequence to Sequence Learning with Neural Networks"           `seq2seq`

Letters: m embedding, n state, K_x and K_y vocabularies. A matrix W, U or C of a memory has the rows of the gates i, f
and o, then those of the candidate g.
"""
import numpy as np

from parameters import output, output_shapes, sigmoid


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
        x = p["target.embedding"][target[i - 1]] if i > 0 else np.zeros(c["dim_emb"])
        for layer in range(c["layers"]):
            states[layer] = lstm(p, f"decoder.{layer + 1}", c["cell"], x, states[layer])
            x = states[layer][0]
        yield output(p, c, x), x, None, None
