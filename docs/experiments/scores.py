"""What is the choice by each score without target labels worth?

    mars run docs/experiments/select-toy.toml
    python3 docs/experiments/scores.py docs/experiments/select-toy.csv …

It reads the tables of select-toy.toml and select-office.toml, and the scores beside them by mars
inspect, which must be on the PATH. It prints, as Markdown, the balanced accuracy on the target of
the default, of the candidate that each score chooses, and of the best and the mean candidate.
Target labels are read for that alone.
"""

import collections
import csv
import pathlib
import statistics
import subprocess
import sys

SCORES = ["reverse", "circular", "importance", "dev", "density", "entropy", "mixval"]
COLUMNS = ["default", *SCORES, "best", "mean"]


def chosen(path, score):
    """The settings with the greatest score, the first of them."""
    text = subprocess.run(["mars", "inspect", "--csv", path], check=True, capture_output=True, text=True).stdout
    rows = [row for row in csv.DictReader(text.splitlines()) if row[score]]
    best = max(rows, key=lambda row: float(row[score]))
    return best["learning-rate"], best["lambda"]


def main(paths):
    lines = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in map(pathlib.Path, paths):
        accuracy = collections.defaultdict(dict)
        for row in csv.DictReader(open(path)):
            if row["balanced_accuracy"]:  # a training that diverged has none
                accuracy[row["task"], row["method"], row["seed"]][row["rate"], row["weight"]] = float(row["balanced_accuracy"])
        for (task, method, seed), of in accuracy.items():
            scores = path.parent / f"scores-{task}-{method}-{seed}.arrow"
            found = {"default": of["default", "default"], "best": max(of.values()), "mean": statistics.mean(of.values())}
            for score in SCORES:
                found[score] = of[chosen(scores, score)]
            for name, value in found.items():
                lines[task, method][name].append(value)
    print("| task | method |", " | ".join(COLUMNS), "|")
    print("|---" * (len(COLUMNS) + 2) + "|")
    for (task, method), of in lines.items():
        print(f"| {task} | {method} |", " | ".join(short(statistics.mean(of[name])) for name in COLUMNS), "|")
    for beside in ("default", "mean"):
        gains = {name: [v - w for of in lines.values() for v, w in zip(of[name], of[beside])] for name in COLUMNS}
        texts = {name: f"{short(statistics.mean(g), '+')} ± {short(statistics.stdev(g) / len(g) ** 0.5)}" for name, g in gains.items() if name != beside}
        wins = {name: f"{sum(v > 0.001 for v in g)}, {sum(v < -0.001 for v in g)}" for name, g in gains.items() if name != beside}
        print(f"| gain over the {beside} | all |", " | ".join(texts.get(name, "") for name in COLUMNS), "|")
        print(f"| better, worse than it | of {len(gains[beside])} |", " | ".join(wins.get(name, "") for name in COLUMNS), "|")


def short(value, sign=""):
    return f"{value:{sign}.3f}".replace("0.", ".", 1).replace("-", "−")


main(sys.argv[1:])
