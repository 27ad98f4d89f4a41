"""Writes wasserstein.json: Wasserstein-1 distances of weighted samples by POT, with the
Euclidean distance as the cost.

    pip install numpy==2.4.6 POT==0.9.7.post1
    python generate.py
"""

import json
import pathlib

import numpy as np
import ot

rng = np.random.default_rng(7)
cases = []
for n, m, d in ((1, 1, 1), (6, 9, 2), (40, 25, 3), (30, 30, 12)):
    x, y = rng.normal(size=(n, d)).astype("f4"), rng.normal(0.5, 2, (m, d)).astype("f4")
    a = rng.dirichlet(np.ones(n))
    cost = ot.dist(x.astype("f8"), y.astype("f8"), metric="euclidean")
    cases.append(dict(x=x.tolist(), y=y.tolist(), masses=a.tolist(),
                      distance=float(ot.emd2(a, np.full(m, 1 / m), cost))))
(pathlib.Path(__file__).parent / "wasserstein.json").write_text(json.dumps(cases, separators=(",", ":")) + "\n")
