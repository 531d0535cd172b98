"""The forward pass of `caption`: Xu et al. 2015, "Show, Attend and Tell".

A source is a square picture, one number 0xRRGGBB a pixel, row by row, and a 0 behind. Three convolutions of 3 x 3 in
steps of 2 describe it; the rest is the paper's. Or it is `features` descriptions, a number the upper 24 bits of a float.
"""
import numpy as np

from parameters import output, output_shapes, sigmoid
from recurrent import lstm, lstm_shapes

CONVOLUTIONS = 3


def shapes(c):
    m, n, A, D = c["dim_emb"], c["dim_rnn"], c["dim_att"], c["dim_feature"]
    s, width = {}, 3
    for i in range(0 if c["features"] else CONVOLUTIONS):
        out = D // 2 ** (CONVOLUTIONS - 1 - i)
        s[f"encoder.{i + 1}.K"], s[f"encoder.{i + 1}.b"] = (out, 9 * width), (out,)
        width = out
    for part in "h", "c":
        s[f"start.W_{part}"], s[f"start.b_{part}"] = (n, D), (n,)
    s.update({
        "attention.W_a": (A, n), "attention.U_a": (A, D), "attention.b_a": (A,), "attention.v_a": (A,),
        "attention.w_beta": (1, n), "attention.b_beta": (1,),
        "target.embedding": (c["vocab_target"], m),
        **lstm_shapes("decoder", n, m), "decoder.C": (4 * n, D),
        "readout.L_h": (m, n), "readout.L_z": (m, D),
    })
    return {**s, **output_shapes(c, m)}


def convolve(x, K, b):
    """x (side, side, c): each second place, from the 9 around it, zeros outside."""
    side = x.shape[0]
    padded = np.zeros((side + 2, side + 2, x.shape[2]))
    padded[1:-1, 1:-1] = x
    y = np.zeros((side // 2, side // 2, len(b)))
    for row in range(side // 2):
        for col in range(side // 2):
            window = padded[2 * row:2 * row + 3, 2 * col:2 * col + 3]
            y[row, col] = np.maximum(K @ window.reshape(-1) + b, 0)
    return y


def describe(p, c, source):
    if c["features"]:
        return (np.array(source[:-1], dtype=np.uint32) << 8).view(np.float32).astype(float).reshape(c["features"], -1)
    side = c["picture_side"]
    colours = np.array(source[:-1]).reshape(side, side)
    x = np.stack([1 - (colours >> shift & 255) / 255 for shift in (16, 8, 0)], axis=2)
    for i in range(CONVOLUTIONS):
        x = convolve(x, p[f"encoder.{i + 1}.K"], p[f"encoder.{i + 1}.b"])
    return x.reshape(-1, x.shape[2])


def decode(p, c, source, target):
    a = describe(p, c, source)
    mean = a.mean(axis=0)
    h, memory = (np.tanh(p[f"start.W_{part}"] @ mean + p[f"start.b_{part}"]) for part in ("h", "c"))
    for i in range(len(target)):
        e = np.array([p["attention.v_a"] @ np.tanh(p["attention.W_a"] @ h + p["attention.U_a"] @ place + p["attention.b_a"])
                      for place in a])
        alpha = np.exp(e - e.max())
        alpha /= alpha.sum()
        beta = sigmoid(p["attention.w_beta"][0] @ h + p["attention.b_beta"][0])
        z = beta * (a[alpha.argmax()] if c["hard_attention"] else alpha @ a)
        before = p["target.embedding"][target[i - 1]] if i > 0 else np.zeros(c["dim_emb"])
        h, memory = lstm(p, "decoder", "lstm", before, (h, memory), z)
        hidden = np.tanh(p["readout.L_h"] @ h + before + p["readout.L_z"] @ z)
        yield output(p, c, hidden), h, z, alpha
