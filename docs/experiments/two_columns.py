"""Makes tasks of two classes in two columns for tasks.py: new proportions, and movements.

usage: two_columns.py FOLDER TASKS...

Each folder of TASKS is one of tasks.py. The source of the first task of each family gives two pairs
of columns with more than 50 values, drawn at random, and its two most frequent classes. Half of
the rows are the source. Targets are from the other half:

gone 0, 0.02, 0.05, 0.1, 0.2   the second class has this share, as a part of the first's rows
move 0.3, 0.6, 1, 1.5          all rows moved by so many deviations in a random direction

FOLDER/tasks.csv says which is which. Needs NumPy.
"""

import csv
import pathlib
import sys

import numpy as np

SHARES, MOVES = (0, 0.02, 0.05, 0.1, 0.2), (0.3, 0.6, 1, 1.5)
ROWS = 400  # of the target's first class, at most
LEAST, VALUES = 150, 50  # rows of a class, and values of a column, at least


def sources(folders):
    """Folder, family, and the file of each task, in the order of tasks.csv."""
    for folder in map(pathlib.Path, folders):
        with open(folder / "tasks.csv") as lines:
            for task in csv.DictReader(lines):
                yield folder, task["family"], np.load(folder / f"{task['name']}.npz")


def tables(folders):
    """Name, rows and labels (0 and 1) of the tables that will do."""
    seen = set()
    for folder, family, data in sources(folders):
        if (folder, family) in seen:
            continue
        seen.add((folder, family))
        classes, counts = np.unique(data["ys"], return_counts=True)
        first, second = classes[np.argsort(-counts, kind="stable")[:2]]
        x = data["Xs"].astype(float)
        wide = [j for j in range(x.shape[1]) if np.isfinite(x[:, j]).all() and len(np.unique(x[:, j])) > VALUES]
        if np.sort(counts)[-2] >= LEAST and len(wide) >= 2:
            kept = np.isin(data["ys"], (first, second))
            yield family, x[kept][:, wide], (data["ys"][kept] == second).astype(int)


def targets(x, y, rng):
    """Kind, rows and labels of each target that is drawn from the pool (x, y)."""
    first, second = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    rows = min(len(first), len(second), ROWS)
    for share in SHARES:
        gone = round(share * rows)
        index = np.concatenate([rng.permutation(first)[: rows - gone], rng.permutation(second)[:gone]])
        yield f"gone {share}", x[index], y[index]
    for move in MOVES:
        direction = rng.normal(size=2)
        yield f"move {move}", x + move * x.std(0) * direction / np.linalg.norm(direction), y


def main():
    folder, rng = pathlib.Path(sys.argv[1]), np.random.default_rng(5)
    folder.mkdir(exist_ok=True)
    names = [("name", "family")]
    for table, x, y in tables(sys.argv[2:]):
        for pair in range(2):
            order, columns = rng.permutation(len(y)), rng.permutation(x.shape[1])[:2]
            source, pool = order[: len(y) // 2], order[len(y) // 2 :]
            for kind, xt, yt in targets(x[pool][:, columns], y[pool], rng):
                name = f"{table}-{pair}-{kind.replace(' ', '-')}"
                np.savez(folder / f"{name}.npz", Xs=x[source][:, columns], ys=y[source], Xt=xt, yt=yt)
                names.append((name, kind))
    with open(folder / "tasks.csv", "w") as out:
        csv.writer(out, lineterminator="\n").writerows(names)


if __name__ == "__main__":
    main()
