"""Can a row of a type that the source lacks be told? Each type of cells is taken from the source in
turn, between patients of one laboratory and between two laboratories.

    python3 docs/experiments/unknown.py $MARS_DATA unknown.csv

It needs NumPy, and mars on the PATH. It reads hipc/, writes a line a task, and prints a table: how well
typicality tells the new cells from the others (area under the ROC curve), and which share of either is
below a threshold, as --unknown has it.
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

PAIRS = {
    "from a patient to another": [("FTV_1", "FTV_4"), ("FTV_4", "FTV_7")],
    "from two patients to another": [("FTV_1 FTV_4", "FTV_7")],
    "from a laboratory to another": [("W2_1", "FTV_1"), ("FTV_4", "W2_1")],
}
RATES = [0.01, 0.05]
ROWS = 3000  # of each sample


def sample(folder, name):
    data = np.load(folder / "hipc" / f"{name}.npz")
    rows = np.random.default_rng(0).permutation(len(data["y"]))[:ROWS]
    return data["X"][rows], data["y"][rows].astype(int)


def auroc(score, positive):
    ranks = np.argsort(np.argsort(score, kind="stable"), kind="stable") + 1
    n = positive.sum()
    return (ranks[positive].sum() - n * (n + 1) / 2) / n / (~positive).sum()


def write(path, x, y=None):
    with open(path, "w", newline="") as f:
        out = csv.writer(f)
        out.writerow([f"m{j}" for j in range(x.shape[1])] + (["label"] if y is not None else []))
        for i, row in enumerate(x):
            out.writerow([*row] + ([f"type {y[i]}"] if y is not None else []))
    return path


def task(folder, work, sources, target, missing):
    """What typicality says where the source has no cell of a type."""
    flags = []
    for name in sources.split():
        x, y = sample(folder, name)
        flags += ["--source", write(work / f"{name}.csv", x[y != missing], y[y != missing])]
    x, y = sample(folder, target)
    command = ["mars", "label", *flags, *(["--batch-files"] if " " in sources else []), "--target", write(work / "target.csv", x), "-q", "-o", work / "labels.csv"]
    subprocess.run([str(word) for word in command], check=True)
    with open(work / "labels.csv") as f:
        typicality = np.array([float(row["typicality"]) for row in csv.DictReader(f)])
    new = y == missing
    if new.sum() < 20:
        return None
    result = {"missing": missing, "new": new.mean(), "auroc": auroc(-typicality, new)}
    for rate in RATES:
        result |= {f"known below {rate}": (typicality[~new] < rate).mean(), f"new below {rate}": (typicality[new] < rate).mean()}
    return result


def main(folder, output):
    results = []
    with tempfile.TemporaryDirectory() as work:
        for kind, pairs in PAIRS.items():
            for sources, target in pairs:
                for missing in range(1, 11):
                    if found := task(folder, pathlib.Path(work), sources, target, missing):
                        results.append({"kind": kind, "source": sources, "target": target} | found)
                        print(results[-1], file=sys.stderr, flush=True)
    with open(output, "w", newline="") as f:
        out = csv.DictWriter(f, results[0])
        out.writeheader()
        out.writerows(results)
    names = ["new", "auroc", *(f"{who} below {rate}" for rate in RATES for who in ["known", "new"])]
    print("| | tasks |", " | ".join(names), "|\n|" + "---|" * (2 + len(names)))
    for kind in PAIRS:
        these = [r for r in results if r["kind"] == kind]
        print("|", kind, "|", len(these), "|", " | ".join(f"{np.mean([r[name] for r in these]):.3f}".lstrip("0") for name in names), "|")


main(pathlib.Path(sys.argv[1]), sys.argv[2])
