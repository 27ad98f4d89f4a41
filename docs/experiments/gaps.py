"""Takes values away from the targets of tasks, and scores mars label and mars proportions.

usage: gaps.py FOLDER RESULTS [--share 0.3] [--only PREFIX]

FOLDER holds tasks as tasks.py describes them. Of a third of the target's columns that share of
the values is taken away at random; the source is whole. Both go to mars as CSV. Prints means of
families, each task's row goes to RESULTS (CSV). Needs NumPy, and bin/ on the PATH.
"""

import argparse
import collections
import csv
import json
import pathlib
import subprocess
import tempfile
import zlib

import numpy as np


def write(path, rows, labels=None, missing=None):
    with open(path, "w") as out:
        lines = csv.writer(out)
        lines.writerow([f"v{j}" for j in range(rows.shape[1])] + (["class"] if labels is not None else []))
        for i, row in enumerate(rows):
            cells = ["" if missing is not None and missing[i, j] else f"{v:.6g}" for j, v in enumerate(row)]
            lines.writerow(cells + ([f"c{labels[i]}"] if labels is not None else []))


def run(task, share):
    data = np.load(task)
    rng = np.random.default_rng(zlib.crc32(task.stem.encode()))
    source, target, truth = data["Xs"], data["Xt"], data["yt"].astype(int)
    columns = rng.random(target.shape[1]) < 1 / 3
    columns[rng.integers(target.shape[1])] = True
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        write(at / "source.csv", source, data["ys"].astype(int))
        write(at / "target.csv", target, missing=(rng.random(target.shape) < share) & columns)
        files = ["--source", at / "source.csv", "--target", at / "target.csv", "--label", "class", "-q"]
        subprocess.run(["mars", "label", *files, "-o", at / "labels.csv"], check=True, capture_output=True)
        answer = subprocess.run(["mars", "proportions", *files, "--json"], check=True, capture_output=True)
        with open(at / "labels.csv") as lines:
            labels = [row["predicted_class"] for row in csv.DictReader(lines)]
    report = json.loads(answer.stdout)
    shares = dict(zip(report["classes"], report["proportions"]["estimated"]))
    classes = {f"c{k}" for k in truth} | set(shares)
    off = sum(abs(shares.get(c, 0) - np.mean([f"c{k}" == c for k in truth])) for c in classes)
    return np.mean([a == f"c{k}" for a, k in zip(labels, truth)]), off, report["expected_error"]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("results")
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with open(options.folder / "tasks.csv") as lines:
        family = {row["name"]: row["family"] for row in csv.DictReader(lines)}
    families = collections.defaultdict(list)
    with open(options.results, "w") as out:
        rows = csv.writer(out)
        rows.writerow(["name", "family", "accuracy", "l1", "expected_error"])
        for task in sorted(options.folder.glob("*.npz")):
            of = family.get(task.stem, task.stem.split("_")[0])
            if of.startswith(options.only):
                scores = run(task, options.share)
                families[of].append(scores)
                rows.writerow([task.stem, of, *(f"{v:.4f}" for v in scores)])
                out.flush()
    print("| family | tasks | accuracy | L1 of p_T | expected |\n|---|---|---|---|---|")
    for name, scores in sorted(families.items()):
        print(f"| {name} | {len(scores)} | " + " | ".join(f"{v:.3f}" for v in np.mean(scores, 0)) + " |")
    means = np.mean([np.mean(scores, 0) for scores in families.values()], 0)
    print(f"| **mean** | {sum(map(len, families.values()))} | " + " | ".join(f"{v:.3f}" for v in means) + " |")


if __name__ == "__main__":
    main()
