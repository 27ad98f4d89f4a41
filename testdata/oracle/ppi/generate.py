"""Writes intervals of shares, by SciPy, statsmodels and ppi_py.

Needs numpy, scipy, statsmodels and ppi-python. Run it in this folder: python generate.py
Made with SciPy 1.17.1, statsmodels 0.15.0, numpy 2.4.6 and ppi-python 0.2.3.
"""
import json

import numpy as np
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

with open("ppi.json", "w") as f:
    json.dump({"binomial": binomial, "normal": normal}, f, indent=None, separators=(",", ":"))
    f.write("\n")
