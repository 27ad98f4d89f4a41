"""Makes tasks of pure covariate shift for tasks.py: other rows are chosen, by their columns alone.

usage: covariate_shift.py FOLDER TASKS...

Each folder of TASKS is one of tasks.py. Of the source of the first task of each family with at
least 300 rows, half is the source again. The target is drawn from the other half without
replacement, with weights that depend on the standardised columns z. The task's number says on what:

0  exp(2 u), u the first principal component in units of its deviation
1  exp(2 u), u along a random direction, in units of its deviation
2  exp(-(distance to a random row / half the median distance)² / 2): rows of one region
3  1 for the half of the rows that has the greater values in a random column, and 0.05 for the rest

What label a row of some kind has stays as it is. FOLDER/plain.csv has the accuracies of classifiers
that are trained on the source as it is. Needs NumPy and scikit-learn.
"""

import csv
import pathlib
import sys

import numpy as np
from noise import CLASSIFIERS
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sources import sources

KINDS = 4
LEAST = 300  # rows of a table
ROWS = 800  # of either half, at most
SHARE = 0.5  # of the other half that becomes the target


def tables(folders):
    """Name, rows and labels of the tables that will do."""
    seen = set()
    for folder, family, data in sources(folders):
        if (folder, family) not in seen and len(data["ys"]) >= LEAST:
            seen.add((folder, family))
            x = data["Xs"].astype(float)
            whole = np.isfinite(x).all(1)
            yield family.replace("_", "-"), x[whole], data["ys"].astype(int)[whole]


def weights(z, kind, rng):
    """The pool's rows z, n×d and standardised, as they are drawn."""
    if kind == 2:
        distance = np.sqrt(((z - z[rng.integers(len(z))]) ** 2).sum(1))
        return np.exp(-0.5 * (distance / (np.median(distance) / 2)) ** 2)
    if kind == 3:
        column = z[:, rng.permutation(np.flatnonzero(z.std(0) > 0))[0]]
        return np.where(column > np.median(column), 1, 0.05)
    direction = np.linalg.svd(z - z.mean(0), full_matrices=False)[2][0] if kind == 0 else rng.normal(size=z.shape[1])
    u = z @ direction
    u = (u - u.mean()) / u.std()
    return np.exp(2 * np.clip(u, -3, 3))


def task(x, y, number):
    """Source and target of one task; rows of the target whose class the source lacks are left out."""
    order = np.random.default_rng(number).permutation(len(y))
    source, pool = order[: len(y) // 2][:ROWS], order[len(y) // 2 :][:ROWS]
    rng = np.random.default_rng(300 + number)
    code = np.unique(y[source])
    pool = pool[np.isin(y[pool], code)]
    z = (x - x[source].mean(0)) / np.maximum(x[source].std(0), 1e-9)
    p = weights(np.clip(z[pool], -8, 8), number, rng) + 1e-9
    target = rng.choice(pool, int(SHARE * len(pool)), replace=False, p=p / p.sum())
    return x[source], np.searchsorted(code, y[source]), x[target], np.searchsorted(code, y[target])


def write(folder, named, task, kinds):
    """Tasks of the tables (name, x, y), as tasks.py takes them: task makes that of each number, or None."""
    folder.mkdir(exist_ok=True)
    names, plain = [("name", "family")], [("name", *CLASSIFIERS)]
    for table, x, y in named:
        for number in range(kinds):
            made = task(x, y, number)
            if made is None:
                continue
            name, parts = f"{table}_{number}", dict(zip(("Xs", "ys", "Xt", "yt"), made))
            np.savez(folder / f"{name}.npz", **parts)
            names.append((name, table))
            models = [make_pipeline(StandardScaler(), make(len(parts["ys"]))) for make in CLASSIFIERS.values()]
            plain.append((name, *(m.fit(parts["Xs"], parts["ys"]).score(parts["Xt"], parts["yt"]) for m in models)))
    for file, rows in (("tasks.csv", names), ("plain.csv", plain)):
        with open(folder / file, "w") as out:
            csv.writer(out, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), tables(sys.argv[2:]), task, KINDS)
