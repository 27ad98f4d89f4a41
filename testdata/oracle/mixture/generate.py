"""Writes ward.json, ward10000.npy, kmeans.json and gmm.json: what scipy and
scikit-learn make of data that the Go tests generate again by `normal` below.

    pip install numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1
    python generate.py
"""

import json
import pathlib
import warnings

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

HERE = pathlib.Path(__file__).parent


def mix(z):
    """The finaliser of splitmix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def normal(seed, n):
    """n nearly normal numbers: sums of 12 uniform ones of 24 bits, so exact."""
    i = np.arange(12 * n, dtype=np.uint64) + np.uint64(seed << 32)
    u = (mix(i * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)).astype(np.float64)
    return u.reshape(n, 12).sum(1) / 2**24 - 6


def rows(case):
    """n×d float32 rows of k blobs: row i is in blob i² mod k."""
    n, d, k = case["n"], case["d"], case["k"]
    centres = case["spread"] * normal(case["seed"], k * d).reshape(k, d)
    noise = normal(case["seed"] + 1, n * d).reshape(n, d)
    blob = np.arange(n) ** 2 % k
    x = centres[blob] * np.linspace(1, 2, d) + noise + case.get("offset", 0.0)
    if case.get("grid"):
        x = np.rint(x)
    return x.astype(np.float32)


def blobs(name, n, d, k, spread, seed, **more):
    return dict(name=name, n=n, d=d, k=k, spread=spread, seed=seed, **more)


def ward():
    cases = [
        blobs("two rows", 2, 3, 2, 1.0, 10),
        blobs("line", 200, 1, 4, 3.0, 20),
        blobs("blobs", 300, 5, 6, 1.5, 30),
        blobs("one blob", 250, 20, 1, 0.0, 40),
        blobs("far from zero", 200, 4, 3, 2.0, 50, offset=1000.0),
        blobs("grid with ties", 60, 2, 3, 3.0, 60, grid=True),
    ]
    for case in cases:
        z = linkage(rows(case).astype(np.float64), "ward")
        case["merges"] = z[:, [0, 1, 3]].astype(int).tolist()
        case["heights"] = z[:, 2].tolist()
        if not case.get("grid"):
            case["labels"] = {k: fcluster(z, k, "maxclust").tolist() for k in (2, 3, 7) if k <= case["n"]}
    write("ward.json", cases)
    big = blobs("big", 10_000, 100, 12, 0.5, 70)
    np.save(HERE / "ward10000.npy", linkage(rows(big).astype(np.float64), "ward")[:, 2])


def kmeans():
    cases = [
        blobs("apart", 300, 4, 3, 3.0, 110),
        blobs("overlapping", 400, 6, 5, 0.7, 120),
        blobs("far from zero", 200, 3, 4, 2.0, 130, offset=500.0),
        # Three of the centres start where there are no rows.
        blobs("empty", 200, 3, 5, 2.0, 140, empty=True),
    ]
    for case in cases:
        x = rows(case).astype(np.float64)
        initial = x[: case["k"]].copy()
        if case.get("empty"):
            initial[2:] = 100 + np.arange(3)[:, None]
        fit = KMeans(case["k"], init=initial, n_init=1, algorithm="lloyd").fit(x)
        case.update(initial=initial.tolist(), labels=fit.labels_.tolist(), inertia=fit.inertia_,
                    centres=fit.cluster_centers_.tolist(), iterations=fit.n_iter_)
    write("kmeans.json", cases)


def gmm():
    cases = []
    for form in ("full", "tied", "diag", "spherical"):
        for base in (blobs("apart", 250, 4, 3, 2.0, 210), blobs("overlapping", 400, 3, 4, 0.6, 220),
                     blobs("far from zero", 200, 2, 2, 1.5, 230, offset=300.0)):
            for tolerance, most in ((1e-3, 100), (1e-300, 8)):
                cases.append(fit_gmm(dict(base, form=form, tolerance=tolerance, most=most)))
    write("gmm.json", cases)


def fit_gmm(case):
    x = rows(case).astype(np.float64)
    k, d, form = case["k"], case["d"], case["form"]
    weights = np.arange(1.0, k + 1) / np.arange(1.0, k + 1).sum()
    means = x[:k].copy()
    variances = 1.0 + np.arange(k)
    precisions = {
        "full": np.eye(d)[None] / variances[:, None, None],
        "tied": np.eye(d) / 2.0,
        "diag": np.ones(d)[None] / variances[:, None],
        "spherical": 1 / variances,
    }[form]
    model = GaussianMixture(k, covariance_type=form, tol=case["tolerance"], max_iter=case["most"],
                            weights_init=weights, means_init=means, precisions_init=precisions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(x)
    case.update(weights=model.weights_.tolist(), means=model.means_.tolist(), covariances=model.covariances_.tolist(),
                logLikelihood=model.lower_bound_, iterations=model.n_iter_, converged=bool(model.converged_),
                labels=model.predict(x).tolist(), responsibilities=model.predict_proba(x[:5]).tolist())
    return case


def write(name, cases):
    (HERE / name).write_text(json.dumps(cases, separators=(",", ":")) + "\n")


ward()
kmeans()
gmm()
