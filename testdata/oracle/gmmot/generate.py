"""Writes gmmot.json: GMM+OT by scikit-learn's GaussianMixture and scipy's assignment.

    pip install numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1
    python generate.py
"""

import json
import pathlib

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.mixture import GaussianMixture

CLASSES, DIMENSIONS, SOURCE, TARGET = 4, 3, 80, 240
SHARES = [0.5, 0.25, 0.15, 0.1]


def draw(rng, centres, spreads, labels):
    """Rows in steps of 1/64, which float32 holds."""
    noise = np.einsum("nij,nj->ni", spreads[labels], rng.standard_normal((len(labels), DIMENSIONS)))
    return np.round(64 * (centres[labels] + noise)) / 64


def main():
    rng = np.random.default_rng(6)
    centres = 1.0 * rng.standard_normal((CLASSES, DIMENSIONS))
    spreads = 0.5 * np.eye(DIMENSIONS) + 0.25 * rng.standard_normal((CLASSES, DIMENSIONS, DIMENSIONS))
    labels = np.arange(SOURCE) % CLASSES
    truth = rng.choice(CLASSES, TARGET, p=SHARES)
    source = draw(rng, centres, spreads, labels)
    target = draw(rng, centres + [0.5, -0.4, 0.3], spreads, truth)

    mixture = GaussianMixture(CLASSES, n_init=10, random_state=0).fit(target)
    component = mixture.predict(target)
    components = np.stack([target[component == k].mean(0) for k in range(CLASSES)])
    classes = np.stack([source[labels == k].mean(0) for k in range(CLASSES)])
    # The components' means are the mixture's; those of their rows match alike.
    for means in (components, mixture.means_):
        cost = cdist(classes, means, "sqeuclidean")
        component_of = linear_sum_assignment(cost / cost.max())[1]
    posteriors = mixture.predict_proba(target)[:, component_of]
    proportions = [float(np.mean(component == component_of[c])) for c in range(CLASSES)]
    prediction = posteriors.argmax(1)
    print("accuracy", np.mean(prediction == truth), "unsure rows", np.sum(posteriors.max(1) < 0.99))

    result = {
        "source": source.tolist(), "labels": labels.tolist(), "target": target.tolist(),
        "proportions": proportions, "prediction": prediction.tolist(),
        "posteriors": [[float(f"{p:.9g}") for p in row] for row in posteriors],
    }
    pathlib.Path(__file__).with_name("gmmot.json").write_text(json.dumps(result, separators=(",", ":")))


if __name__ == "__main__":
    main()
