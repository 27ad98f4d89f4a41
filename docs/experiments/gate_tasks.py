"""Writes folders of tasks for mars's fitgate, which reads them (cmd/internal/fitgate study OUT).

usage: gate_tasks.py OUT FOLDER...

FOLDER is as ask_tasks.py makes it: NAME.npz (Xs, ys, Xt, yt) and tasks.csv (name,kind,family).
OUT gets a tasks.csv of the same columns and NAME.task, little-endian: int32 rows of the source,
rows of the target, columns, classes; float32 the source by rows; int32 its labels; float32 the
target by rows; int32 its true labels. Classes are the labels of both sides in order, so that one
that the source lacks has a number too. A family is a table, so that one can be left out whole:
a table of several names gets one. Needs NumPy.
"""

import csv
import pathlib
import sys

import numpy as np

SAME_TABLE = {  # scikit-learn's digits are the test rows of UCI's
    "cameras": "photographs", "crx": "australian", "digits": "optdigits", "laboratories": "cytometry",
    "mushrooms-domains": "mushroom", "phishing-domains": "phishing",
}  # fmt: skip


def encoded(path: pathlib.Path) -> bytes:
    """The bytes of a task."""
    with np.load(path) as d:
        xs, xt = d["Xs"].astype("<f4"), d["Xt"].astype("<f4")
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
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    out, *folders = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    rows = {}
    for folder in folders:
        for row in csv.DictReader((folder / "tasks.csv").read_text().splitlines()):
            name = row["name"]
            if name in rows or "," in name:
                sys.exit(f"{folder}/tasks.csv: {name}: the name occurs twice, or has a comma: give it another")
            (out / f"{name}.task").write_bytes(encoded(folder / f"{name}.npz"))
            rows[name] = [name, row["kind"], SAME_TABLE.get(row["family"], row["family"])]
    with open(out / "tasks.csv", "w") as f:
        csv.writer(f, lineterminator="\n").writerows([["name", "kind", "family"], *rows.values()])


if __name__ == "__main__":
    main()
