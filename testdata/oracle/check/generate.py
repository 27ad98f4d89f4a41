"""Writes check.json: what estimators.py says of a few small arrays.

Needs numpy, scipy and scikit-learn. Run it in this folder: python generate.py
Made with scikit-learn 1.9.1, scipy 1.17.1 and numpy 2.4.6.
"""

import json

import numpy as np
from estimators import atc, cbpe, cot, doc, em, inverse_temperature, isotonic, negative_entropy, tempered

rng = np.random.default_rng(39)


def drawn(n, shares, sharp, digits):
    """Labels, and posteriors that overlap: `digits` decimals, so that some are equal."""
    y = rng.choice(len(shares), n, p=shares)
    Z = rng.normal(size=(n, len(shares)))
    Z[np.arange(n), y] += 1.5
    P = np.exp(sharp * Z)
    P = np.round(P / P.sum(1, keepdims=True), digits)
    P[:, -1] = np.round(1 - P[:, :-1].sum(1), digits)
    return y, np.maximum(P, 0)


def case(name, source, target, rows, sharp, digits):
    y, P = drawn(rows[0], source, sharp, digits)
    _, T = drawn(rows[1], target, sharp, digits)
    said, right = T.argmax(1), P.argmax(1) == y
    shares = np.bincount(y, minlength=len(source)) / len(y)
    a = inverse_temperature(P, y)
    calibrated = isotonic(P, y)
    Q, W, R = calibrated(T), tempered(T, a), tempered(P, a)
    new, posteriors = em(W, shares)
    return {
        "name": name, "reference": P.tolist(), "labels": y.tolist(), "target": T.tolist(),
        "isotonic": {"target": Q.tolist(), "reference": calibrated(P).tolist()},
        "inverse_temperature": a,
        "cbpe": cbpe(Q, said), "cbpe_temperature": cbpe(W, said),
        "atc_confidence": atc(R.max(1), right, W.max(1)), "atc_entropy": atc(negative_entropy(R), right, negative_entropy(W)),
        "doc": doc(P.max(1), right, T.max(1)), "doc_temperature": doc(R.max(1), right, W.max(1)),
        "cot": cot(T, shares), "cot_temperature": cot(W, shares),
        "em": {"shares": new.tolist(), "accuracy": cbpe(posteriors, said)},
    }  # fmt: skip


cases = [
    case("two classes", [0.6, 0.4], [0.3, 0.7], (60, 40), 1.0, 3),
    case("two classes, many equal scores", [0.5, 0.5], [0.9, 0.1], (50, 30), 2.0, 1),
    case("three classes", [0.5, 0.3, 0.2], [0.2, 0.2, 0.6], (80, 50), 1.5, 3),
    case("five classes, too sure", [0.2] * 5, [0.6, 0.1, 0.1, 0.1, 0.1], (70, 40), 3.0, 4),
]


def brief(x):
    if isinstance(x, list):
        return [brief(v) for v in x]
    return {k: brief(v) for k, v in x.items()} if isinstance(x, dict) else float(f"{x:.10g}") if isinstance(x, float) else x


with open("check.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(brief(c)) for c in cases) + "\n]\n")
