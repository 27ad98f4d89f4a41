"""Writes transport.json: assignments by scipy, plans, distances on the line
and between Gaussians by POT.

    pip install numpy==2.4.6 scipy==1.17.1 POT==0.9.7.post1
    python generate.py
"""

import json
import pathlib

import numpy as np
import ot
from scipy.optimize import linear_sum_assignment
from scipy.stats import wasserstein_distance

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(20_201)


def assignments():
    cases = []
    for n, m in ((1, 1), (2, 2), (5, 5), (4, 9), (12, 12), (30, 31), (1, 6)):
        for low, high in ((0, 1), (-5, 5), (0, 0)):
            cost = rng.uniform(low, high, (n, m)).round(4) if high else rng.integers(0, 3, (n, m)).astype(float)
            cases.append(dict(cost=cost.tolist(), **best(cost)))
    return cases


def best(cost):
    rows, cols = linear_sum_assignment(cost)
    total = cost[rows, cols].sum()
    second = np.inf
    for i, j in zip(rows, cols):  # the best without one of the edges
        other = cost.copy()
        other[i, j] = 1e9
        r, c = linear_sum_assignment(other)
        second = min(second, other[r, c].sum())
    margin = second - total if second < 1e8 else None
    return dict(columns=cols.tolist(), total=total, margin=margin)


def plans():
    cases = []
    for name, n, m in (("square", 6, 6), ("wide", 4, 11), ("tall", 13, 5), ("one source", 1, 7), ("larger", 25, 30)):
        a, b = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
        cases.append(plan(name, a, b, squared(n, m)))
        cases.append(plan(name + ", uniform", np.full(n, 1 / n), np.full(m, 1 / m), squared(n, m)))
    a, b = rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(9))
    a[[0, 3, 7]], b[[2, 8]] = 0, 0
    cases.append(plan("zero masses", a / a.sum(), b / b.sum(), squared(8, 9)))
    cases.append(plan("degenerate", np.full(6, 1 / 6), np.full(6, 1 / 6), rng.integers(0, 2, (6, 6)).astype(float)))
    cases.append(plan("partly degenerate", np.array([2, 1, 1, 4.0]) / 8, np.array([4, 2, 1, 1.0]) / 8, squared(4, 4)))
    cases.append(plan("negative costs", rng.dirichlet(np.ones(7)), rng.dirichlet(np.ones(6)), rng.normal(size=(7, 6))))
    cases.append(plan("not normalised", np.array([3.0, 5, 2]), np.array([1.0, 1, 8]), squared(3, 3)))
    return cases


def squared(n, m):
    return ot.dist(rng.normal(size=(n, 3)), rng.normal(size=(m, 3))).round(6)


def plan(name, a, b, cost):
    mass, log = ot.emd(a, b, cost, log=True)
    return dict(name=name, a=a.tolist(), b=b.tolist(), cost=cost.tolist(), mass=mass.tolist(), total=log["cost"])


def lines():
    cases = []
    for n, m, weighted in ((1, 1, False), (5, 5, False), (7, 4, True), (20, 33, True), (6, 6, False)):
        x, y = rng.normal(size=n).round(3), rng.normal(1, 2, size=m).round(1)
        a = rng.dirichlet(np.ones(n)) if weighted else np.full(n, 1 / n)
        b = rng.dirichlet(np.ones(m)) if weighted else np.full(m, 1 / m)
        cases.append(dict(x=x.tolist(), y=y.tolist(), a=a.tolist(), b=b.tolist(),
                          first=wasserstein_distance(x, y, a, b),
                          second=float(np.sqrt(ot.wasserstein_1d(x, y, a, b, p=2)))))
    return cases


def gaussians():
    cases = []
    for d in (1, 2, 5):
        for _ in range(2):
            m1, m2 = rng.normal(size=(2, d))
            c1, c2 = (g @ g.T for g in rng.normal(size=(2, d, d)))
            cases.append(dict(m1=m1.tolist(), c1=c1.tolist(), m2=m2.tolist(), c2=c2.tolist(),
                              distance=float(ot.gaussian.bures_wasserstein_distance(m1, m2, c1, c2))))
    return cases


tables = dict(assignments=assignments(), plans=plans(), lines=lines(), gaussians=gaussians())
(HERE / "transport.json").write_text(json.dumps(tables, separators=(",", ":")) + "\n")
