"""Small tables, and what skada's scores without target labels make of them.

Needs numpy, scikit-learn and skada. Run it in this folder: python generate.py
Made with skada 0.6.0, scikit-learn and numpy as docs/experiments/skada/requirements.txt has them.
"""
import json
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from skada import make_da_pipeline
from skada.metrics import (CircularValidation, DeepEmbeddedValidation, ImportanceWeightedScorer, MixValScorer,
                           PredictionEntropyScorer, SoftNeighborhoodDensity)

warnings.simplefilter("ignore")
SEED = 7
CLASSIFIER = dict(tol=1e-10, max_iter=10_000)


def losses(y, posteriors):
    """The losses of rows as a column. skada 0.6.0's own are a vector, which numpy multiplies with
    its column of weights to a square of all pairs, so that its default is not what its paper has."""
    return -np.log(np.clip(posteriors[np.arange(len(y)), y], 1e-15, 1 - 1e-15))[:, None]


def draw(rng, n, classes, columns, shift):
    y = rng.integers(0, classes, n)
    return (rng.normal(size=(n, columns)) + 1.5 * np.eye(classes, columns)[y] + shift).astype(np.float32).astype(float), y


def case(seed, n, classes, columns, shift):
    rng = np.random.default_rng(seed)
    x_s, y_s = draw(rng, n, classes, columns, 0)
    x_t, _ = draw(rng, n + 11, classes, columns, shift)
    x, domain = np.concatenate([x_s, x_t]), np.array([1] * len(x_s) + [-2] * len(x_t))
    y = np.concatenate([y_s, -np.ones(len(x_t), int)])
    model = make_da_pipeline(LogisticRegression(**CLASSIFIER).set_score_request(sample_weight=True))
    model.fit(x, y, sample_domain=domain)
    proba = model.predict_proba(x, sample_domain=domain, allow_source=True)
    back = []

    def recorded(truth, found):
        back.append(np.asarray(found).tolist())
        return balanced_accuracy_score(truth, found)

    def score(scorer):
        return float(scorer._score(None, model, x, y, sample_domain=domain))

    train, val = train_test_split(np.arange(len(x_s)), test_size=0.33, random_state=check_random_state(SEED))
    linear = model[-1].base_estimator_
    return {
        "classes": classes, "source": x_s.tolist(), "labels": y_s.tolist(), "target": x_t.tolist(),
        "source_posteriors": proba[domain > 0].tolist(), "target_posteriors": proba[domain < 0].tolist(),
        "weights": np.atleast_2d(linear.coef_).tolist(), "bias": np.atleast_1d(linear.intercept_).tolist(),
        "importance": score(ImportanceWeightedScorer()),
        "dev_train": train.tolist(), "dev_validation": val.tolist(),
        "dev": score(DeepEmbeddedValidation(domain_classifier=LogisticRegression(**CLASSIFIER), loss_func=losses, random_state=SEED)),
        "entropy": score(PredictionEntropyScorer()),
        "density": score(SoftNeighborhoodDensity()),
        "permutation": check_random_state(SEED).permutation(len(x_t)).tolist(),
        "mixval": score(MixValScorer(random_state=SEED)),
        "circular": score(CircularValidation(source_scorer=recorded)), "back": back[0],
    }


cases = [case(0, 60, 2, 2, 0.5), case(1, 80, 3, 4, 1.0), case(2, 50, 4, 5, 0.0), case(3, 40, 3, 3, 6.0)]
with open("scores.json", "w") as f:
    json.dump(cases, f)
    f.write("\n")
for c in cases:
    print({k: c[k] for k in ("importance", "dev", "entropy", "density", "mixval", "circular")}, set(c["back"]))
