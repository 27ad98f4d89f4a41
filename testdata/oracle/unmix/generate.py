"""Shares of mixtures by scipy: python generate.py > unmix.json, with numpy 2.4.6 and scipy 1.17.1.

Rows of four classes in six columns of very different units, correlated, and twelve mixtures of them. Columns are
standardised on the source; the covariance is that within the classes with 1 % of its mean variance added to its diagonal;
the shares of least squares under it are those of nonnegative least squares with a heavy row for the sum.

And amounts: 400 columns, what the target's machine sees of each in another proportion, and a background. Errors are in
proportion to the values; shares are by nonnegative least squares, weighted again until nothing moves.
"""

import json

import numpy as np
from scipy.linalg import cholesky
from scipy.optimize import nnls

rng = np.random.default_rng(20261127)
classes, d, n = 4, 6, 30
units = np.array([1, 1e4, 1e-3, 50, 1, 1e6])
centres = rng.normal(0, 3, (classes, d))
spread = rng.normal(0, 0.6, (d, d))
labels = np.repeat(np.arange(classes), n)
source = ((centres[labels] + rng.normal(size=(classes * n, d)) @ spread) * units + units * 7).astype(np.float32)
mixed = rng.dirichlet(np.full(classes, 0.7), 12)
target = ((mixed @ centres + 0.4 * rng.normal(size=(12, d)) @ spread) * units + units * 7).astype(np.float32)

x, y = source.astype(float), target.astype(float)
x, y = (x - source.astype(float).mean(0)) / x.std(0), (y - source.astype(float).mean(0)) / x.std(0)
means = np.stack([x[labels == k].mean(0) for k in range(classes)])
within = x - means[labels]
covariance = within.T @ within / (len(x) - classes)
covariance += np.eye(d) * 0.01 * np.trace(covariance) / d
white = cholesky(np.linalg.inv(covariance))
heavy = 1e6
shares = []
for row in y:
    p, _ = nnls(np.vstack([white @ means.T, np.full(classes, heavy)]), np.append(white @ row, heavy))
    shares.append((p / p.sum()).tolist())

classes, d = 3, 400
usual = rng.gamma(0.5, 2, (classes, d))
kinds = np.repeat(np.arange(classes), [4, 1, 3])
amounts = (usual[kinds] * rng.lognormal(0, 0.3, (len(kinds), d))).round(4)
mixed = rng.dirichlet(np.full(classes, 0.7), 8)
rows = ((mixed @ usual) * rng.lognormal(0, 0.4, d) * rng.lognormal(0, 1, (8, 1)) + 0.2).round(4)
rows[:, :30] *= 20  # which fit badly

means = np.stack([amounts.astype(np.float32).astype(float)[kinds == k].mean(0) for k in range(classes)])
little = 0.3 * means.mean()
logs = np.log(little + means)
above = logs - (logs.sum(0) - logs) / (classes - 1)
columns = np.unique(np.argsort(-above, axis=1, kind="stable")[:, : 300 // classes])
design = means[:, columns].T.astype(np.float32).astype(float)
level = design.mean()
design = np.column_stack([design, np.full(len(columns), level)])
made = []
for row in rows.astype(np.float32).astype(float)[:, columns]:
    row, z = row * level * len(row) / row.sum(), np.append(np.full(classes, 1 / classes), 0)
    for time in range(500):
        fitted = design @ z
        deviation = fitted + little * z[:classes].sum()
        off = np.abs(row - fitted) / deviation
        root = np.sqrt(np.minimum(1, 1.345 * np.median(off) / 0.6745 / off)) / deviation
        new = nnls(design * root[:, None], row * root)[0]
        z, moved = z + (1 if time < 5 else 0.5) * (new - z), np.abs(new - z).max()
        if moved < 1e-9:
            break
    made.append((z[:classes] / z[:classes].sum()).tolist())
covariance = {"source": source.tolist(), "labels": labels.tolist(), "target": target.tolist(), "shares": shares}
of_amounts = {"source": amounts.tolist(), "labels": kinds.tolist(), "target": rows.tolist(), "shares": made}
print(json.dumps({"covariance": covariance, "amounts": of_amounts}))
