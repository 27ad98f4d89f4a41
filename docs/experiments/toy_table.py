"""Prints the tables of toy-table.sh: python toy_table.py RESULTS "METHODS" "SEEDS" < points"""

import sys

from results import cell, markdown, runs

folder, methods, seeds = sys.argv[1], sys.argv[2].split(), sys.argv[3].split()
points = [line.split() for line in sys.stdin]  # POINT NOISE SHIFT PERCENT

for title, key, digits in [("Balanced accuracy", "balanced_accuracy", 3), ("L1 error of p_T", "proportions_l1", 3), ("Seconds", "seconds", 1)]:
    print(f"{title}, mean ± standard deviation of seeds {', '.join(seeds)}\n")
    rows = []
    for point, noise, shift, percent in points:
        cells = [cell(runs(folder, point, m, seeds), key, seeds, digits) for m in methods]
        rows.append([point.split(":")[0], noise, shift, f"{percent} %"] + cells)
    markdown(["setting", "noise", "shift", "first class"] + methods, rows)
