"""Labels single cells by mars label and by others, and prints how right each is.

usage: cells.py files DATA FOLDER
       cells.py run FOLDER seed,seed,... RESULTS.csv [METHOD,METHOD,...]
       cells.py unknown FOLDER RESULTS.csv
       cells.py bounds FOLDER
       cells.py tables RESULTS.csv UNKNOWN.csv

FOLDER/pairs.csv has a row a pair: group, of which a table shows the mean; source and target, files .h5ad of FOLDER;
and label, the column of .obs with the types. Each pair is taken as it is (seed 0) and with targets drawn from it
whose types have other proportions (Dirichlet; any other seed). Types that the source lacks are left out of
the target. All get the same files. Values of the group "cytometry" are no counts and are taken as they are.
Targets whose .uns has shares are mixtures: their rows are several cells, and have no type.

files writes them all and pairs.csv. DATA is what make data fetched (SETS='symphony scclassify mixology hipc'). run adds rows to RESULTS.csv, and skips
those that it has. bounds says how the intervals of mars proportions --method unmix hold on the mixtures. unknown takes each type of twenty cells or more
from the source of each pair in turn, and says how well typicality tells its cells. Needs mars, anndata, rdata, scikit-learn, celltypist, singler,
scvi-tools, cytopt and harmonypy (0.0.10: newer ones need PyTorch).
"""

import contextlib
import csv
import os
import pathlib
import pickle
import resource
import sys
import tempfile
import time
import traceback
import warnings

import numpy as np
import pandas as pd
import scipy.sparse as sp

with contextlib.suppress(ImportError):  # the tables need none
    import anndata

warnings.simplefilter("ignore")


ROWS = 3000  # of a side of cytometry
SURE = 0.7  # below this the SVM with rejection says unknown: Abdelaal et al. 2019
FIELDS = ["group", "source", "target", "seed", "cells", "method", "accuracy", "balanced", "l1", "labelled", "surest", "processor_seconds", "seconds", "mb"]
NOT_COUNTS = "cytometry"


def by_mars(source, target, label):
    """Each method gives labels, shares, and how sure each label is; any of them may be None."""
    import mars

    new, known = mars.label(source, target, label, return_report=True, random_state=0, normalize=counts(source))
    return new.obs["mars_label"].astype(str).to_numpy(), known.proportions, new.obs["mars_confidence"].to_numpy()


def by_unmix(source, target, label):
    import mars

    new, known = mars.label(source, target, label, return_report=True, random_state=0, method="unmix")
    return new.obs["mars_label"].astype(str).to_numpy(), known.proportions, new.obs["mars_confidence"].to_numpy()


def counts(a):
    return a.uns.get("values") != NOT_COUNTS


def normal(a, genes):
    """What users of the others do: 10,000 counts a cell, and log(1+x), of the genes that both have."""
    x = sp.csr_matrix(a[:, genes].X, dtype=np.float64)
    if (x.data != np.rint(x.data)).any():  # the tables of PBMC are logarithms already
        x.data = np.expm1(x.data)
    x = sp.diags(1e4 / np.maximum(np.asarray(x.sum(axis=1)).ravel(), 1e-9)) @ x
    x.data = np.log1p(x.data)
    return sp.csr_matrix(x, dtype=np.float32)


def both(source, target):
    """What both have: logarithms of normalised counts, or values as they are, standardised on the source."""
    genes = [g for g in source.var_names if g in set(target.var_names)]
    if counts(source):
        return normal(source, genes), normal(target, genes), genes
    x, y = (np.asarray(a[:, genes].X) for a in (source, target))
    return (x - x.mean(0)) / x.std(0), (y - x.mean(0)) / x.std(0), genes


def by_celltypist(source, target, label):
    import celltypist

    x, y, genes = both(source, target)
    x, y = (anndata.AnnData(m, obs=a.obs, var=pd.DataFrame(index=genes)) for m, a in ((x, source), (y, target)))
    model = celltypist.train(x, labels=label, n_jobs=2, check_expression=False)
    found = celltypist.annotate(y, model=model)
    return found.predicted_labels["predicted_labels"].astype(str).to_numpy(), None, found.probability_matrix.max(axis=1).to_numpy()


def by_singler(source, target, label):
    """Markers by the area under the ROC curve, as its manual advises for references of single cells."""
    import singler

    x, y, genes = both(source, target)
    types = source.obs[label].astype(str)
    x, types = x[types.isin(types.value_counts()[lambda n: n > 1].index).to_numpy()], types[types.isin(types.value_counts()[lambda n: n > 1].index)]
    x, y = (np.asarray(m.T.toarray(), order="F", dtype=float) for m in (x, y))
    built = singler.train_single(x, types.tolist(), genes, test_features=genes, marker_method="auc", num_threads=2)
    found = singler.classify_single(y, built, num_threads=2)
    return np.array(found["best"], str), None, np.nan_to_num(np.array(found["delta"]))


def by_scanvi(source, target, label):
    """As its tutorial has it: scVI of both together, and 20 epochs of scANVI from it."""
    import scvi

    scvi.settings.seed = 0
    genes = [g for g in source.var_names if g in set(target.var_names)]
    sides = []
    for a, side in ((source, "source"), (target, "target")):
        x = normal(a, genes)
        x.data = np.expm1(x.data)
        least = np.array([r.data.min() if r.nnz else 1 for r in x])  # a count of 1, of what was normalised
        x = sp.csr_matrix(sp.diags(1 / least) @ x, dtype=np.float32)
        x.data = np.rint(x.data)
        kinds = a.obs[label].astype(str).to_numpy() if side == "source" else "unknown"
        sides.append(anndata.AnnData(x, pd.DataFrame({"side": side, "kind": kinds}, index=[f"{side}-{i}" for i in range(x.shape[0])]), pd.DataFrame(index=genes)))
    whole = anndata.concat(sides)
    whole.obs = whole.obs.astype("category")
    mean = np.asarray(whole.X.mean(axis=0)).ravel()
    spread = np.asarray(whole.X.power(2).mean(axis=0)).ravel() - mean**2
    whole = whole[:, np.argsort(-spread / np.maximum(mean, 1e-9), kind="stable")[:2000]].copy()
    scvi.model.SCVI.setup_anndata(whole, batch_key="side", labels_key="kind")
    first = scvi.model.SCVI(whole, n_layers=2, n_latent=30)
    first.train(accelerator="cpu", enable_progress_bar=False)
    model = scvi.model.SCANVI.from_scvi_model(first, "unknown")
    model.train(max_epochs=20, n_samples_per_label=100, accelerator="cpu", enable_progress_bar=False)
    p = model.predict(whole, soft=True).iloc[len(source) :]
    return p.columns.to_numpy(str)[p.to_numpy().argmax(axis=1)], None, p.max(axis=1).to_numpy()


def by_svm(source, target, label):
    from sklearn.svm import LinearSVC

    x, y, _ = both(source, target)
    return LinearSVC(random_state=0).fit(x, source.obs[label].astype(str)).predict(y), None, None


def by_svm_with_rejection(source, target, label):
    """The SVM with probabilities of Platt, which says unknown below SURE. Types of fewer cells than three cannot be calibrated."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import LinearSVC

    x, y, _ = both(source, target)
    types = source.obs[label].astype(str)
    some = types.isin(types.value_counts()[lambda n: n >= 3].index).to_numpy()
    p = CalibratedClassifierCV(LinearSVC(random_state=0), cv=3).fit(x[some], types[some])
    names, p = p.classes_, p.predict_proba(y)
    sure = p.max(axis=1)
    return np.where(sure < SURE, "unknown", names[p.argmax(axis=1)]), None, sure


def by_forest(source, target, label):
    """The random forest of popV."""
    from sklearn.ensemble import RandomForestClassifier

    x, y, genes = both(source, target)
    model = RandomForestClassifier(class_weight="balanced_subsample", max_features=min(200, len(genes)), n_jobs=2, random_state=0)
    p = model.fit(x, source.obs[label].astype(str)).predict_proba(y)
    return model.classes_[p.argmax(axis=1)], None, p.max(axis=1)


def by_harmony(source, target, label):
    """The nearest 15 neighbours in 50 principal components of both sides that Harmony joins, as in popV."""
    import harmonypy
    from sklearn.decomposition import PCA
    from sklearn.neighbors import KNeighborsClassifier

    x, y, genes = both(source, target)
    whole = sp.vstack([x, y]).toarray() if sp.issparse(x) else np.vstack([x, y])
    found = PCA(min(50, len(genes)), random_state=0).fit_transform(whole)
    side = pd.DataFrame({"side": ["source"] * x.shape[0] + ["target"] * y.shape[0]})
    joined = np.asarray(harmonypy.run_harmony(found, side, "side", random_state=0, verbose=False).Z_corr).T
    model = KNeighborsClassifier(15).fit(joined[: x.shape[0]], source.obs[label].astype(str))
    p = model.predict_proba(joined[x.shape[0] :])
    return model.classes_[p.argmax(axis=1)], None, p.max(axis=1)


def components(source, target, label):
    """What mars label is given: columns of both sides, standardised."""
    from mars._cells._prepare import Inputs
    from mars._cells._read import Cells
    from sklearn.preprocessing import StandardScaler

    read = Inputs(Cells(source, "source"), Cells(target, "target"), label, {"normalize": counts(source)}, ())
    x, y = (read.tables[side].read_pandas() for side in ("source", "target"))
    columns = [c for c in x.columns if c != label]
    scale = StandardScaler().fit(x[columns])
    return scale.transform(x[columns]), scale.transform(y[columns]), x[label].to_numpy(str)


def by_logistic(source, target, label):
    """Logistic regression on the components that mars label is given."""
    from sklearn.linear_model import LogisticRegression

    x, y, types = components(source, target, label)
    model = LogisticRegression(max_iter=1000).fit(x, types)
    p = model.predict_proba(y)
    return model.classes_[p.argmax(axis=1)], None, p.max(axis=1)


def by_cytopt(source, target, label):
    """CytOpT gives shares alone; of counts it gets the components."""
    import CytOpT

    np.random.seed(0)
    if counts(source):
        x, y, types = components(source, target, label)
    else:
        x, y, types = source.X, target.X, source.obs[label].to_numpy(str)
    names, codes = np.unique(types, return_inverse=True)
    options = {"nIter": 10000, "thresholding": not counts(source), "cont": False}
    with contextlib.redirect_stdout(sys.stderr):
        shares = CytOpT.cytoptMinmax(np.asarray(x), np.asarray(y), codes + 1, **options)[0]
    return None, dict(zip(names.tolist(), shares.tolist())), None


def sums(source, target, label):
    """Normalised counts, which add up: the means of the types, and the rows of the target."""
    x, y, _ = both(source, target)
    types = source.obs[label].astype(str).to_numpy()
    x, y = np.expm1(x.toarray()), np.expm1(y.toarray())
    names = np.unique(types)
    return names, np.stack([x[types == t].mean(axis=0) for t in names]), y


def mean_share(names, parts):
    parts = np.maximum(parts, 0)
    return None, dict(zip(names.tolist(), (parts / parts.sum(axis=1, keepdims=True)).mean(axis=0).tolist())), None


def by_nnls(source, target, label):
    """Nonnegative least squares on the means of the types, the plainest deconvolution."""
    from scipy.optimize import nnls

    names, means, y = sums(source, target, label)
    return mean_share(names, np.array([nnls(means.T, row)[0] for row in y]))


def by_nu_svr(source, target, label):
    """As CIBERSORT does (Newman et al. 2015): nu-SVR on a signature of 300 genes, standardised, the best of three nu."""
    from sklearn.svm import NuSVR

    names, means, y = sums(source, target, label)
    high, next_to = np.sort(means, axis=0)[-1], np.sort(means, axis=0)[-2]
    rise, top = np.log1p(high) - np.log1p(next_to), means.argmax(axis=0)
    genes = np.concatenate([np.flatnonzero(top == k)[np.argsort(-rise[top == k], kind="stable")[: 300 // len(names)]] for k in range(len(names))])
    s = means[:, genes].T
    s, parts = (s - s.mean()) / s.std(), []
    for row in y[:, genes]:
        row, best = (row - row.mean()) / row.std(), None
        for nu in (0.25, 0.5, 0.75):
            w = np.maximum(NuSVR(nu=nu, kernel="linear").fit(s, row).coef_.ravel(), 0)
            w /= max(w.sum(), 1e-12)
            off = np.sqrt(np.mean((s @ w - row) ** 2))
            best = min(best, (off, w), key=lambda b: b[0]) if best else (off, w)
        parts.append(best[1])
    return mean_share(names, np.array(parts))


METHODS = {
    "mars label": by_mars,
    "mars label --method unmix": by_unmix,
    "CellTypist": by_celltypist,
    "SingleR": by_singler,
    "scANVI": by_scanvi,
    "linear SVM": by_svm,
    "linear SVM with rejection": by_svm_with_rejection,
    "random forest (popV)": by_forest,
    "Harmony and neighbours (popV)": by_harmony,
    "logistic regression on the components": by_logistic,
    "CytOpT": by_cytopt,
    "nonnegative least squares": by_nnls,
    "nu-SVR (CIBERSORT)": by_nu_svr,
}
OF_MIXTURES = ("mars label --method unmix", "nonnegative least squares", "nu-SVR (CIBERSORT)")
OF_COUNTS = ("CellTypist", "SingleR", "scANVI")


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


def scores(truth, real, found, shares, sure):
    """Accuracy, balanced accuracy, L1 error of shares, share of labelled cells, and accuracy of the surest nine tenths."""
    if shares is None:  # others count their labels
        known = found[found != "unknown"]
        shares = {t: (known == t).mean() for t in np.unique(known)}
    l1 = sum(abs(shares.get(t, 0) - real.get(t, 0)) for t in set(real) | set(shares))
    if truth is None or found is None:
        return np.nan, np.nan, l1, np.nan, np.nan
    surest = np.nan if sure is None else (found == truth)[np.argsort(-sure, kind="stable")[: round(0.9 * len(sure))]].mean()
    balanced = np.mean([(found[truth == t] == t).mean() for t in np.unique(truth)])
    return (found == truth).mean(), balanced, l1, (found != "unknown").mean(), surest


def measured(method, *task):
    """What a method gives in a process of its own, with its seconds of all processors and its memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "found.pickle")
        child = os.fork()
        if child == 0:
            try:
                started = time.time()
                answer = METHODS[method](*task)
                used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
                seconds = sum(u.ru_utime + u.ru_stime for u in used)
                pathlib.Path(path).write_bytes(pickle.dumps((answer, [seconds, time.time() - started, max(u.ru_maxrss for u in used) / 1024])))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        return pickle.loads(pathlib.Path(path).read_bytes())


def pairs(folder):
    return list(csv.DictReader(open(folder / "pairs.csv")))


def files(data, folder):
    """Writes the files of all pairs, and pairs.csv."""
    folder.mkdir(exist_ok=True)
    rows = blood(data / "repositories/immunogenomics/symphony/data", folder) + pancreas(data / "repositories/SydneyBioX/scClassify/data", folder)
    rows += lines_and_wells(data / "repositories/LuyiTian/sc_mixology/data/csv", folder) + cytometry(data / "hipc", folder)
    with open(folder / "pairs.csv", "w", newline="") as f:
        out = csv.DictWriter(f, ["group", "source", "target", "label"])
        out.writeheader()
        out.writerows(rows)


def of_r(path):
    import rdata

    return next(iter(rdata.read_rda(path).values()))


def cells_of_r(matrix, obs):
    """AnnData of a sparse matrix of R, genes by cells."""
    genes, names = matrix.Dimnames
    x = sp.csc_matrix((matrix.x, matrix.i, matrix.p), shape=tuple(matrix.Dim)).T.tocsr().astype(np.float32)
    obs = pd.DataFrame(obs).set_axis(pd.Index(np.asarray(names, str)))
    return anndata.AnnData(x, obs, pd.DataFrame(index=np.asarray(genes, str)))


def blood(data, folder):
    about = of_r(data / "pbmcs_meta_small.rda")
    whole = cells_of_r(of_r(data / "pbmcs_exprs_small.rda"), {c: about[c].to_numpy(str) for c in ("donor", "cell_type")})
    names = sorted(set(whole.obs["donor"]))
    for name in names:
        whole[(whole.obs["donor"] == name).to_numpy()].copy().write_h5ad(folder / f"pbmc_{name}.h5ad")
    return [{"group": "blood", "source": f"pbmc_{a}", "target": f"pbmc_{b}", "label": "cell_type"} for a in names for b in names if a != b]


def pancreas(data, folder):
    example = of_r(data / "scClassify_example.rda")
    for name in ("xin", "wang"):
        cells_of_r(example[f"exprsMat_{name}_subset"], {"cell_type": np.asarray(example[f"{name}_cellTypes"], str)}).write_h5ad(folder / f"{name}.h5ad")
    return [{"group": "pancreas", "source": "xin", "target": "wang", "label": "cell_type"}]


def lines_and_wells(mixology, folder):
    def table(name):
        """Of the genes that a tenth of the cells have."""
        counted, about = (pd.read_csv(mixology / f"{name}.{kind}.csv.gz", index_col=0) for kind in ("count", "metadata"))
        return counted.loc[(counted[about.index] > 0).mean(axis=1) >= 0.1, about.index], about

    def write(name, counted, obs, uns=None):
        var = pd.DataFrame(index=counted.index)
        anndata.AnnData(sp.csr_matrix(counted.T.to_numpy(np.float32)), obs, var, uns=uns or {}).write_h5ad(folder / f"{name}.h5ad")

    lines = ("sc_celseq2", "sc_dropseq", "sc_celseq2_5cl_p1", "sc_celseq2_5cl_p3")
    for name in lines:
        counted, about = table(name)
        about = about[about["demuxlet_cls"] == "SNG"]
        write(name, counted[about.index], pd.DataFrame({"type": about["cell_line_demuxlet"].astype(str)}))
    rows = [{"group": "cell lines", "source": a, "target": b, "label": "type"} for a, b in (lines[:2], lines[1::-1], lines[2:])]
    names = ("H1975", "H2228", "HCC827")
    for plate in ("RNAmix_sortseq", "cellmix4"):
        counted, about = table(plate)
        # The file names H2228 and HCC827 the other way round: wells of one line alone have the genes of the other.
        columns = ("H1975_prop", "HCC827_prop", "H2228_prop") if plate.startswith("RNA") else names
        parts = about[list(columns)].to_numpy(float)
        parts /= parts.sum(axis=1, keepdims=True)
        for k, most in enumerate(names):  # wells that have most of one line
            these = (parts[:, k] > 0.5) & (parts[:, k] < 1)
            shares = dict(zip(names, parts[these].mean(axis=0).tolist()))
            name = f"{plate}_{most}"
            write(name, counted.loc[:, these], pd.DataFrame(index=about.index[these]), {"shares": shares})
            rows.append({"group": "mixtures", "source": "sc_celseq2", "target": name, "label": "type"})
    return rows


def cytometry(hipc, folder):
    people = ("FTV_1", "FTV_4", "W2_1")
    for name in people:
        data = np.load(hipc / f"{name}.npz")
        some = np.random.default_rng(0).permutation(len(data["y"]))[:ROWS]
        obs = pd.DataFrame({"type": [f"type {int(y)}" for y in data["y"][some]]}, index=[str(i) for i in range(len(some))])
        var = pd.DataFrame(index=[f"marker {j}" for j in range(data["X"].shape[1])])
        anndata.AnnData(data["X"][some].astype(np.float32), obs, var, uns={"values": NOT_COUNTS}).write_h5ad(folder / f"{name}.h5ad")
    return [{"group": NOT_COUNTS, "source": a, "target": b, "label": "type"} for a in people for b in people if a != b]


def targets(source, whole, label, seed):
    """The target of a seed, its types (None, of mixtures), and its shares."""
    if "shares" in whole.uns:
        return (whole, None, dict(whole.uns["shares"])) if seed == 0 else None
    target = drawn(whole[whole.obs[label].astype(str).isin(set(source.obs[label].astype(str)))].copy(), label, seed)
    truth = target.obs[label].astype(str).to_numpy()
    hidden = target.copy()
    del hidden.obs[label]
    return hidden, truth, {t: (truth == t).mean() for t in np.unique(truth)}


def run(folder, seeds, results, methods):
    done = set()
    if results.exists():
        done = {tuple(r[k] for k in ("source", "target", "seed", "method")) for r in csv.DictReader(open(results))}
    with open(results, "a", newline="") as f:
        out = csv.DictWriter(f, FIELDS)
        if not done:
            out.writeheader()
        for pair in pairs(folder):
            source, whole = (anndata.read_h5ad(folder / f"{pair[side]}.h5ad") for side in ("source", "target"))
            of = [m for m in methods if (counts(source) or m not in OF_COUNTS) and ("shares" in whole.uns or m not in OF_MIXTURES)]
            for seed in seeds:
                task = targets(source, whole, pair["label"], seed)
                for method in of if task else ():
                    if (pair["source"], pair["target"], str(seed), method) in done:
                        continue
                    hidden, truth, real = task
                    (found, shares, sure), cost = measured(method, source, hidden, pair["label"])
                    values = [*scores(truth, real, found, shares, sure), *cost]
                    row = {"group": pair["group"], "source": pair["source"], "target": pair["target"], "seed": seed, "cells": hidden.n_obs, "method": method}
                    out.writerow(row | {k: "" if np.isnan(v) else f"{v:.4g}" for k, v in zip(FIELDS[6:], values)})
                    f.flush()


def auroc(score, positive):
    ranks = score.argsort(kind="stable").argsort(kind="stable") + 1
    n = positive.sum()
    return (ranks[positive].sum() - n * (n + 1) / 2) / n / (~positive).sum()


def unknown(folder, results):
    import mars

    rows = []
    for pair in pairs(folder):
        source, target = (anndata.read_h5ad(folder / f"{pair[side]}.h5ad") for side in ("source", "target"))
        label = pair["label"]
        if "shares" in target.uns or not counts(source):
            continue
        known = set(source.obs[label].astype(str))
        target = target[target.obs[label].astype(str).isin(known)].copy()
        truth = target.obs[label].astype(str).to_numpy()
        del target.obs[label]
        for missing in sorted(known):
            new = truth == missing
            if new.sum() < 20 or len(known) < 3:
                continue
            found = mars.label(source[source.obs[label].astype(str) != missing].copy(), target, label, random_state=0)
            p = found.obs["mars_typicality"].to_numpy()
            row = {"group": pair["group"], "source": pair["source"], "target": pair["target"], "missing": missing, "new": new.mean(), "auroc": auroc(-p, new)}
            rows.append(row | {f"{who} below {rate}": (p[these] < rate).mean() for rate in (0.01, 0.05) for who, these in (("known", ~new), ("new", new))})
            pd.DataFrame(rows).to_csv(results, index=False, float_format="%.4g")


def part(v):
    return "" if np.isnan(v) else f"{v:.3f}".lstrip("0") if v < 0.9995 else "1.00"


def bounds(folder):
    import mars

    held, expected, real = [], [], []
    for pair in pairs(folder):
        source, target = (anndata.read_h5ad(folder / f"{pair[side]}.h5ad") for side in ("source", "target"))
        if "shares" in target.uns:
            answer = mars.proportions(source, target, label=pair["label"], method="unmix", random_state=0)
            t = answer.table.set_index("class")
            true = pd.Series(dict(target.uns["shares"]))[t.index]
            held += ((t["lower"] <= true) & (true <= t["upper"])).tolist()
            expected.append(answer.expected_error)
            real.append((t["target"] - true).abs().sum())
    print(f"{sum(held)} of {len(held)} intervals hold; L1 error {np.mean(real):.3f}, expected {np.mean(expected):.3f}")


def whole_means(kinds):
    """Of the kinds of tasks, each as it is and with other proportions, those of counts and all."""
    print("\n| method | counts: accuracy | balanced accuracy | L1 error of the shares | all: accuracy | balanced accuracy | L1 error of the shares |\n|---|" + "---:|" * 6)
    for method in kinds["method"].unique():
        values = []
        for some in (kinds[kinds["group"] != NOT_COUNTS], kinds):
            of, n = some[some["method"] == method], len(some[["group", "target"]].drop_duplicates())
            values += [of[c].mean() if len(of) == n else np.nan for c in ("accuracy", "balanced", "l1")]
        print("|", " | ".join([method, *map(part, values)]), "|")


def tables(results, left_out):
    d = pd.read_csv(results)
    order = {m: i for i, m in enumerate(METHODS)}
    d["target"] = np.where(d["group"] == "mixtures", "wells", np.where(d["seed"] == 0, "as it is", "other proportions"))
    mean = d.groupby(["group", "target", "method"], sort=False)[FIELDS[6:]].mean().reset_index()
    mean = mean.sort_values("method", key=lambda m: m.map(order), kind="stable").sort_values(["group", "target"], kind="stable")
    print("| data | target | method | accuracy | balanced accuracy | of the surest 9 of 10 | L1 error of the shares | processor seconds | memory, MB |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|")

    for r in mean.itertuples():
        cells = [r.group, r.target, r.method, part(r.accuracy), part(r.balanced), part(r.surest), part(r.l1), f"{r.processor_seconds:.1f}", f"{r.mb:.0f}"]
        print("|", " | ".join(cells), "|")
    whole_means(mean[mean["group"] != "mixtures"])
    d = pd.read_csv(left_out)
    names = list(d.columns[4:])
    print("\n| | tasks | share of the new type |", " | ".join(names[1:]).replace("auroc", "AUROC"), "|\n|---" + "|---:" * (len(names) + 1) + "|")
    for group, of in d.groupby("group", sort=False):
        print("|", " | ".join([group, str(len(of)), *(part(of[n].mean()) for n in names)]), "|")


if __name__ == "__main__":
    words = sys.argv[2:]
    if sys.argv[1] == "files":
        files(*map(pathlib.Path, words))
    elif sys.argv[1] == "run":
        run(pathlib.Path(words[0]), [int(s) for s in words[1].split(",")], pathlib.Path(words[2]), words[3].split(",") if len(words) > 3 else list(METHODS))
    elif sys.argv[1] == "bounds":
        bounds(pathlib.Path(words[0]))
    elif sys.argv[1] == "unknown":
        unknown(*map(pathlib.Path, words))
    else:
        tables(*words)
