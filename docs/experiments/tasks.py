"""Runs mars label, and mars proportions with its model, on a folder of tasks and scores them.

usage: tasks.py FOLDER [RESULTS] [--jobs N] [--only PREFIX] [-- FLAGS of mars label]

A task is FOLDER/NAME.npz: Xs (n_S×d) with labels ys, Xt (n_T×d) with labels yt, which are
only read here, to score. FOLDER/tasks.csv (name,family) says which tasks are of one
family; without it the family is the name up to the first "_". FOLDER/plain.csv
(name,svc,lr,knn15,mlp) has the accuracies of classifiers that are trained on the source.
Rows whose class the source lacks count for nothing but the typicality, which should be
small for them.
RESULTS (JSON lines) keeps what is done, so that a second run goes on. Needs NumPy, and
bin/ on the PATH.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np

LEVEL = 0.9


def run(task: pathlib.Path, flags: list[str], program: str = "mars") -> dict:
    """Labels and proportions of one task, scored."""
    data = np.load(task)
    truth = data["yt"].astype(int)
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        np.savez(at / "source.npz", X=data["Xs"].astype("f4"), y=data["ys"].astype(int))
        np.savez(at / "target.npz", X=data["Xt"].astype("f4"))
        model = at / "model.safetensors"
        fit = ["--source", at / "source.npz", "--target", at / "target.npz", *flags, "--save", model]
        began = time.monotonic()
        subprocess.run([program, "label", *fit, "-o", at / "labels.csv", "-q"], check=True, stderr=subprocess.PIPE)
        seconds = time.monotonic() - began
        answer = subprocess.run(
            [program, "proportions", "--model", model, "--json", "--level", str(LEVEL), "-q"], check=True, capture_output=True
        )
        with open(at / "labels.csv") as lines:
            rows = list(csv.DictReader(lines))
    labels = np.array([int(row["predicted_class"]) for row in rows])
    typicality = np.array([float(row.get("typicality") or "nan") for row in rows])
    known = np.isin(truth, data["ys"])
    new = novelty(typicality, known)
    labels, truth = labels[known], truth[known]
    report = json.loads(answer.stdout)
    classes = [int(c) for c in report["classes"]]
    shares = np.array([(truth == c).mean() for c in classes])
    estimated = np.array(report["proportions"]["estimated"])
    lower, upper = np.array(report["interval"]["lower"]), np.array(report["interval"]["upper"])
    recalls = [(labels[truth == c] == c).mean() for c in np.unique(truth)]
    hedge = report.get("diagnostics", {}).get("hedge") or {}
    return {
        "name": task.stem,
        "rows": [*data["Xs"].shape, len(data["Xt"])],
        "accuracy": (labels == truth).mean(),
        "balanced": np.mean(recalls),
        "l1": np.abs(estimated - shares).sum(),
        "expected_error": report["expected_error"],
        "expected_accuracy": hedge.get("expected_accuracy"),
        "inside": [int(s) for s in (lower <= shares + 1e-9) & (shares <= upper + 1e-9)],
        "shares": list(shares),
        "weights": {v["name"]: v["weight"] for v in hedge.get("views", [])},
        "seconds": seconds,
        **new,
    }


RATES = (0.05, 0.01)


def novelty(typicality, known) -> dict:
    """How well the typicality tells rows of new classes, if there are any."""
    if known.all():
        return {}
    return {
        "new": (~known).mean(),
        "auroc": auroc(-typicality, ~known),
        "alarms": [(typicality[known] < rate).mean() for rate in RATES],
        "found": [(typicality[~known] < rate).mean() for rate in RATES],
    }


def table(folder: pathlib.Path, name: str) -> dict[str, dict]:
    path = folder / name
    if not path.exists():
        return {}
    with open(path) as lines:
        return {row["name"]: row for row in csv.DictReader(lines)}


def auroc(score, positive) -> float:
    """The chance that a positive has the larger score."""
    score, positive = np.asarray(score), np.asarray(positive)
    p, n = score[positive], score[~positive]
    if not len(p) or not len(n):
        return float("nan")
    return np.mean([(a > n).mean() + (a == n).mean() / 2 for a in p])


def report(results: list[dict], folder: pathlib.Path) -> None:
    families, plain = table(folder, "tasks.csv"), table(folder, "plain.csv")
    groups = collections.defaultdict(list)
    for r in results:
        r["family"] = families.get(r["name"], {}).get("family") or r["name"].split("_")[0]
        p = plain.get(r["name"])
        r["plain"] = max(float(p[k]) for k in ("svc", "lr", "knn15", "mlp")) if p else float("nan")
        groups[r["family"]].append(r)
    columns = ["accuracy", "plain", "balanced", "l1", "expected_error", "seconds"]
    print(f"| family | tasks | {' | '.join(columns)} | inside |\n|---|---|{'---|' * (len(columns) + 1)}")

    def line(name, rows, means):
        inside = np.mean([np.mean(r["inside"]) for r in rows])
        print(f"| {name} | {len(rows)} | {' | '.join(f'{m:.3f}' for m in means)} | {inside:.3f} |")

    means = {f: [np.mean([r[c] for r in rows]) for c in columns] for f, rows in groups.items()}
    for family in sorted(groups):
        line(family, groups[family], means[family])
    line("**mean of families**", results, np.mean(list(means.values()), 0))
    off = np.array([r["l1"] for r in results])
    said = np.array([r["expected_error"] for r in results])
    inside, shares = np.concatenate([r["inside"] for r in results]), np.concatenate([r["shares"] for r in results])
    small = (shares >= 0.005) & (shares <= 0.02)
    known = [r for r in results if r["plain"] == r["plain"]]
    worse = sum(r["accuracy"] < r["plain"] - 0.02 for r in known)
    print(f"\nAUROC of the expected error for L1 > .2: {auroc(said, off > 0.2):.3f}")
    print(
        f"said at most .1: {(said <= 0.1).sum()} tasks, of which off by more than .2: {((said <= 0.1) & (off > 0.2)).sum()}"
    )
    print(
        f"shares inside the {LEVEL:.0%} interval: {inside.mean():.3f}, of those from .5 to 2 %: {inside[small].mean():.3f}"
    )
    wrong = 1 - np.array([r["accuracy"] for r in results])
    doubt = 1 - np.array([r["expected_accuracy"] or 0 for r in results])
    print(
        f"AUROC of the expected accuracy for accuracy < .75: {auroc(doubt, wrong > 0.25):.3f}, mean error {np.abs(wrong - doubt).mean():.3f}"
    )
    print(f"worse than the best plain classifier by more than .02: {worse} of {len(known)}")
    report_novelty([r for r in results if "new" in r])


def report_novelty(results: list[dict]) -> None:
    if not results:
        return
    print("\n| family | tasks | new rows | AUROC | known below .05 | new below .05 | known below .01 | new below .01 |")
    print("|---|---|---|---|---|---|---|---|")
    groups = collections.defaultdict(list)
    for r in results:
        (a5, a1), (f5, f1) = r["alarms"], r["found"]
        groups[r["family"]].append([r["new"], r["auroc"], a5, f5, a1, f1])
    groups["**mean of families**"] = [np.mean(rows, 0) for rows in groups.values()]
    for family, rows in groups.items():
        count = len(results) if family.startswith("*") else len(rows)
        print(f"| {family} | {count} | {' | '.join(f'{m:.3f}' for m in np.mean(rows, 0))} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path, nargs="?")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="")
    arguments, flags = parser.parse_known_args()
    flags = [f for f in flags if f != "--"]
    tasks = sorted(arguments.folder.glob(arguments.only + "*.npz"))
    results = []
    if arguments.results and arguments.results.exists():
        results = [json.loads(line) for line in arguments.results.read_text().splitlines()]
    done = {r["name"] for r in results}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for result in pool.map(lambda t: run(t, flags), [t for t in tasks if t.stem not in done]):
            results.append(result)
            if arguments.results:
                with open(arguments.results, "a") as out:
                    out.write(json.dumps(result, default=float) + "\n")
    report(results, arguments.folder)


if __name__ == "__main__":
    main()
