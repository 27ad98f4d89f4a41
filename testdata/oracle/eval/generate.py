"""Metrics of scikit-learn for stages/eval. Made with scikit-learn 1.9.1 and numpy 2.4.6.

    python generate.py > metrics.json
"""
import json
import warnings

import numpy as np
from sklearn import metrics

rng = np.random.default_rng(0)
warnings.simplefilter("ignore")
cases = []
for n, classes in [(1, 2), (7, 3), (200, 4), (1000, 10)]:
    for absent in (False, True):
        truth = rng.integers(0, classes - 1 if absent else classes, n)
        predicted = np.where(rng.random(n) < 0.6, truth, rng.integers(0, classes, n))
        labels = list(range(classes))
        recall = metrics.recall_score(truth, predicted, labels=labels, average=None, zero_division=np.nan)
        cases.append({
            "classes": classes, "truth": truth.tolist(), "predicted": predicted.tolist(),
            "accuracy": metrics.accuracy_score(truth, predicted),
            "balanced_accuracy": metrics.balanced_accuracy_score(truth, predicted),
            "recall": [None if np.isnan(r) else r for r in recall],
            "confusion_matrix": metrics.confusion_matrix(truth, predicted, labels=labels).tolist(),
        })
print(json.dumps(cases))
