"""The tables that programs here make tasks of: sources of other tasks. See tasks.py."""

import csv
import pathlib

import numpy as np


def sources(folders):
    """Folder, family, and the file of each task, in the order of tasks.csv."""
    for folder in map(pathlib.Path, folders):
        with open(folder / "tasks.csv") as lines:
            for task in csv.DictReader(lines):
                yield folder, task["family"], np.load(folder / f"{task['name']}.npz")
