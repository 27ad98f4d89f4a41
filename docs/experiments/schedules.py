"""Prints the table of schedules.sh: python schedules.py RESULTS < tasks with a variant and seeds"""

import sys

from results import cell, markdown, runs

rows = []
for task, variant, *seeds in map(str.split, sys.stdin):
    found = runs(sys.argv[1], task, variant, seeds)
    rows.append([task, variant, cell(found, "balanced_accuracy", seeds), cell(found, "proportions_l1", seeds), cell(found, "seconds", seeds, 0)])
markdown(["task", "changed", "balanced accuracy", "L1 of p_T", "seconds"], rows)
