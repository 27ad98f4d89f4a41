"""Makes tasks of pure label shift for tasks.py, by QuaPy's artificial prevalence protocol.

usage: label_shift.py FOLDER [DATA]

Half of a table is the source. The target is drawn from the other half, a class at a time with
replacement, so that it has given shares: drawn uniformly from the simplex, and in every second
task with one class or half of the classes absent. The tables are four of scikit-learn, and with
the folder DATA ($MARS_DATA) cytometry and Phishing Websites. FOLDER/tasks.csv says of which
table a task is. Needs NumPy, scikit-learn and, with DATA, pandas.
"""

import csv
import pathlib
import sys

import numpy as np
from sklearn import datasets

ROWS = 1200  # of the source, at most
TARGETS = (100, 250, 500, 250)  # rows of each task of a table


def tables(data):
    for name in ("iris", "wine", "breast_cancer", "digits"):
        yield name, *getattr(datasets, "load_" + name)(return_X_y=True)
    if data:
        cells = np.load(data / "hipc/FTV_1.npz")
        yield "cytometry", cells["X"], cells["y"]
        import pandas as pd

        pages = pd.read_csv(data / "skadabench/phishing.csv")
        yield "phishing", pages.drop(columns="label").to_numpy(float), pages["label"].to_numpy()


def shares(classes, task, rng):
    p = rng.dirichlet(np.ones(classes))
    if task % 2:
        p[rng.permutation(classes)[: 1 if task == 1 else classes // 2]] = 0
    return p / p.sum()


def task(x, y, number):
    """Source and target of one task; classes without source rows are left out."""
    order = np.random.default_rng(number).permutation(len(y))
    source, pool = order[: len(y) // 2][:ROWS], order[len(y) // 2 :]
    code = np.unique(y[source])
    rng = np.random.default_rng(100 + number)
    drawn = rng.choice(code, TARGETS[number], p=shares(len(code), number, rng))
    target = np.concatenate([rng.choice(pool[y[pool] == c], (drawn == c).sum()) for c in code if (drawn == c).any()])
    return x[source], np.searchsorted(code, y[source]), x[target], np.searchsorted(code, y[target])


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    names = [("name", "family")]
    for table, x, y in tables(pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None):
        for number in range(len(TARGETS)):
            name = f"{table}_{number}"
            parts = task(x, y, number)
            np.savez(folder / f"{name}.npz", **dict(zip(("Xs", "ys", "Xt", "yt"), parts)))
            names.append((name, table))
    with open(folder / "tasks.csv", "w") as out:
        csv.writer(out, lineterminator="\n").writerows(names)


if __name__ == "__main__":
    main()
