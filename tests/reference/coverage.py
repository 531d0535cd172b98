"""What a decoder remembers of where it looked, for every position of the source.

    Tu, Lu, Liu, Liu, Li 2016, "Modeling Coverage for Neural Machine Translation"

Letters: A width of keys, D of annotations, n of the state that looks, d numbers of coverage for each position. A matrix
or vector named _zr has the rows of z (update gate), then those of r (reset gate).
"""
import numpy as np

from parameters import sigmoid


def options():
    return {"coverage": "none", "dim_coverage": 10}


def idle(c):
    """Options that a configuration leaves idle."""
    return {"dim_coverage"} if c.get("coverage") != "neural" else set()


def shapes(c, A, D, n):
    kind, d = c["coverage"], c["dim_coverage"] if c["coverage"] == "neural" else 1
    s = {"attention.V_a": (A, d)} if kind != "none" else {}
    if kind == "fertility":
        s["coverage.U_f"] = (1, D)
    if kind == "neural":
        for rows, end in ((2 * d, "_zr"), (d, "")):
            s.update({f"coverage.w{end}": (rows, 1), f"coverage.H{end}": (rows, D)})
            s.update({f"coverage.S{end}": (rows, n), f"coverage.U{end}": (rows, d)})
        s["coverage.b"] = (d,)
    return s


class Coverage:
    def __init__(self, p, c, annotations):
        self.p, self.kind, self.annotations = p, c["coverage"], annotations
        self.C = np.zeros((len(annotations), c["dim_coverage"] if self.kind == "neural" else 1))

    def keys(self):
        """What is added to the key of every position."""
        if self.kind == "none":
            return np.zeros(len(self.annotations))[:, None]
        return np.array([self.p["attention.V_a"] @ C for C in self.C])

    def look(self, a, s):
        """The state s has looked with weights a."""
        for j, h in enumerate(self.annotations):
            if self.kind == "linguistic":
                self.C[j] += a[j]
            elif self.kind == "fertility":
                self.C[j] += a[j] / (2 * sigmoid(self.p["coverage.U_f"] @ h))
            elif self.kind == "neural":
                self.C[j] = self.unit(self.C[j], a[j], h, s)

    def unit(self, C, a, h, s):
        def given(end):
            w, H, S = (self.p[f"coverage.{name}{end}"] for name in "wHS")
            return w[:, 0] * a + H @ h + S @ s

        z, r = np.split(sigmoid(given("_zr") + self.p["coverage.U_zr"] @ C), 2)
        candidate = np.tanh(given("") + self.p["coverage.b"] + self.p["coverage.U"] @ (r * C))
        return (1 - z) * C + z * candidate
