"""Writes intervals of shares, by SciPy, statsmodels and ppi_py, and what reference.py makes of samples.

Needs numpy, scipy, statsmodels and ppi-python. Run it in this folder: python generate.py
Made with SciPy 1.17.1, statsmodels 0.15.0, numpy 2.4.6 and ppi-python 0.2.3.
"""
import json

import numpy as np
import reference
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

rng = np.random.default_rng(20261124)

binomial = []
for n in (1, 2, 16, 25, 31, 50, 200, 1000):
    for hits in sorted({0, 1, n // 7, n // 2, n - 1, n}):
        for level in (.8, .9, .95, .99):
            exact = stats.binomtest(hits, n).proportion_ci(level, method="exact")
            binomial.append({"hits": hits, "n": n, "level": level, "exact": [exact.low, exact.high],
                             "wilson": list(proportion_confint(hits, n, 1 - level, "wilson"))})

normal = []
for n, rows, share, sharp in ((20, 300, .3, 3), (50, 2000, .05, 2), (100, 1000, .7, 4)):
    y = (rng.random(n) < share).astype(float)
    f = 1 / (1 + np.exp(-sharp * (2 * y - 1 + rng.normal(0, .7, n))))
    u = (rng.random(rows) < share).astype(float)
    unlabelled = 1 / (1 + np.exp(-sharp * (2 * u - 1 + rng.normal(0, .7, rows))))
    w = rng.gamma(2, 1, n)
    w /= w.mean()
    at = []
    for weights in (None, w):
        for lam in (0., .4, 1.):
            for level in (.9, .95):
                low, high = ppi_mean_ci(y, f, unlabelled, alpha=1 - level, lam=lam, w=weights)
                point = ppi_mean_pointestimate(y, f, unlabelled, lam=lam, w=weights)
                at.append({"weighted": weights is not None, "lambda": lam, "level": level,
                           "estimate": float(np.ravel(point)[0]), "lower": float(low[0]), "upper": float(high[0])})
    normal.append({"y": y.tolist(), "f": f.tolist(), "w": w.tolist(), "rows": rows,
                   "mean": float(unlabelled.mean()), "variance": float(unlabelled.var()), "at": at})

hypergeometric = []
for total in (21, 601, 5003):
    for n in (1, 7, 16):
        for hits in sorted({0, 1, n // 2, n - 1, n}):
            for level in (.9, .99):
                hypergeometric.append({"hits": hits, "n": n, "total": total, "level": level, "exact": reference.exact(hits, n, total, level)})


def posteriors(n, c, sharp):
    p = np.exp(sharp * rng.normal(0, 1, (n, c)))
    p /= p.sum(1, keepdims=True)
    return p.round(6)


samples = []
for total, m, c, fresh, sharp in ((300, 20, 3, 0, 2), (1000, 31, 2, 1, 1), (80, 7, 4, 0, 3), (500, 50, 5, 2, .5), (60, 60, 2, 0, 1), (200, 1, 2, 0, 1)):
    P = np.concatenate([posteriors(total, c, sharp), np.zeros((total, fresh))], 1)
    views = [np.concatenate([posteriors(m, c, s), np.zeros((m, fresh))], 1) for s in (1, 2, 3)]
    u = reference.sizes(P)
    pi = reference.probabilities(u, m)
    rows, by_size = reference.draw(u, m, rng)
    labels = np.array([rng.choice(c, p=P[i, :c] / P[i, :c].sum()) for i in rows])
    if fresh:
        labels[:: m // 3] = c
    y, f, first = np.eye(c + fresh)[labels], P[rows], int((~by_size).sum())
    weights = [.7, .3, 0.]
    for n in sorted({m, (m + 1) // 2}):
        drawn, labelled = (first, m - first), (int((~by_size[:n]).sum()), int(by_size[:n].sum()))
        part = reference.stopped(pi[rows[:n]], total, drawn, labelled)
        estimate, lower, upper, plain, lam = reference.sharper(y[:n], f[:n], P.mean(0), part, labelled[0], total)
        _, floored, _, _ = reference.difference(y[:n], f[:n], P.mean(0), part, labelled[0], total)
        w = reference.reweigh(weights, np.array(views)[:, :n], labels[:n])
        new = np.arange(c + fresh) >= c
        viewmeans = np.array([v.mean(0) for v in views])
        shown = np.concatenate([P[rows[:n]], P[:40]])  # the rows of which the field is
        z, doubts = np.random.default_rng(total).normal(size=(len(shown), 3)).round(3), reference.doubts(shown)
        kernel, near = reference.field(z, doubts, np.arange(n))
        amplitude = reference.amplitude(.3, c + fresh, doubts.mean())
        learnt_of = np.array(weights), np.array(views)[:, :n], viewmeans, y[:n], kernel, near, doubts[:n], amplitude
        crossfit, crossmeans = reference.crossfit(*learnt_of)
        crossfitted, *_ = reference.difference(y[:n], crossfit, crossmeans, part, labelled[0], total)
        shares = reference.shares(estimate, new, total, *learnt_of)
        samples.append({"total": total, "known": c, "drawn": drawn, "labelled": labelled, "probability": pi[rows[:n]].tolist(), "inclusion": part.tolist(),
                        "labels": labels[:n].tolist(), "f": f[:n].tolist(), "means": P.mean(0).tolist(), "views": [v[:n].tolist() for v in views], "prior": weights,
                        "viewmeans": viewmeans.tolist(), "crossfit": crossfit.tolist(), "crossfitmeans": crossmeans.tolist(), "crossfitted": crossfitted.tolist(),
                        "estimate": estimate.tolist(), "lower": lower.tolist(), "upper": upper.tolist(), "plain": plain.tolist(), "floored": floored.tolist(), "lambda": lam,
                        "weights": w.tolist(), "shares": shares.tolist(), "projected": reference.project(shares, lower, upper).tolist(),
                        "vectors": z.tolist(), "posteriors": shown[:, :c].tolist(), "near": near.tolist(),
                        "refuted": [reference.refute(v[:n], labels[:n]) for v in views]})

forecasts = []
for total, c, sharp in ((60, 2, 2), (200, 3, 1)):
    P = posteriors(total, c, sharp)
    for uniform in (False, True):
        for accuracy in (np.nan, .6):
            for width in (.5, .2):
                forecasts.append({"posteriors": P.tolist(), "uniform": uniform, "accuracy": None if np.isnan(accuracy) else accuracy, "width": width,
                                  "inclusion": reference.probabilities(reference.sizes(P), 15, uniform).tolist(),
                                  "needed": int(reference.needed(P, reference.sizes(P), width, accuracy, uniform=uniform))})

with open("ppi.json", "w") as f:
    json.dump({"binomial": binomial, "hypergeometric": hypergeometric, "normal": normal, "samples": samples, "forecasts": forecasts}, f, indent=None, separators=(",", ":"))
    f.write("\n")
