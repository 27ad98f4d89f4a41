"""Writes folders of tasks for mars's fitgate, which reads them (cmd/internal/fitgate study OUT).

usage: gate_tasks.py [--noise] OUT FOLDER...

FOLDER is as ask_tasks.py makes it: NAME.npz (Xs, ys, Xt, yt) and tasks.csv (name,kind,family).
OUT gets a tasks.csv of the same columns and NAME.task, little-endian: int32 rows of the source,
rows of the target, columns, classes; float32 the source by rows; int32 its labels; float32 the
target by rows; int32 its true labels. Classes are the labels of both sides in order, so that one
that the source lacks has a number too. A family is a table, so that one can be left out whole:
a table of several names gets one. With --noise, only tasks whose rows have not moved are written
(kinds same, label and chosen), as NAME-noise of the kind noise: some columns of the target, one to
all, vary more, by noise of one to three of the source's deviations. Needs NumPy.
"""

import csv
import pathlib
import sys
import zlib

import numpy as np

SAME_TABLE = {  # scikit-learn's digits are the test rows of UCI's
    "cameras": "photographs", "crx": "australian", "digits": "optdigits", "laboratories": "cytometry",
    "mushrooms-domains": "mushroom", "phishing-domains": "phishing",
}  # fmt: skip


def noisy(xs: np.ndarray, xt: np.ndarray, name: str) -> np.ndarray:
    """The rows of a target with noise, drawn by the task's name."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    columns = rng.permutation(xt.shape[1])[: rng.integers(1, xt.shape[1] + 1)]
    noise = rng.normal(size=(len(xt), len(columns))) * rng.uniform(1, 3) * xs[:, columns].std(0)
    xt[:, columns] += noise.astype("<f4")
    return xt


def encoded(path: pathlib.Path, noise: bool) -> bytes:
    """The bytes of a task."""
    with np.load(path) as d:
        xs, xt = d["Xs"].astype("<f4"), d["Xt"].astype("<f4")
        if noise:
            xt = noisy(xs, xt, path.stem)
        classes, labels = np.unique(np.concatenate([d["ys"], d["yt"]]), return_inverse=True)
    for part, x in (("Xs", xs), ("Xt", xt)):
        for row, column in np.argwhere(~np.isfinite(x))[:1]:
            sys.exit(f"{path}: {part}: row {row}, column {column} is {x[row, column]}: fill it or leave it out")
    header = np.array([len(xs), len(xt), xs.shape[1], len(classes)], "<i4")
    ys, yt = np.split(labels.astype("<i4"), [len(xs)])
    if len(yt) != len(xt) or xt.shape[1] != xs.shape[1]:
        sys.exit(f"{path}: sides of {xs.shape} and {xt.shape} with {len(labels)} labels: make the task again")
    return b"".join(part.tobytes() for part in (header, xs, ys, xt, yt))


def main() -> None:
    """Writes the tasks, and tasks.csv last."""
    noise = "--noise" in sys.argv[1:2]
    if len(sys.argv) < 3 + noise:
        sys.exit(__doc__)
    out, *folders = map(pathlib.Path, sys.argv[1 + noise :])
    out.mkdir(parents=True, exist_ok=True)
    rows = {}
    for folder in folders:
        for row in csv.DictReader((folder / "tasks.csv").read_text().splitlines()):
            name = row["name"]
            if name in rows or "," in name:
                sys.exit(f"{folder}/tasks.csv: {name}: the name occurs twice, or has a comma: give it another")
            if noise and row["kind"] not in ("same", "label", "chosen"):
                continue
            task, kind = (f"{name}-noise", "noise") if noise else (name, row["kind"])
            (out / f"{task}.task").write_bytes(encoded(folder / f"{name}.npz", noise))
            rows[name] = [task, kind, SAME_TABLE.get(row["family"], row["family"])]
    with open(out / "tasks.csv", "w") as f:
        csv.writer(f, lineterminator="\n").writerows([["name", "kind", "family"], *rows.values()])


if __name__ == "__main__":
    main()
