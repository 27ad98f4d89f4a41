"""Tables of make bench-skada, in Markdown."""

import csv
import json
import os
from collections import defaultdict
from pathlib import Path

import numpy as np

OURS, DEFAULT, SOURCE = "ours", "mars label", "Train Src"
FIXED = "circular_validation"  # the scorer of the column in which nothing is chosen by hindsight
PUBLISHED = {"covariate shift": "covariate_shift", "target shift": "target_shift",
             "conditional shift": "concept_drift", "subspace": "subspace"}
HARD = "subspace"  # given apart: the target is the source mirrored


def read(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def table(head, rows):
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(cell if isinstance(cell, str) else number(cell) for cell in row) + " |")


def number(value):
    if isinstance(value, (int, np.integer)):
        return str(value)
    return "" if np.isnan(value) else f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"


class Results:
    """Records of the tasks that all methods have done, by family, task and method. A method that failed counts as Train Src, which is what
    is left to its user: without this, methods would be compared on different tasks."""

    def __init__(self, records):
        self.methods = list(dict.fromkeys(r["method"] for r in records))
        cells = defaultdict(dict)
        for r in records:
            cells[r["family"], r["task"], r["seed"]][r["method"]] = r
        self.cells = {key: cell for key, cell in cells.items() if len(cell) == len(self.methods)}
        self.unfinished = len(cells) - len(self.cells)
        self.families = list(dict.fromkeys(family for family, *_ in self.cells))
        self.scorer = {(f, m): self.hindsight(f, m) for f in self.families for m in self.methods}

    def of(self, family):
        return [cell for (f, *_), cell in self.cells.items() if f == family]

    def hindsight(self, family, method):
        """The scorer whose choices are best in a family, by the target's labels: so the published
        tables are made."""
        sums = defaultdict(list)
        for cell in self.of(family):
            for scorer, result in cell.get(method, {}).get("results", {}).items():
                sums[scorer].append(result["accuracy"])
        longest = max(map(len, sums.values()), default=0)
        return max((s for s in sums if len(sums[s]) == longest), key=lambda s: np.mean(sums[s]), default=None)

    def value(self, family, cell, method, what, fixed=False):
        results = cell.get(method, {}).get("results", {})
        scorer = OURS if OURS in results else FIXED if fixed else self.scorer[family, method]
        if scorer in results:
            return results[scorer][what]
        return self.value(family, cell, SOURCE, what, fixed) if method != SOURCE else float("nan")

    def mean(self, family, method, what, fixed=False):
        return np.mean([self.value(family, cell, method, what, fixed) for cell in self.of(family)])

    def rank(self, family, method, fixed=False):
        """Mean over tasks of the place among skada's methods and our default; ties share places.
        Each of our other rows takes the default's place."""
        rivals = [m for m in self.methods if not is_ours(m) or m == DEFAULT]
        rivals = [m for m in rivals if m != method and not (is_ours(method) and m == DEFAULT)]
        places = []
        for cell in self.of(family):
            mine = self.value(family, cell, method, "accuracy", fixed)
            others = np.array([self.value(family, cell, m, "accuracy", fixed) for m in rivals])
            places.append(1 + np.sum(others > mine) + np.sum(others == mine) / 2)
        return np.mean(places)

    def seconds(self, family, method):
        times = [cell[method]["seconds"] for cell in self.of(family) if "seconds" in cell.get(method, {})]
        return np.mean(times) if times else float("nan")

    def failures(self, families, method):
        cells = [cell.get(method) for f in families for cell in self.of(f)]
        return f"{sum(c is None or c['status'] != 'done' for c in cells)} of {len(cells)}"

    def searched(self, families, method):
        """The share of the grid's points times splits that the time allowed."""
        cells = [cell.get(method, {}) for f in families for cell in self.of(f)]
        tried, total = (sum(c.get(k, 0) for c in cells if c.get("total")) for k in ("tried", "total"))
        return f"{100 * tried / total:.0f} %" if tried else ""


def is_ours(method):
    return method.startswith("mars")


def show(records):
    for suite in dict.fromkeys(r["suite"] for r in records):
        r = Results([r for r in records if r["suite"] == suite])
        if not r.cells:
            print(f"no task of {suite} is done by all methods")
            continue
        if r.unfinished:
            print(f"\nleft out: {r.unfinished} tasks of {suite} that lack methods")
        overall(r, suite)
        if suite == "SKADA-Bench":
            each(r)
            published(r)


def each(r):
    for family in r.families:
        print(f"\n## {family}: {len(r.of(family))} tasks")
        rows = [[m] + [r.mean(family, m, w) for w in ("accuracy", "balanced")]
                + [r.rank(family, m), r.mean(family, m, "l1"), r.seconds(family, m), r.mean(family, m, "accuracy", True),
                   r.failures([family], m), r.scorer[family, m] or ""] for m in r.methods]
        table(["method", "accuracy", "balanced", "rank", "L1 of p_T", "seconds", "accuracy, one scorer", "failed",
               "best scorer"], sorted(rows, key=lambda row: -row[1]))


def overall(r, suite):
    """Every family counts alike."""
    print(f"\n## {suite}: {len(r.cells)} tasks, mean of {len(r.families)} families")
    easier = [f for f in r.families if f != HARD]
    hard = len(easier) < len(r.families)

    def mean(of, *args, families=r.families):
        return np.mean([of(f, *args) for f in families])

    rows = []
    for m in r.methods:
        row = [m, mean(r.rank, m), mean(r.mean, m, "accuracy")]
        row += [mean(r.rank, m, families=easier), mean(r.mean, m, "accuracy", families=easier)] if hard else []
        row += [mean(r.mean, m, "balanced"), mean(r.mean, m, "l1"), mean(r.rank, m, True), mean(r.mean, m, "accuracy", True),
                np.nanmean([r.seconds(f, m) for f in r.families]), r.searched(r.families, m), r.failures(r.families, m)]
        rows.append(row)
    table(["method", "rank", "accuracy", *(["rank but subspace", "accuracy but subspace"] if hard else []), "balanced", "L1 of p_T",
           "rank, one scorer", "accuracy, one scorer", "seconds", "of the grid", "failed"], sorted(rows, key=lambda row: row[1]))
    if not hard:
        return beside(r)
    for title, what, sign in (("Accuracy", "accuracy", -1), ("L1 of p_T", "l1", 1)):
        print(f"\n{title}, mean of a family's tasks:")
        rows = [[m] + [r.mean(f, m, what) for f in r.families] for m in r.methods]
        table(["method", *r.families], sorted(rows, key=lambda row: sign * np.mean(row[1:])))


def beside(r):
    """Our default, the base classifier and skada's best in hindsight, by family."""
    print()
    rows, theirs = [], [m for m in r.methods if not is_ours(m)]
    for f in r.families:
        best = max(theirs, key=lambda m: r.mean(f, m, "accuracy"))
        rows.append([f, *(r.mean(f, m, "accuracy") for m in (DEFAULT, SOURCE, best)), best, *(r.mean(f, m, "l1") for m in (DEFAULT, SOURCE))])
    table(["family", "accuracy", "Train Src", "best of skada's", "", "L1 of p_T", "Train Src"], rows)


def published(r):
    """SKADA-Bench's own numbers beside ours."""
    path = Path(os.environ.get("MARS_DATA", "no-such-folder")) / "skadabench/published_simulated.csv"
    families = [f for f in PUBLISHED if f in r.families]
    if not path.exists() or not families:
        return
    with open(path) as file:
        theirs = {(row["estimator"], row["shift"]): float(row["accuracy_mean"]) for row in csv.DictReader(file)
                  if row["scorer"] == "best_scorer"}
    names = list(dict.fromkeys([*r.methods, *(e for e, _ in theirs)]))
    rows = [[m] + [value for f in families for value in (theirs.get((m, PUBLISHED[f]), float("nan")),
            r.mean(f, m, "accuracy") if m in r.methods else float("nan"))] for m in names]
    print("\nSimulated shifts: published (best label-free scorer, held-out target rows) and here:")
    table(["method"] + [f"{f}, {what}" for f in families for what in ("published", "here")], rows)
