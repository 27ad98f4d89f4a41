"""Makes tasks with noise in the target for tasks.py, of tasks without.

usage: noise.py TASKS FOLDER

TASKS is what label_shift.py writes: TABLE_NUMBER.npz. The noise has mean 0 and is drawn for each
value by itself. NUMBER says which it is, in units of a column's deviation in the source:
0 Gaussian of 1, 1 Gaussian of 3, 2 Laplace of scale 1.5 in half of the columns, 3 Gaussian of
0 to 2, drawn for each column. Tables of few values (phishing) are left out. FOLDER/plain.csv has
the accuracies of classifiers that are trained on the source as it is. Needs NumPy and
scikit-learn.
"""

import csv
import pathlib
import sys

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

KINDS = ("Gaussian, 1", "Gaussian, 3", "Laplace, half of the columns", "Gaussian, 0 to 2")
CLASSIFIERS = {
    "svc": lambda rows: SVC(),
    "lr": lambda rows: LogisticRegression(max_iter=1000),
    "knn15": lambda rows: KNeighborsClassifier(min(15, rows // 3)),
    "mlp": lambda rows: MLPClassifier((100,), max_iter=300, random_state=0),
}


def noise(shape, kind, rng):
    rows, columns = shape
    if kind == 0:
        return rng.normal(size=shape)
    if kind == 1:
        return 3 * rng.normal(size=shape)
    if kind == 2:
        return 1.5 * rng.laplace(size=shape) * (rng.random(columns) < 0.5)
    return rng.normal(size=shape) * rng.uniform(0, 2, columns)


def main():
    tasks, folder = map(pathlib.Path, sys.argv[1:3])
    folder.mkdir(exist_ok=True)
    names, plain = [("name", "family")], [("name", *CLASSIFIERS)]
    for path in sorted(tasks.glob("*_[0-3].npz")):
        table, number = path.stem.rsplit("_", 1)
        if table == "phishing":
            continue
        data, kind = dict(np.load(path)), int(number)
        loud = noise(data["Xt"].shape, kind, np.random.default_rng(200 + kind))
        data["Xt"] = data["Xt"] + loud * data["Xs"].std(0)
        np.savez(folder / path.name, **data)
        names.append((path.stem, KINDS[kind]))
        models = [make_pipeline(StandardScaler(), make(len(data["ys"]))) for make in CLASSIFIERS.values()]
        plain.append((path.stem, *(m.fit(data["Xs"], data["ys"]).score(data["Xt"], data["yt"]) for m in models)))
    for file, rows in (("tasks.csv", names), ("plain.csv", plain)):
        with open(folder / file, "w") as out:
            csv.writer(out, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
