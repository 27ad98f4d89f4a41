"""Writes differences, tables and p-values, and what SciPy and statsmodels make of them.

Needs numpy, scipy and statsmodels. Run it in this folder: python generate.py
Made with SciPy 1.17.1, statsmodels 0.15.0 and numpy 2.4.6.
"""
import json

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

rng = np.random.default_rng(20261122)


def signed_ranks(d, exact):
    if exact == "exact":
        test = stats.wilcoxon(d, zero_method="pratt", method="exact")
    elif exact == "permutations":  # all of them: SciPy's exact test does not know ties
        test = stats.wilcoxon(d, zero_method="pratt", method=stats.PermutationMethod(n_resamples=np.inf))
    else:
        test = stats.wilcoxon(d, zero_method="pratt", method="approx", correction=False)
    return {"differences": list(d), "p": float(test.pvalue), "statistic": float(test.statistic)}


tests = []
for n in (1, 2, 5, 6, 8, 20, 50):
    tests.append(signed_ranks(rng.normal(.4, 1, n).round(6), "exact"))
for n in (3, 6, 9, 13):
    tests.append(signed_ranks(rng.integers(-2, 4, n).astype(float), "permutations"))
for n in (70, 200):
    tests.append(signed_ranks(rng.normal(.2, 1, n).round(6), "approx"))
    tests.append(signed_ranks(rng.integers(-4, 6, n).astype(float), "approx"))

tables = []
for n, k in ((2, 3), (5, 4), (34, 10), (12, 3)):
    for x in (rng.normal(np.arange(k) / 3, 1, (n, k)).round(3), rng.integers(0, 4, (n, k)).astype(float)):
        test = stats.friedmanchisquare(*x.T)
        f = (n - 1) * test.statistic / (n * (k - 1) - test.statistic)
        tables.append({"values": x.tolist(), "chi_squared": float(test.statistic), "p": float(test.pvalue),
                       "p_f": float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))), "ranks": stats.rankdata(x, axis=1).mean(axis=0).tolist()})

ranges = [{"k": k, "level": level, "quantile": float(stats.studentized_range.ppf(1 - level, k, np.inf))}
          for k in (2, 3, 5, 10, 20) for level in (.1, .05, .01)]

holm = []
for n in (1, 2, 5, 30):
    p = (rng.random(n) ** 3).round(6)
    holm.append({"p": p.tolist(), "corrected": multipletests(p, method="holm")[1].tolist()})

with open("ranktest.json", "w") as f:
    json.dump({"signed_ranks": tests, "friedman": tables, "ranges": ranges, "holm": holm}, f)
    f.write("\n")
