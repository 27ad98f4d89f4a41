"""Labels single cells by mars label and by others, and prints how right each is.

usage: cells.py FOLDER [seed,seed,...]

FOLDER/pairs.csv has a row a pair: source and target, files .h5ad of FOLDER, and label, the column
of .obs with the types. Each pair is taken as it is (seed 0) and with targets drawn from it
whose types have other proportions (Dirichlet; any other seed). Types that the source lacks are left out of
the target. All get the same files. Needs mars, anndata, scikit-learn and celltypist.
"""

import csv
import os
import pathlib
import resource
import sys
import tempfile
import time
import traceback
import warnings

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sp

warnings.simplefilter("ignore")


def by_mars(source, target, label):
    import mars

    new, known = mars.label(source, target, label, return_report=True, random_state=0)
    return new.obs["mars_label"].astype(str).to_numpy(), known.proportions


def normal(a, genes):
    """What users of the others do: 10,000 counts a cell, and log(1+x), of the genes that both have."""
    x = sp.csr_matrix(a[:, genes].X, dtype=np.float64)
    if (x.data != np.rint(x.data)).any():  # the tables of PBMC are logarithms already
        x.data = np.expm1(x.data)
    x = sp.diags(1e4 / np.maximum(np.asarray(x.sum(axis=1)).ravel(), 1e-9)) @ x
    x.data = np.log1p(x.data)
    return sp.csr_matrix(x, dtype=np.float32)


def both(source, target):
    genes = [g for g in source.var_names if g in set(target.var_names)]
    return normal(source, genes), normal(target, genes), genes


def by_celltypist(source, target, label):
    import celltypist

    x, y, genes = both(source, target)
    x, y = (anndata.AnnData(m, obs=a.obs, var=pd.DataFrame(index=genes)) for m, a in ((x, source), (y, target)))
    model = celltypist.train(x, labels=label, n_jobs=2, check_expression=False)
    return celltypist.annotate(y, model=model).predicted_labels["predicted_labels"].astype(str).to_numpy(), None


def by_svm(source, target, label):
    from sklearn.svm import LinearSVC

    x, y, _ = both(source, target)
    return LinearSVC(random_state=0).fit(x, source.obs[label].astype(str)).predict(y), None


def by_logistic(source, target, label):
    """Logistic regression on the components that mars label is given."""
    from mars._cells._prepare import Inputs
    from mars._cells._read import Cells
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    read = Inputs(Cells(source, "source"), Cells(target, "target"), label, {}, None)
    x, y = (read.tables[side].read_pandas() for side in ("source", "target"))
    columns = [c for c in x.columns if c != label]
    scale = StandardScaler().fit(x[columns])
    model = LogisticRegression(max_iter=1000).fit(scale.transform(x[columns]), x[label])
    return model.predict(scale.transform(y[columns])), None


METHODS = {"mars label": by_mars, "CellTypist": by_celltypist, "linear SVM": by_svm, "logistic regression on the components": by_logistic}


def drawn(a, label, seed):
    """Cells of a target whose types have other proportions."""
    if seed == 0:
        return a
    rng = np.random.default_rng(seed)
    types = a.obs[label].astype(str).to_numpy()
    names, counts = np.unique(types, return_counts=True)
    names = names[counts >= 10]  # of fewer, copies would be drawn
    kinds = rng.choice(names, len(types), p=rng.dirichlet(np.ones(len(names))))
    rows = [rng.choice(np.flatnonzero(types == t), (kinds == t).sum()) for t in names]  # with replacement
    new = a[np.sort(np.concatenate(rows))].copy()
    new.obs_names_make_unique()
    return new


def scores(truth, found, shares):
    types = sorted(set(truth) | set(found))
    if shares is None:  # others count their labels
        shares = {t: (found == t).mean() for t in types}
    l1 = sum(abs(shares.get(t, 0) - (truth == t).mean()) for t in set(types) | set(shares))
    return (found == truth).mean(), np.mean([(found[truth == t] == t).mean() for t in np.unique(truth)]), l1


def measured(method, *task):
    """What a method gives in a process of its own, with its seconds of all processors and its memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "found.npz")
        child = os.fork()
        if child == 0:
            try:
                started = time.time()
                found, shares = METHODS[method](*task)
                used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
                seconds = sum(u.ru_utime + u.ru_stime for u in used)
                cost = [seconds, time.time() - started, max(u.ru_maxrss for u in used) / 1024]
                np.savez(path, found=found.astype(str), names=list(shares or {}), shares=list((shares or {}).values()), cost=cost)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        f = np.load(path)
        return f["found"], dict(zip(f["names"].tolist(), f["shares"].tolist())) or None, f["cost"]


def main():
    folder = pathlib.Path(sys.argv[1])
    seeds = [int(s) for s in sys.argv[2].split(",")] if len(sys.argv) > 2 else [0, 1, 2]
    out = csv.writer(sys.stdout)
    out.writerow(["source", "target", "seed", "cells", "method", "accuracy", "balanced", "l1", "processor_seconds", "seconds", "mb"])
    rows = []
    for pair in csv.DictReader(open(folder / "pairs.csv")):
        source, whole = (anndata.read_h5ad(folder / f"{pair[side]}.h5ad") for side in ("source", "target"))
        label = pair["label"]
        whole = whole[whole.obs[label].astype(str).isin(set(source.obs[label].astype(str)))].copy()
        for seed in seeds:
            target = drawn(whole, label, seed)
            truth = target.obs[label].astype(str).to_numpy()
            hidden = target.copy()
            del hidden.obs[label]
            for method in METHODS:
                found, shares, cost = measured(method, source, hidden, label)
                row = [*scores(truth, found, shares), *cost]
                rows.append({"pair": pair["source"] + " to " + pair["target"], "seed": seed, "method": method, **dict(zip(("accuracy", "balanced", "l1", "processor", "seconds", "mb"), row))})
                out.writerow([pair["source"], pair["target"], seed, len(truth), method, *(f"{v:.4g}" for v in row)])
                sys.stdout.flush()
    table = pd.DataFrame(rows)
    print(table.groupby("method").mean(numeric_only=True).round(3).to_string(), file=sys.stderr)
    print(table.groupby(["pair", "method"])[["accuracy", "balanced", "l1"]].mean().round(3).unstack().to_string(), file=sys.stderr)


if __name__ == "__main__":
    main()
