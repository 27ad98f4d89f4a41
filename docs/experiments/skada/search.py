"""One of skada's methods on one task: choose its parameters without the target's labels, as
SKADA-Bench does, fit it on all rows, and label the target."""

import time
from collections import defaultdict

import numpy as np
from skada.metrics import (
    CircularValidation,
    DeepEmbeddedValidation,
    ImportanceWeightedScorer,
    MixValScorer,
    PredictionEntropyScorer,
    SoftNeighborhoodDensity,
)
from skada.model_selection import StratifiedDomainShuffleSplit
from skada.utils import source_target_merge

UNKNOWN = -1  # skada's label of rows whose class is not given

SCORERS = {
    "importance_weighted": ImportanceWeightedScorer(),
    "prediction_entropy": PredictionEntropyScorer(),
    "soft_neighborhood_density": SoftNeighborhoodDensity(),
    "deep_embedded_validation": DeepEmbeddedValidation(),
    "circular_validation": CircularValidation(),
    "mix_val_both": MixValScorer(ice_type="both", random_state=0),
    "mix_val_inter": MixValScorer(ice_type="inter", random_state=0),
    "mix_val_intra": MixValScorer(ice_type="intra", random_state=0),
}


class Search:
    """The points of a method's grid, and their scores by each scorer. The search ends after
    `seconds` of processor time: each point is then tried on fewer splits, or not at all."""

    def __init__(self, method, task, base, splits, seconds):
        self.method, self.base, self.seconds = method, base, seconds
        d = task.domains
        self.x, self.y, self.domain = source_target_merge(d.xs, d.xt, d.ys, np.full(len(d.xt), UNKNOWN))
        self.points = list(method.points())
        np.random.default_rng(0).shuffle(self.points)
        self.splits = StratifiedDomainShuffleSplit(n_splits=splits, test_size=0.2, random_state=0)
        self.scores = {name: defaultdict(list) for name in SCORERS}
        self.total, self.tried, self.errors = len(self.points) * splits, 0, []

    def run(self):
        end = time.process_time() + self.seconds
        for fit, score in self.splits.split(self.x, self.y, self.domain):
            for number, point in enumerate(self.points):
                if time.process_time() > end:
                    return
                self.tried += 1
                self.try_point(number, point, fit, score)

    def try_point(self, number, point, fit, score):
        try:
            model = self.fitted(point, fit)
        except Exception as e:  # noqa: BLE001  (skada's methods raise all kinds)
            self.errors.append(f"{type(e).__name__}: {e}")
            return
        for name, scorer in SCORERS.items():
            value = self.score(scorer, model, score)
            if np.isfinite(value):
                self.scores[name][number].append(value)

    def fitted(self, point, rows):
        model = self.method.pipeline(point, self.base)
        return model.fit(self.x[rows], self.y[rows], sample_domain=self.domain[rows])

    def score(self, scorer, model, rows):
        try:
            return scorer(model, self.x[rows], self.y[rows], sample_domain=self.domain[rows])
        except Exception as e:  # noqa: BLE001  (skada's methods raise all kinds)
            self.errors.append(f"{type(e).__name__}: {e}")
            return -np.inf

    def best(self):
        """The number of the best point by each scorer that could judge any."""
        return {name: max(of, key=lambda n: np.mean(of[n])) for name, of in self.scores.items() if of}

    def predictions(self, numbers):
        """The labels of the target by each of these points, fitted on all rows."""
        target, made = self.domain < 0, {}
        for number in numbers:
            try:
                model = self.fitted(self.points[number], slice(None))
                made[number] = model.predict(self.x[target], sample_domain=self.domain[target])
            except Exception as e:  # noqa: BLE001  (skada's methods raise all kinds)
                self.errors.append(f"{type(e).__name__}: {e}")
        return made


def label(method, task, base, splits, seconds):
    """Labels of the target's rows by each scorer's choice, and what is to be said of the search."""
    search = Search(method, task, base, splits, seconds)
    if len(search.points) == 1:
        best = dict.fromkeys(SCORERS, 0)
    else:
        search.run()
        best = search.best()
    made = search.predictions(sorted(set(best.values())))
    labels = {name: made[number] for name, number in best.items() if number in made}
    if not labels:
        raise RuntimeError(search.errors[0] if search.errors else "no point was tried in the time")
    errors = {"errors": len(search.errors), "error": search.errors[0][:300]} if search.errors else {}
    return labels, {"tried": search.tried, "total": search.total} | errors
