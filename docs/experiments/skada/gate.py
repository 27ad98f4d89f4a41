"""Writes SKADA-Bench's tasks as ask_tasks.py writes others, for gate_tasks.py.

usage: gate.py FOLDER [SEEDS]

FOLDER gets NAME.npz (Xs, ys, Xt, yt) and tasks.csv (name,kind,family): the simulated shifts at seeds 0 to
SEEDS-1 (30), each shift a family, and pairs of real domains, whose families are the tables' names there.
$MARS_DATA is the folder with real data (see tasks.py).
"""

import argparse
import csv
import pathlib
import sys

import numpy as np
import tasks

TABLE = {
    "Mushrooms": "mushroom", "Phishing": "phishing", "digits": "scanners", "Office-Caltech10": "photographs",
    "Office-Caltech10, PCA": "photographs", "cytometry": "cytometry",
}  # fmt: skip
ROWS = 1_000  # of a domain, at most


def main() -> None:
    """Writes all tasks, the simulated ones first."""
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    out, seeds, rows = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 30, []
    out.mkdir(exist_ok=True)
    a = argparse.Namespace(first=0, seeds=seeds, real_seeds=1, pairs=None, rows=ROWS, tables=[], families=0)
    for t in tasks.every(a):
        place = "" if t.name == "simulated" else t.name + "-"
        name = f"skada-{t.family}-{place}{t.seed}".lower().replace(",", "").replace("_", "-").replace(" ", "-")
        kind = t.family.split()[0] if t.name == "simulated" else "natural"
        np.savez_compressed(out / f"{name}.npz", Xs=t.domains.xs.astype("f4"), ys=t.domains.ys, Xt=t.domains.xt.astype("f4"), yt=t.domains.yt)
        rows.append((name, kind, "skada-" + kind if t.name == "simulated" else TABLE[t.family]))
    with open(out / "tasks.csv", "w") as lines:
        csv.writer(lines, lineterminator="\n").writerows([("name", "kind", "family"), *sorted(rows, key=lambda r: r[1] == "natural")])


if __name__ == "__main__":
    main()
