#!/usr/bin/env python3
"""The forward pass of the presets, a second source in NumPy.

Written from the equations (docs/equations.md), not from the C code: float64, one sentence at a time, one line
per line of the paper. A family of models is one module of this folder. Running this writes forward.json beside it,
which the tests of the C library read.
"""
import json
import pathlib

import numpy as np

import caption
import coverage
import recurrent
import rnnsearch
import transformer
from parameters import filled, fnv1a64, splitmix64, usual_scale
from rnnsearch import attention

END = 0  # </s>, the last symbol of every sentence, counted like a word
SMOOTHING = 0.1

# Of each preset: names and shapes of all parameters; what it gives at each step.
FAMILIES = {
    "caption": (caption.shapes, caption.decode),
    "rnnsearch": (rnnsearch.shapes, rnnsearch.decode),
    "rnnencdec": (rnnsearch.shapes, rnnsearch.decode),
    "transformer": (transformer.shapes, transformer.decode),
    "gnmt": (recurrent.gnmt_shapes, recurrent.gnmt),
    "luong": (recurrent.luong_shapes, recurrent.luong),
    "seq2seq": (recurrent.seq2seq_shapes, recurrent.seq2seq),
}


# ---- the cases ----------------------------------------------------------------------------------------------

SENTENCES = [
    ([3, 7, 2, 0], [5, 12, 4, 9, 0]),
    ([10, 1, 6, 6, 8, 4, 0], [2, 2, 1, 0]),
    ([9, 0], [11, 3, 8, 7, 10, 6, 1, 0]),
    ([0], [0]),
    ([5, 4, 3, 2, 10, 9, 8, 7, 0], [6, 0]),
]


def run(decode, p, c, source, target):
    """Teacher-forced pass over one sentence pair, with all that a test may want to compare."""
    assert source[-1] == END and target[-1] == END
    K, epsilon = c["vocab_target"], c["label_smoothing"]
    log_probs, smoothed, steps = [], 0.0, list(decode(p, c, source, target))
    for (log_p, *_), word in zip(steps, target):
        log_probs.append(log_p[word])
        wanted = np.full(K, epsilon / K)
        wanted[word] += 1 - epsilon
        smoothed -= wanted @ log_p
    result = {
        "source": source,
        "target": target,
        "log_probs": log_probs,
        "log_prob": sum(log_probs),
        "smoothed_loss": smoothed,
        "states": [s for _, s, _, _ in steps],
        "first_log_distribution": steps[0][0],
    }
    for name, which in (("contexts", 2), ("attention", 3)):
        if steps[0][which] is not None:
            result[name] = [step[which] for step in steps]
    return result


def config(preset, **changed):
    """Small widths, all different; what a preset has not it does not read."""
    usual = {
        "preset": preset,
        "vocab_source": 11,
        "vocab_target": 13,
        "dim_emb": 5,
        "dim_rnn": 4,
        "output_rank": 0,
        "tied_target": False,
        "tied_source": False,
        "label_smoothing": SMOOTHING,
    }
    own = {
        "rnnencdec": {
            "dim_dec": 6,
            "dim_maxout": 4,
            "decoder_order": "look-first",
            "reset": "before",
            "layer_norm": "none",
            "encoder_transition": 0,
            "decoder_transition": 0,
        },
        "seq2seq": {"layers": 2, "cell": "lstm", "reverse_source": True},
    }
    own["luong"] = {
        **own["seq2seq"],
        "attention": "global",
        "attention_window": 2,
        "score": "general",
        "max_location": 5,
        "dim_att": 3,
        "input_feeding": True,
    }
    once = {**coverage.options(), "lexical_model": False}  # of decoders that look once a step
    own["luong"].update(once)
    own["gnmt"] = {**once, "layers": 4, "cell": "lstm-linear", "residual_from": 3, "dim_att": 3}
    own["transformer"] = {
        "dim_emb": 6,
        "layers": 2,
        "dec_layers": 0,
        "heads": 2,
        "dim_ffn": 7,
        "align_layer": 0,
        "align_head": 0,
    }
    own["caption"] = {"vocab_source": 2**24, "dim_att": 3, "dim_feature": 8, "picture_side": 16, "features": 0,
                      "hard_attention": False}
    own["rnnsearch"] = {**own["rnnencdec"], **once, "dim_att": 3, "decoder_start": "backward"}
    c = {**usual, **own[preset]}
    assert all(key in c for key in changed)
    return {**c, **changed}


def stored(c):
    """The configuration as a model's file has it: without what its choices leave idle."""
    idle = coverage.idle(c)
    if "score" in c:
        idle |= {"attention_window"} if c["attention"] == "global" else set()
        idle |= {"dim_att"} if c["score"] != "concat" else set()
        idle |= {"max_location"} if c["score"] != "location" else set()
    if c.get("decoder_order") == "look-first":
        idle |= {"decoder_transition"}
    if "picture_side" in c:
        idle |= {"tied_source"} | ({"picture_side"} if c["features"] else set())
    return {key: value for key, value in c.items() if key not in idle}


def source_of(c, i, words):
    """Sentence i, or as many pixels of any colour as the model reads."""
    if "picture_side" not in c:
        return words
    if c["features"]:  # from 1/8 to 1/2
        return [0x3E0000 + (splitmix64(1000 * i + k) >> 48) for k in range(c["features"] * c["dim_feature"])] + [END]
    return [splitmix64(1000 * i + k) >> 40 for k in range(c["picture_side"] ** 2)] + [END]


def case(name, c):
    shapes, decode = FAMILIES[c["preset"]]
    s = shapes(c)
    p = {key: filled(key, shape, usual_scale(key, shape)) for key, shape in s.items()}
    sentences = [run(decode, p, c, source_of(c, i, source), target) for i, (source, target) in enumerate(SENTENCES)]
    return {
        "name": name,
        "config": stored(c),
        "parameters": s,
        "sentences": sentences,
        "loss": -sum(r["log_prob"] for r in sentences),
        "smoothed_loss": sum(r["smoothed_loss"] for r in sentences),
    }


def model_cases():
    grid = [(order, reset) for order in ("look-first", "update-first") for reset in ("before", "after")]
    for preset in ("rnnsearch", "rnnencdec"):
        for order, reset in grid:
            yield case(f"{preset} {order} {reset}", config(preset, decoder_order=order, reset=reset))
    for preset, order in (("rnnsearch", "look-first"), ("rnnsearch", "update-first"), ("rnnencdec", "look-first")):
        way = {"decoder_order": order}
        yield case(f"{preset} {order} rank", config(preset, output_rank=3, **way))
        yield case(f"{preset} {order} tied", config(preset, tied_target=True, dim_maxout=5, **way))
        yield case(f"{preset} {order} rank tied", config(preset, reset="after", tied_target=True, output_rank=5, **way))
    yield case("rnnsearch all widths equal", config("rnnsearch", dim_emb=4, dim_dec=4, dim_att=4))
    for reset in ("before", "after"):
        yield case(f"rnnsearch conditional {reset}", config("rnnsearch", decoder_order="conditional", reset=reset))
    conditional = {"decoder_order": "conditional", "decoder_start": "mean", "reset": "after"}
    yield case("rnnsearch conditional mean", config("rnnsearch", **conditional, tied_target=True, dim_maxout=5))
    yield case("rnnsearch conditional coverage", config("rnnsearch", **conditional, coverage="neural"))
    for where in ("encoder", "all"):
        yield case(f"rnnsearch conditional norm {where}", config("rnnsearch", **conditional, layer_norm=where))
    for order in ("look-first", "update-first"):
        for preset in ("rnnsearch", "rnnencdec"):
            way = {"decoder_order": order, "reset": "after", "layer_norm": "all"}
            yield case(f"{preset} {order} norm", config(preset, **way))
    deep = {"encoder_transition": 1, "decoder_transition": 2}
    yield case("rnnsearch conditional deep", config("rnnsearch", **{**conditional, "reset": "before"}, **deep))
    yield case("rnnsearch conditional deep norm", config("rnnsearch", **conditional, **deep, layer_norm="all"))
    yield case("rnnencdec update-first deep", config("rnnencdec", decoder_order="update-first", **deep))
    yield case("seq2seq", config("seq2seq"))
    yield case("seq2seq forwards", config("seq2seq", reverse_source=False, layers=3))
    yield case("seq2seq linear", config("seq2seq", cell="lstm-linear", layers=1, output_rank=3))
    yield case("seq2seq tied", config("seq2seq", dim_rnn=5, tied_target=True))
    yield case("luong", config("luong"))
    yield case("luong dot", config("luong", score="dot", input_feeding=False, layers=1))
    yield case("luong concat", config("luong", score="concat", reverse_source=False))
    yield case("luong location", config("luong", score="location", layers=3))
    yield case("luong local-m", config("luong", attention="local-m", cell="lstm-linear"))
    yield case("luong local-p", config("luong", attention="local-p", attention_window=3))
    yield case("luong local-p concat", config("luong", attention="local-p", score="concat", attention_window=1, output_rank=3))
    yield case("gnmt", config("gnmt"))
    yield case("gnmt of one layer", config("gnmt", layers=1, cell="lstm", residual_from=0))
    yield case("gnmt tied", config("gnmt", layers=3, cell="lstm", dim_rnn=5, tied_target=True))
    for kind in ("linguistic", "fertility", "neural"):
        for preset in ("rnnsearch", "luong", "gnmt"):
            yield case(f"{preset} {kind} coverage", config(preset, coverage=kind, dim_coverage=2))
    yield case("rnnsearch coverage update-first", config("rnnsearch", coverage="neural", decoder_order="update-first"))
    yield case("luong dot coverage", config("luong", coverage="neural", score="dot", attention="local-m"))
    yield case("luong concat coverage", config("luong", coverage="fertility", score="concat", layers=1))
    for preset in ("rnnsearch", "luong", "gnmt"):
        yield case(f"{preset} lexical", config(preset, lexical_model=True))
    yield case("rnnsearch lexical tied", config("rnnsearch", lexical_model=True, tied_target=True, dim_maxout=5, reset="after"))
    yield case("luong lexical rank", config("luong", lexical_model=True, output_rank=3, attention="local-p", layers=1))
    yield case("transformer", config("transformer"))
    yield case("transformer of three heads", config("transformer", heads=3, dec_layers=3, align_layer=3, align_head=2))
    one = {"vocab_source": 13, "tied_source": True, "tied_target": True}
    yield case("transformer tied", config("transformer", layers=1, heads=1, align_head=1, **one))
    yield case("caption", config("caption"))
    yield case("caption hard", config("caption", hard_attention=True, output_rank=3))
    yield case("caption of one place", config("caption", picture_side=8, tied_target=True))
    yield case("caption of features", config("caption", features=5))
    yield case("transformer tied rank", config("transformer", output_rank=6, dec_layers=1, **one))


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
