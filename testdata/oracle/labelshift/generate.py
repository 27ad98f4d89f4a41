"""Writes mte.json, translate.json, posteriors.json: what a plain NumPy statement
of match-translate-EM and of match, translate, retrain, SciPy's optimisers and
scikit-learn make of data that the Go tests generate again by `normal` below.

    pip install numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1
    python generate.py
"""

import json
import pathlib

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment, minimize
from scipy.special import softmax
from scipy.stats import multivariate_normal, multivariate_t
from sklearn.linear_model import LogisticRegression
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


def problem(case):
    """Source rows, their labels, target rows: classes as blobs, moved by a shift
    that is the same for all but a little. The classes of source row i and target
    row i are i mod C and the number of entries of `cuts` that i mod 10 reaches."""
    C, d, seed = case["C"], case["d"], case["seed"]
    nS, nT = case["nS"], case["nT"]
    means = case["spread"] * normal(seed, C * d).reshape(C, d)
    shift = case["shift"] + 0.2 * normal(seed + 1, C * d).reshape(C, d)
    yS = np.arange(nS) % C
    yT = (np.arange(nT)[:, None] % 10 >= np.array(case["cuts"])[None]).sum(1)
    scale = np.linspace(1, 2, d)
    XS = means[yS] + scale * normal(seed + 2, nS * d).reshape(nS, d)
    XT = (means + shift)[yT] + 1.2 * scale * normal(seed + 3, nT * d).reshape(nT, d)
    return XS.astype(np.float32), yS, XT.astype(np.float32)


CASES = [
    dict(name="plane", C=3, d=2, nS=300, nT=250, spread=3.0, shift=1.0, cuts=[6, 8], seed=10),
    dict(name="six columns", C=4, d=6, nS=400, nT=300, spread=1.5, shift=0.7, cuts=[1, 4, 5], seed=20),
    dict(name="two classes", C=2, d=5, nS=200, nT=200, spread=1.0, shift=-0.5, cuts=[8], seed=30),
    dict(name="principal components", C=5, d=60, nS=500, nT=300, spread=0.7, shift=0.3, cuts=[2, 5, 6, 7], seed=40),
]


def turned(axes):
    """Axes have no direction: the greatest entry of each is made positive."""
    return axes * np.sign(axes[np.abs(axes).argmax(0), range(axes.shape[1])])


def class_moments(X, y, C):
    """Means, pooled covariance, covariances shrunk to it with d+5 rows."""
    d = X.shape[1]
    means = np.stack([X[y == k].mean(0) for k in range(C)])
    scatters = [(X[y == k] - means[k]).T @ (X[y == k] - means[k]) for k in range(C)]
    pooled = sum(scatters) / (len(X) - C) + 1e-6 * np.eye(d)
    return means, pooled, [(s + (d + 5) * pooled) / ((y == k).sum() + d + 5) for k, s in enumerate(scatters)]


def discriminant_spaces(XS, y, XT, C):
    """The wide and the narrow space of both domains."""
    XS, XT = XS.astype(float), XT.astype(float)
    mean, deviation = XS.mean(0), XS.std(0) + 1e-9
    ZS, ZT = (np.clip((X - mean) / deviation, -8, 8) for X in (XS, XT))
    if ZS.shape[1] > 50:
        values, vectors = np.linalg.eigh(np.cov(ZS.T))
        axes = turned(vectors[:, np.argsort(-values)[:50]])
        axes = axes / (ZS @ axes).std(0).mean()
        ZS, ZT = ZS @ axes, ZT @ axes
    means, pooled, _ = class_moments(ZS, y, C)
    d = len(pooled)
    values, vectors = np.linalg.eigh(pooled + 0.01 * np.trace(pooled) / d * np.eye(d))
    whiten = vectors @ np.diag(values**-0.5) @ vectors.T
    right = np.linalg.svd((means - means.mean(0)) @ whiten)[2][: min(C - 1, d)]
    axes = turned(whiten @ right.T)
    GS, GT = (ZS - ZS.mean(0)) @ axes, (ZT - ZS.mean(0)) @ axes
    unit = GS.std(0).mean()
    return ZS, ZT, GS / unit, GT / unit


def matched(means, clusters, by):
    cost = ((means[:, None] + by - clusters[None]) ** 2).sum(2)
    return np.median(clusters[linear_sum_assignment(cost)[1]] - means, axis=0)


def displacements(means, pooled, prior, G):
    C, tree = len(means), linkage(G, "ward")

    def clusters(k):
        labels = fcluster(tree, k, "maxclust")
        return np.stack([G[labels == j].mean(0) for j in range(1, k + 1)])

    ward = matched(means, clusters(C), 0)
    finer = ward
    for _ in range(3):
        finer = matched(means, clusters(2 * C), finer)
    gmm = GaussianMixture(C, random_state=0, max_iter=60, reg_covar=1e-3 * np.trace(pooled) / len(pooled)).fit(G)
    return [np.zeros_like(ward), G.mean(0) - prior @ means, ward, finer, matched(means, gmm.means_, 0)]


def em(G, means, covariances, prior, by, student=True):
    """40 steps. With student False, Gaussians whose covariances adapt."""
    n, d = G.shape
    C, nu, kappa = len(means), 10.0, (0.03 if student else 0.05) * n
    p = np.maximum(prior, 1e-3)
    p = p / p.sum()
    m, S = means + by, list(covariances)
    for _ in range(40):
        jittered = [s + 1e-6 * np.trace(s) / d * np.eye(d) for s in S]
        if student:
            L = np.stack([multivariate_t.logpdf(G, m[k], jittered[k], nu) for k in range(C)], 1)
            delta = np.stack([((G - m[k]) @ np.linalg.inv(jittered[k]) * (G - m[k])).sum(1) for k in range(C)], 1)
            tail = (nu + d) / (nu + delta)
        else:
            L = np.stack([multivariate_normal.logpdf(G, m[k], jittered[k]) for k in range(C)], 1)
            tail = np.ones((n, C))
        R = p * np.exp(L - L.max(1, keepdims=True))
        R /= R.sum(1, keepdims=True)
        p = R.sum(0) / n
        Q = R * tail
        count = Q.sum(0)
        own = Q.T @ G / count[:, None]
        w = count * kappa / (count + kappa)
        w /= w.sum()
        A, B = means - w @ means, own - w @ own
        M = np.eye(d)
        if student:
            V = A.T @ np.diag(w) @ A
            ridge = np.trace(V) / d * np.eye(d)
            M = np.linalg.inv(V + ridge) @ (A.T @ np.diag(w) @ B + ridge)
        m = (count[:, None] * own + kappa * (w @ own + A @ M)) / (count + kappa)[:, None]
        spread = [(Q[:, k, None] * (G - m[k])).T @ (G - m[k]) for k in range(C)]
        if student:
            found = sum(np.diag(s) for s in spread)
            expected = sum(R[:, k].sum() * np.diag(covariances[k]) for k in range(C))
            f = np.diag((found / expected) ** 0.25)
            S = [f @ s @ f for s in covariances]
        else:
            S = [(s + 0.2 * n * c) / (R[:, k].sum() + 0.2 * n) for k, (s, c) in enumerate(zip(spread, covariances))]
    return p, R


def match(XS, y, XT, C):
    prior = np.bincount(y, minlength=C) / len(y)
    ZS, ZT, GS, GT = discriminant_spaces(XS, y, XT, C)
    means, pooled, own = class_moments(GS, y, C)
    covariances = [0.4 * s + 0.6 * pooled for s in own]
    starts = displacements(means, pooled, prior, GT)
    runs = [em(GT, means, covariances, prior, by) for by in starts]
    median = np.median([p for p, _ in runs], axis=0)
    median /= median.sum()
    best = int(np.argmin([np.abs(p - median).sum() for p, _ in runs]))
    adapt, _ = em(GT, means, covariances, prior, starts[2], student=False)
    return dict(wide=ZT, narrow=GT, starts=starts, runs=[p for p, _ in runs], p=median, R=runs[best][1], best=best, adapt=adapt,
                wideS=ZS)


def nearness(XS, y, XT, C):
    """Responsibilities that fall with the squared distance to the class means."""
    means = np.stack([XS[y == k].astype(float).mean(0) for k in range(C)])
    R = softmax(-((XT[:, None] - means) ** 2).mean(2), axis=1)
    return R.astype(np.float32).astype(float)


def power(A, exponent):
    values, vectors = np.linalg.eigh(A)
    return vectors @ np.diag(np.maximum(values, 1e-9) ** exponent) @ vectors.T


def displaced(XS, y, XT, R, C):
    means = np.stack([XS[y == k].mean(0) for k in range(C)])
    count, kappa = R.sum(0), 0.05 * len(XT)
    own = R.T @ XT / count[:, None] - means
    w = count * kappa / (count + kappa)
    shared = w @ own / w.sum()
    return means, (count[:, None] * own + kappa * shared) / (count + kappa)[:, None]


def translated(XS, y, XT, R, C):
    XS, XT = XS.astype(float), XT.astype(float)
    means, by = displaced(XS, y, XT, R, C)
    d, n = XS.shape[1], len(XT)
    weight = np.minimum((R.sum(0) / n / (np.bincount(y) / len(y)))[y], 10.0)
    residual = XS - means[y]
    WS = (residual * weight[:, None]).T @ residual / weight.sum()
    WT = sum((XT - means[k] - by[k]).T @ (R[:, k, None] * (XT - means[k] - by[k])) for k in range(C)) / n
    ridge = 0.05 * np.trace(WS) / d * np.eye(d)
    return by, (means + by)[y] + residual @ power(WS + ridge, -0.5) @ power(WT + ridge, 0.5)


def posterior_estimates(PS, y, PT, C):
    """BBSE hard and soft, RLLS, EM, and both calibrations by general optimisers."""
    n, pS = len(y), np.bincount(y, minlength=C) / len(y)
    one = lambda P: np.eye(C)[P.argmax(1)]
    simplex = dict(type="eq", fun=lambda p: p.sum() - 1)

    def best(loss, start, bounds=None, constraints=()):
        return minimize(loss, start, method="SLSQP", bounds=bounds, constraints=constraints,
                        options=dict(ftol=1e-16, maxiter=2000)).x

    out = dict(cc=one(PT).mean(0))
    for name, S, T in (("bbse_hard", one(PS), one(PT)), ("bbse_soft", PS, PT)):
        M = np.stack([S[y == k].mean(0) for k in range(C)], 1)
        out[name] = best(lambda p: 1e3 * ((M @ p - T.mean(0)) ** 2).sum(), np.full(C, 1 / C), [(0, 1)] * C, simplex)
    joint = np.stack([one(PS)[y == k].sum(0) for k in range(C)], 1) / n
    delta = 2 * np.log(2 * C / 0.05)
    rho = 0.01 * 3 * (delta / (3 * n) + np.sqrt(delta / n))
    gap = out["cc"] - joint.sum(1)
    theta = best(lambda t: 1e2 * (np.linalg.norm(joint @ t - gap) + rho * np.linalg.norm(t)), np.full(C, 0.01), [(-1, None)] * C)
    out["rlls"] = pS * (1 + theta) / (pS * (1 + theta)).sum()

    q = pS.copy()
    for _ in range(20000):
        R = PT * (q / pS)
        q = (R / R.sum(1, keepdims=True)).mean(0)
    out["em"] = q

    def loss(beta, bias):
        logits = beta * np.log(np.maximum(PS, 1e-12)) + bias
        return (np.log(np.exp(logits).sum(1)) - logits[range(n), y]).mean()

    t = minimize(lambda v: loss(v[0], 0), [1.0], method="BFGS", options=dict(gtol=1e-9)).x
    out["temperature"] = 1 / t[0]
    v = minimize(lambda v: loss(v[0], np.append(v[1:], 0)), np.append(1.0, np.zeros(C - 1)), method="BFGS", options=dict(gtol=1e-9)).x
    bias = np.append(v[1:], 0)
    out["bcts"] = dict(temperature=1 / v[0], bias=bias - bias.mean())
    return out


def write(name, rows):
    def plain(v):
        if isinstance(v, dict):
            return {k: plain(w) for k, w in v.items()}
        if isinstance(v, (list, tuple)):
            return [plain(w) for w in v]
        return np.round(v, 9).tolist() if isinstance(v, (np.ndarray, np.floating)) else v

    text = ",\n".join(json.dumps(plain(row)) for row in rows)
    (HERE / name).write_text("[\n" + text + "\n]\n")


def main():
    mte, translate, posteriors = [], [], []
    for case in CASES:
        XS, y, XT = problem(case)
        C = case["C"]
        m = match(XS, y, XT, C)
        mte.append(dict(case=case, wide=m["wide"][:3], narrow=m["narrow"][:5], starts=m["starts"], runs=m["runs"], best=m["best"],
                        proportions=m["p"], adapt=m["adapt"], responsibilities=m["R"][:5]))
        by, rows = translated(XS, y, XT, nearness(XS, y, XT, C), C)
        translate.append(dict(case=case, displacement=by, rows=rows[:5], sum=rows.sum(0)))
        few = 3  # columns that the classifier sees, lest it makes no mistakes
        model = LogisticRegression(C=0.05, max_iter=1000).fit(XS[:, :few], y)
        weights, bias = np.round(model.coef_, 9), np.round(model.intercept_, 9)
        if C == 2:
            weights, bias = np.vstack([0 * weights, weights]), np.append(0, bias)
        PS, PT = (softmax(X[:, :few] @ weights.T + bias, axis=1).astype(np.float32).astype(float) for X in (XS, XT))
        posteriors.append(dict(case=case["name"], weights=weights, bias=bias, **posterior_estimates(PS, y, PT, C)))
    write("mte.json", mte)
    write("translate.json", translate)
    write("posteriors.json", posteriors)


if __name__ == "__main__":
    main()
