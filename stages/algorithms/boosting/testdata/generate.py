"""Writes sklearn.json: rows, labels and the posteriors of scikit-learn's HistGradientBoostingClassifier."""

import json

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

rng = np.random.default_rng(3)
tables = {}
for name, classes, gaps in (("two classes", 2, False), ("three classes", 3, False), ("gaps", 2, True)):
    x = np.round(rng.standard_normal((60, 3)), 2).astype(np.float32)
    score = x[:, 0] + 0.5 * x[:, 1] * x[:, 2] + 0.8 * rng.standard_normal(60)
    labels = (1.2 * score + 1).clip(0, classes - 1).round().astype(int)
    if gaps:
        x[rng.random(x.shape) < 0.25] = np.nan
    model = HistGradientBoostingClassifier(
        max_iter=3, learning_rate=0.3, max_leaf_nodes=4, min_samples_leaf=5, l2_regularization=1, early_stopping=False)
    posteriors = model.fit(x, labels).predict_proba(x)
    tables[name] = {
        "x": [None if np.isnan(v) else round(float(v), 2) for v in x.ravel()],
        "labels": labels.tolist(),
        "posteriors": [round(float(v), 6) for v in posteriors.ravel()],
    }
with open("sklearn.json", "w") as f:
    json.dump(tables, f, separators=(",", ":"))
