"""Prints the table of digits-table.sh: python digits_table.py RESULTS "TASKS" < methods with their seeds"""

import sys

from results import cell, markdown, runs

# Balanced accuracy in the paper's table of results, mean of 20 runs.
METHODS = "source dann wd0 wd1 wd2 wd3 wd4 iw-wd marsg marsc".split()
PAPER = {
    "mu-balanced": "76.9 79.7 93.7 74.3 51.3 76.6 71.9 95.3 95.6 95.6",
    "mu-mid": "80.4 78.7 94.3 75.4 55.6 79.0 72.3 95.6 89.7 90.4",
    "mu-high": "78.1 81.8 93.9 87.4 83.8 85.7 83.6 94.1 88.3 89.7",
    "um-balanced": "77.0 80.5 73.4 66.7 49.9 55.8 52.1 80.5 84.6 85.5",
    "um-mid": "79.5 78.9 75.8 63.3 53.2 47.2 48.3 78.4 79.7 78.5",
    "um-high": "78.5 77.8 76.1 63.0 57.6 51.2 49.3 71.5 75.6 77.1",
    "mm-1": "58.3 61.2 57.4 50.2 47.0 57.9 60.0 63.1 58.1 56.6",
    "mm-2": "60.0 61.1 58.1 53.4 48.6 59.7 58.1 65.0 57.7 55.7",
    "mm-3": "58.1 60.4 57.7 47.7 42.2 57.1 53.5 52.5 53.7 53.7",
}
PAIRS = {"um": "USPS → MNIST", "mu": "MNIST → USPS", "mm": "MNIST → MNIST-M"}

folder, tasks = sys.argv[1], sys.argv[2].split()
methods = [line.split() for line in sys.stdin]
rows = []
for task in tasks:
    pair, setting = task.split("-")
    paper = dict(zip(METHODS, PAPER[task].split()))
    for name, *seeds in methods:
        found = runs(folder, task, name, seeds)
        published = f".{paper[name].replace('.', '')}" if name in paper else ""
        rows.append([f"{PAIRS[pair]} {setting}", name, cell(found, "balanced_accuracy", seeds), published,
                     cell(found, "proportions_l1", seeds), cell(found, "seconds", seeds, 0), cell(found, "megabytes", seeds, 0), str(len(found))])
markdown(["task", "method", "balanced accuracy", "the paper's", "L1 of p_T", "seconds", "peak MB", "seeds"], rows)
