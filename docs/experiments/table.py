"""Prints what mars run --table wrote as Markdown: mean ± standard deviation.

    python3 table.py RUNS.csv... [--over AXIS] [--columns AXIS] [--paper PAPER.csv]

A row is a combination of the matrix' values. Axes with one value are left out. --over takes
the mean over another axis than seed. --columns makes a table for each number, with the
values of an axis as its columns. --paper adds published balanced accuracies in per cent
from a file with a row for each task and a column for each method.
"""

import argparse
import csv
import statistics

NUMBERS = {"balanced_accuracy": "balanced accuracy", "accuracy": "accuracy", "proportions_l1": "L1 of p_T"}


def short(value):
    return f"{value:.3f}".replace("0.", ".", 1) if value < 1 else f"{value:.3f}"


def cell(runs, number):
    values = [float(run[number]) for run in runs if run.get(number)]
    deviation = f" ± {short(statistics.stdev(values))}" if len(values) > 1 else ""
    return short(statistics.mean(values)) + deviation if values else ""


def groups(runs, axes):
    found = {}
    for run in runs:
        found.setdefault(tuple(run[a] for a in axes), []).append(run)
    return found


def markdown(head, rows):
    print("\n".join(["", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"] + ["| " + " | ".join(r) + " |" for r in rows]))


def published(paper, run):
    value = paper[run["task"]].get(run["method"])
    return short(float(value) / 100) if value else ""


def flat(runs, axes, numbers, paper):
    """One table with a column for each number."""
    head = axes + [NUMBERS[n] for n in numbers] + ["the paper's"] * bool(paper) + ["runs"]
    rows = []
    for values, of in groups(runs, axes).items():
        rows.append([*values, *(cell(of, n) for n in numbers), *([published(paper, of[0])] if paper else []), str(len(of))])
    markdown(head, rows)


def wide(runs, axes, number, columns):
    """One number, with the values of an axis as columns."""
    rest, names = [a for a in axes if a != columns], list(dict.fromkeys(run[columns] for run in runs))
    rows = [[*values, *(cell([r for r in of if r[columns] == name], number) for name in names)] for values, of in groups(runs, rest).items()]
    markdown(rest + names, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--over", default="seed")
    parser.add_argument("--columns")
    parser.add_argument("--paper")
    o = parser.parse_args()
    runs = [run for name in o.runs for run in csv.DictReader(open(name))]
    numbers = [n for n in NUMBERS if any(run.get(n) for run in runs)]
    axes = [a for a in runs[0] if a not in [*NUMBERS, "n", o.over] and (a == o.columns or len({run[a] for run in runs}) > 1)]
    if not o.columns:
        return flat(runs, axes, numbers, o.paper and {row["task"]: row for row in csv.DictReader(open(o.paper))})
    for number in numbers:
        print(f"\n{NUMBERS[number]}")
        wide(runs, axes, number, o.columns)


main()
