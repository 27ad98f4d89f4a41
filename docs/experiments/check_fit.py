"""Tries what a fitted combination of signs would add to mars check: how far off the accuracy would be, with families left out.

usage: check_fit.py signs MODELS DEFAULT.csv
       check_fit.py tables RESULTS.csv DEFAULT.csv

MODELS is that of check.py, and RESULTS.csv what its run has kept. signs gives the columns of the reference
with their labels, and the window's, to mars label, and keeps what it believes of the models' predictions; once more with half of
the reference as the target, where the truth is known. tables fits combinations of these signs and of the peers' estimates to
the tasks of some families, and judges them on the others. Needs what check.py needs.
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
from check import show

FOLDS = 10
REPEATS = 3


def label(xs, ys, xt, classes):
    """Posteriors that mars label gives to xt, and its summary."""
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        names = [f"f{j}" for j in range(xs.shape[1])]
        pd.DataFrame(xs, columns=names).assign(label=[f"k{y}" for y in ys]).to_csv(at / "source.csv", index=False)
        pd.DataFrame(xt, columns=names).to_csv(at / "target.csv", index=False)
        run = ["mars", "label", "--source", at / "source.csv", "--target", at / "target.csv", "-q", "-o", at / "labels.csv", "--summary", at / "summary.json"]
        subprocess.run(run, check=True, capture_output=True)
        found = pd.read_csv(at / "labels.csv")
        none = np.zeros(len(xt))
        return np.column_stack([found.get(f"probability_k{c}", none) for c in range(classes)]), json.load(open(at / "summary.json"))


def signs(models, results):
    done = []
    for row in csv.DictReader(open(models / "tasks.csv")):
        z = np.load(models / (row["name"] + ".npz"))
        xr, xt, yr, classes = z["Xr"], z["Xt"], z["yr"], z["r_logistic"].shape[1]
        rng, first = np.random.default_rng(1), np.zeros(len(yr), bool)
        for c in range(classes):
            i = rng.permutation(np.flatnonzero(yr == c))
            first[i[: (len(i) + 1) // 2]] = True
        found, said = label(xr, yr, xt, classes)
        known, _ = label(xr[first], yr[first], xr[~first], classes)
        weights = {a["name"]: a["weight"] for a in said.get("assumptions", [])}
        for model in ("logistic", "boosting"):
            of, there = z["t_" + model].argmax(1), z["r_" + model].argmax(1)[~first]
            believed = known[np.arange(len(there)), there].mean()
            done.append({"name": row["name"], "model": model, "default": found[np.arange(len(of)), of].mean(), "understated": (there == yr[~first]).mean() - believed,
                         "same": weights.get("same", 0), "untypical": said.get("untypical") or 0, "default_accuracy": said.get("expected_accuracy") or 0})  # fmt: skip
        pd.DataFrame(done).to_csv(results, index=False, float_format="%.6g")


def left_out(make, X, d):
    """Estimates for each family by models of the differences to mars check that were fitted to others."""
    target, families, rng = (d.accuracy - d.check).to_numpy(), d.family.unique(), np.random.default_rng(0)
    out = np.zeros(len(d))
    for _ in range(REPEATS):
        for some in np.array_split(rng.permutation(families), FOLDS):
            test = d.family.isin(some).to_numpy()
            out[test] += make().fit(X[~test], target[~test]).predict(X[test]) / REPEATS
    return (d.check + out).clip(0, 1)


def tables(results, beliefs):
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.linear_model import QuantileRegressor, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    d = pd.read_csv(results).merge(pd.read_csv(beliefs), on=["name", "model"])
    d["balance"] = d.balance.fillna(d.CBPE)
    apart = {p: d[p] - d.check for p in ("constant", "CBPE", "CBPE, temperature", "ATC, confidence", "ATC, entropy", "DoC", "DoC, temperature", "COT", "EM", "balance")}
    spread = {"check": d.check, "moved": d.moved, "unexplained": d.unexplained, "doubt": d.unexplained * (1 - d.check), "classes": np.log(d.classes), "few": d.reference**-0.5}
    found, whole = d.default - d.check, d.default + d.understated - d.check
    sets = {
        "peers and spread": {**apart, **spread},
        "default": {"found": found, "whole": whole, "if moved": (1 - d["same"]) * found, "whole if moved": (1 - d["same"]) * whole},
        "all": {**apart, **spread, "found": found, "whole": whole, "if moved": (1 - d["same"]) * found, "untypical": d.untypical, "default's": d.default_accuracy - d.check},
    }
    fits = {
        "ridge": lambda: make_pipeline(StandardScaler(), RidgeCV(np.logspace(-1, 4, 12))),
        "least absolute": lambda: make_pipeline(StandardScaler(), QuantileRegressor(alpha=0.003)),
        "boosting": lambda: GradientBoostingRegressor(loss="absolute_error", n_estimators=120, learning_rate=0.05, subsample=0.5, min_samples_leaf=10, random_state=0),
    }
    estimates = {"mars check": d.check, "DoC, temperature": d["DoC, temperature"], "default, as it is": d.default, "default, less what it understates": (d.default + d.understated).clip(0, 1),
                 "half mars check, half default": (d.check + d.default) / 2}  # fmt: skip
    estimates |= {f"{fit}, {name}": left_out(make, np.column_stack(list(X.values())), d) for name, X in sets.items() for fit, make in fits.items()}
    kinds = sorted(d.kind.unique())
    off = {name: (e - d.accuracy).abs() for name, e in estimates.items()}
    show("Mean absolute error, families left out of what is fitted", ["by", "all", *kinds], [[name, float(e.mean()), *(float(e[d.kind == k].mean()) for k in kinds)] for name, e in off.items()])


def main():
    paths = [pathlib.Path(a) for a in sys.argv[2:]]
    {"signs": signs, "tables": tables}[sys.argv[1]](*paths)


if __name__ == "__main__":
    main()
