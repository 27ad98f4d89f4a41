"""Writes a small table, and what scikit-learn's scalers and transformers make of it.

Needs numpy and scikit-learn. Run it in this folder: python generate.py
Made with scikit-learn 1.9.1 and numpy 2.4.6.
"""
import json

import numpy as np
from sklearn.preprocessing import FunctionTransformer, QuantileTransformer, RobustScaler

rng = np.random.default_rng(20261122)


def table(n):
    x = np.column_stack([
        np.maximum(rng.normal(3, 2, n), -.9),  # a number that log1p takes
        rng.poisson(2, n),  # counts, with ties
        np.where(rng.random(n) < .9, 0, rng.exponential(50, n)),  # whose middle half is 0
        rng.lognormal(5, 2, n),  # many orders of magnitude
        np.where(rng.random(n) < .6, 0, rng.exponential(3, n)),  # of which more than half is 0
    ])
    return np.round(x, 3).astype(np.float32).astype(float)


def arcsinh(x, cofactor):
    return np.arcsinh(x / cofactor)


cases = []
for rows in (2, 5, 100, 127, 128, 129, 300):
    source, target = table(rows), table(12)
    target[0], target[1] = -100, 1e6  # beyond the source's
    target[2] = source.min(0)
    target[3] = source.max(0)
    target[4] = source[1]
    scalers = {
        "robust": RobustScaler(),
        "quantile": QuantileTransformer(n_quantiles=min(128, rows), output_distribution="normal", subsample=None),
    }
    case = {"source": source.tolist(), "target": target.tolist()}
    for name, scaler in scalers.items():
        scaler.fit(source)
        case[name] = {"source": scaler.transform(source).tolist(), "target": scaler.transform(target).tolist()}
    functions = {
        "log1p": FunctionTransformer(np.log1p),
        "arcsinh": FunctionTransformer(arcsinh, kw_args={"cofactor": 5}),
    }
    case.update({name: f.transform(source).tolist() for name, f in functions.items()})
    cases.append(case)


def brief(x):
    return [brief(v) for v in x] if isinstance(x, list) else {k: brief(v) for k, v in x.items()} if isinstance(x, dict) else float(f"{x:.8g}")


with open("scaling.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(brief(c)) for c in cases) + "\n]\n")
