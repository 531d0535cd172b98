"""What a decoder says of the words that it looks at, whatever their context.

    Nguyen, Chiang 2018, "Improving Lexical Choice in Neural Machine Translation"
"""
import numpy as np


def shapes(c):
    m = c["dim_emb"]
    return {"lexical.W": (m, m), "lexical.b": (m,)} if c.get("lexical_model") else {}


def width(c):
    """Columns of W_lex, which stand behind those of the output matrix."""
    return c["dim_emb"] if c.get("lexical_model") else 0


def read(p, c, a, words):
    """l_i of the weights a and the embedded words; nothing without a lexical model."""
    if not c.get("lexical_model"):
        return np.zeros(0)
    f = np.tanh(sum(a_j * x for a_j, x in zip(a, words)))
    return np.tanh(p["lexical.W"] @ f + p["lexical.b"]) + f
