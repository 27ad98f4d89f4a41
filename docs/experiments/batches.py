"""Labels with and without --batch-column and --batch-files: how many are right, and are said to be.

usage: batches.py [MARS_DATA]

Simulated persons have classes in places of their own: eight are the source, two others the target, in four
draws. With MARS_DATA, which holds hipc/, each of the four samples of cytometry is the target of the others.
Needs NumPy, and bin/ on the PATH.
"""

import csv
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np


def label(at: pathlib.Path, sources: list[pathlib.Path], target: pathlib.Path, truth: list[str], flags: list[str]) -> tuple[float, float]:
    """The share of labels that is right, and what it is said to be."""
    files = [word for path in sources for word in ("--source", path)]
    said = subprocess.run(["mars", "label", *files, "--target", target, "-o", at / "labels.csv", *flags], check=True, capture_output=True, text=True).stderr
    with open(at / "labels.csv") as rows:
        right = [row["predicted_class"] == y for row, y in zip(csv.DictReader(rows), truth, strict=True)]
    return float(np.mean(right)), float(re.search(r"(\d+) % of the labels are expected", said)[1]) / 100


def persons(at: pathlib.Path, seed: int) -> list[str]:
    """Writes source.csv and target.csv, and returns the target's classes."""
    rng = np.random.default_rng(seed)
    classes = rng.normal(size=(4, 12)) * 0.9
    own = rng.normal(size=(10, 4, 12))
    for name, people, n in (("source", range(8), 60), ("target", (8, 9), 150)):
        lines, truth = [], []
        for p in people:
            y = rng.integers(0, 4, n)
            x = classes[y] + own[p][y] + 0.35 * rng.normal(size=(n, 12))
            truth += [f"c{k}" for k in y]
            lines += [",".join(f"{v:.4f}" for v in row) + (f",c{k},p{p}" if name == "source" else "") for row, k in zip(x, y, strict=True)]
        head = ",".join(f"x{j}" for j in range(12)) + (",label,person" if name == "source" else "")
        (at / f"{name}.csv").write_text("\n".join([head, *lines]) + "\n")
    return truth


def main() -> None:
    found = []
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        for seed in range(4):
            truth = persons(at, seed)
            both = [label(at, [at / "source.csv"], at / "target.csv", truth, flags) for flags in (["--exclude", "person"], ["--batch-column", "person"])]
            found.append((f"persons, draw {seed}", both))
        samples = {}
        for path in sorted(pathlib.Path(sys.argv[1], "hipc").glob("*.npz")) if sys.argv[1:] else []:
            data = np.load(path)
            some = np.random.default_rng(0).permutation(len(data["y"]))[:1500]
            np.savez(at / path.name, X=data["X"][some], y=data["y"][some])
            np.savez(at / ("target-" + path.name), X=data["X"][some])
            samples[path.name] = [str(k) for k in data["y"][some]]
        for name, truth in samples.items():
            others = [at / other for other in samples if other != name]
            found.append((name, [label(at, others, at / ("target-" + name), truth, flags) for flags in ([], ["--batch-files"])]))
    print("| target | right, poured together | said | right, by batch | said |\n|---|---|---|---|---|")
    for name, ((a, b), (c, d)) in found:
        print(f"| {name} | {a:.3f} | {b:.2f} | {c:.3f} | {d:.2f} |")


main()
