"""Shares of mixtures by scipy: python generate.py > unmix.json, with numpy 2.4.6 and scipy 1.17.1.

Rows of four classes in six columns of very different units, correlated, and twelve mixtures of them. Columns are
standardised on the source; the covariance is that within the classes with 1 % of its mean variance added to its diagonal;
the shares of least squares under it are those of nonnegative least squares with a heavy row for the sum.
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
print(json.dumps({"source": source.tolist(), "labels": labels.tolist(), "target": target.tolist(), "shares": shares}))
