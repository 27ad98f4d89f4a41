"""Writes logistic.json, discriminant.json, kernelridge.json and prepare.json: what scikit-learn and
plain NumPy formulas make of data that the Go tests generate again: `blobs` and
`table` below.

    pip install numpy==2.4.6 scikit-learn==1.9.1
    python generate.py
"""

import json
import pathlib

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel

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


def blobs(case):
    """Rows of classes as blobs, with labels: row i is of class i mod C."""
    C, d, n, seed = case["C"], case["D"], case["NS"], case["Seed"]
    means = case["Spread"] * normal(seed, C * d).reshape(C, d)
    y = np.arange(n) % C
    x = means[y] + np.linspace(1, 2, d) * normal(seed + 2, n * d).reshape(n, d)
    return x.astype(np.float32), y


def oracle(C, D, NS, Spread, Seed):
    return dict(C=C, D=D, NS=NS, Spread=Spread, Seed=Seed)


def rounded(values, digits=9):
    return np.round(np.asarray(values, float), digits).tolist()


def write(name, cases):
    text = ",\n".join(json.dumps(c) for c in cases)
    (HERE / name).write_text(f"[\n{text}\n]\n")


def logistic():
    cases = [
        (oracle(3, 2, 300, 1.0, 10), 0.3),
        (oracle(4, 6, 200, 0.5, 20), 1.0),
        (oracle(2, 5, 200, 0.5, 30), 10.0),
        (oracle(5, 30, 150, 0.3, 40), 0.3),
    ]
    out = []
    for data, c in cases:
        x, y = blobs(data)
        # scikit-learn fits one vector to two classes, w = w_1 − w_0; its penalty is
        # ½|w|², while that of the vectors −½w and ½w is ¼|w|².
        two = data["C"] == 2
        m = LogisticRegression(C=2 * c if two else c, tol=1e-12, max_iter=100_000).fit(x.astype(float), y)
        w, b = m.coef_.T, m.intercept_
        if two:
            w, b = np.hstack([-w / 2, w / 2]), np.array([-b[0] / 2, b[0] / 2])
        out.append(dict(data=data, inverse=c, weights=rounded(w - w.mean(1, keepdims=True)), bias=rounded(b - b.mean())))
    write("logistic.json", out)


RIDGE = 0.01  # of package discriminant


def discriminant():
    """Shrunk and counted so many times as `temperature` says, our covariance is scikit-learn's."""
    out = []
    for data in oracle(3, 2, 100, 1.0, 50), oracle(5, 30, 60, 0.5, 51), oracle(80, 6, 400, 1.0, 52), oracle(80, 6, 200, 1.0, 53):
        x, y = blobs(data)
        shrinkage = RIDGE / (1 + RIDGE)
        m, other = (LinearDiscriminantAnalysis(solver=s, shrinkage=shrinkage).fit(x.astype(float), y) for s in ("lsqr", "eigen"))
        assert np.allclose(m.predict_proba(x), other.predict_proba(x))
        n, C = len(x), data["C"]
        w, b = m.coef_.T, m.intercept_
        out.append(dict(data=data, temperature=(n - C) / n / (1 + RIDGE), weights=rounded(w - w.mean(1, keepdims=True)), bias=rounded(b - b.mean())))
    write("discriminant.json", out)


def centred(y, C, w):
    """One-hot classes less their weighted mean."""
    one = np.eye(C)[y]
    mean = w @ one / w.sum()
    return one - mean, mean


def squared_distances(x, z):
    return ((x[:, None] - z[None]) ** 2).sum(-1)


def left_out(x, y, C):
    """The pair of hyper-parameters of least squared leave-one-out error, and the
    scores of rows by models without them, each fitted on its own."""
    n = len(x)
    t, mean = centred(y, C, np.ones(n))
    d = squared_distances(x, x)
    median = np.median(d[np.tril_indices(n, -1)])
    best = None
    for g in (0.5, 2, 8):
        K = np.exp(-g / median * d)
        for alpha in (0.01, 0.1, 1, 5):
            scores = np.empty((n, C))
            for i in range(n):
                rest = np.arange(n) != i
                a = np.linalg.solve(K[np.ix_(rest, rest)] + alpha * np.eye(n - 1), t[rest])
                scores[i] = K[i, rest] @ a
            error = ((t - scores) ** 2).sum()
            if best is None or error < best[0]:
                best = error, g / median, alpha, scores + mean
    return dict(gamma=best[1], alpha=best[2], scores=rounded(best[3]))


JITTER = 1e-6


def kernelridge():
    cases = [
        (oracle(3, 2, 60, 1.0, 11), 0.5, 0.1),
        (oracle(4, 6, 80, 0.5, 21), 0.05, 1.0),
        (oracle(2, 20, 40, 0.4, 31), 0.01, 0.01),
    ]
    out = []
    for data, gamma, alpha in cases:
        x, y = blobs(data)
        x, C, n = x.astype(float), data["C"], len(x)
        query = x[:10] + 0.5
        w = 0.5 + np.arange(n) % 7 / 4
        case = dict(data=data, gamma=gamma, alpha=alpha)
        for name, weights in (("exact", np.ones(n)), ("weighted", w)):
            t, mean = centred(y, C, weights)
            m = KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma).fit(x, t, sample_weight=weights)
            case[name] = rounded(m.predict(query) + mean)
        z = x[: n // 3]
        t, mean = centred(y, C, w)
        K, Kzz = rbf_kernel(x, z, gamma), rbf_kernel(z, z, gamma)
        left = K.T @ (w[:, None] * K) + alpha * Kzz + JITTER * (alpha + n / len(z)) * np.eye(len(z))
        case["nystroem"] = rounded(rbf_kernel(query, z, gamma) @ np.linalg.solve(left, K.T @ (w[:, None] * t)) + mean)
        case["left_out"] = left_out(x, y, C)
        out.append(case)
    write("kernelridge.json", out)


def table(case):
    """Columns of all kinds: column j is of kind j mod 6."""
    x = blobs(case["data"])[0].astype(float)
    if case["counts"]:
        return np.maximum(np.floor(3 * x - 2), 0).astype(np.float32)
    kind = np.arange(x.shape[1]) % 6
    v = x.copy()
    x[:, kind == 1] = 5 + 1e-8 * v[:, kind == 1]  # constant up to rounding
    x[:, kind == 2] = v[:, kind == 2] > 3  # seldom 1
    x[:, kind == 3] = np.rint(v[:, kind == 3])  # few values
    x[:, kind == 4] **= 5  # some far outside
    x[:, kind == 5] = 1000 + 0.01 * v[:, kind == 5]
    return x.astype(np.float32)


def prepared(x):
    """Written from the documentation of package prepare. The components are the
    singular vectors of all rows."""
    low, high = x.min(0).astype(float), x.max(0).astype(float)
    kept = high - low > 1e-7 * (1 + np.maximum(abs(low), abs(high)))
    z = x[:, kept].astype(float)
    counts = z.shape[1] > 200 and (z >= 0).all() and (z == 0).mean() > 0.5
    if counts:
        z = np.log1p(z)
        z /= np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-300)
    deviation = z.std(0)
    for k, column in enumerate(z.T.astype(np.float32)):
        if len(np.unique(column[:300])) <= 10:
            deviation[k] = max(deviation[k], np.ptp(column) / 3)
    z = np.clip((z - z.mean(0)) / deviation, -8, 8)
    if z.shape[1] > 100:
        z = z - z.mean(0)
        z = z @ np.linalg.svd(z, full_matrices=False)[2][:100].T
        z = z / z.std(0).mean()
    return z, kept, bool(counts)


def prepare():
    def kinds(rows, columns, seed, counts=False):
        return dict(data=oracle(1, columns, rows, 0.0, seed), counts=counts)

    cases = [
        kinds(50, 12, 12),
        kinds(400, 60, 13),
        # All singular vectors of at most 120 rows are found, so they can be compared.
        kinds(115, 180, 14),
        kinds(110, 230, 15, counts=True),
        kinds(90, 150, 16, counts=True),
        # Of more rows, only the variance can.
        kinds(500, 320, 17, counts=True),
    ]
    out = []
    for case in cases:
        z, kept, counts = prepared(table(case))
        out.append(dict(**case, kept=np.flatnonzero(kept).tolist(), sparse=counts,
                        rows=rounded(z[:3], 6), deviations=rounded(z.std(0), 6)))
    write("prepare.json", out)


logistic()
discriminant()
kernelridge()
prepare()
