"""What table.sh kept of runs."""

import json
import os
import re
import statistics


def runs(folder, task, method, seeds):
    """The evaluations of a method on a task, one a seed that has one, with seconds and megabytes."""
    found = []
    for seed in seeds:
        stem = f"{folder}/{task}/{method}-{seed}"
        if os.path.exists(stem + ".json"):
            run = json.load(open(stem + ".json"))
            seconds, kilobytes = open(stem + ".time").read().split()[-2:]
            found.append(run | {"seconds": float(seconds), "megabytes": float(kilobytes) / 1000})
    return found


def cell(found, key, seeds, digits=3):
    """Mean ± standard deviation over the seeds; how many there were, if not all."""
    values = [run[key] for run in found if key in run]
    if not values:
        return "" if found else "–"
    text = f"{statistics.mean(values):.{digits}f}"
    if len(values) > 1:
        text += f" ± {statistics.stdev(values):.{digits}f}"
    if len(found) < len(seeds):
        text += f" ({len(found)} of {len(seeds)})"
    return re.sub(r"\b0\.", ".", text) if digits == 3 else text


def markdown(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|---" * len(header) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()
