"""Judges mars on tables whose families its gate was not fitted to, beside plain classifiers.

usage: left_out.py run SIGNS WORK RESULTS.csv FOLDER... [--jobs N]
       left_out.py build SIGNS WORK FAMILY...
       left_out.py tables RESULTS.csv

Families of tasks are dealt to ten folds. For each fold `fitgate` fits a gate to the signs of all
other families (SIGNS is testdata/gate; SKADA-Bench's real pairs are left out of all, as some are of the
same data), and Go builds a `mars` with this gate in WORK. It then answers the tasks of the fold. A task is
FOLDER/NAME.npz, as in tasks.py, and FOLDER/tasks.csv has its family and kind (ask_tasks.py and
more_splits.py make them). The peers are trained on the source alone, with their defaults, and their
proportions are counts of labels. Rows of classes that the source lacks count for nothing in the truth.

build makes WORK/mars-0, whose gate does not know the named families. RESULTS.csv has a line a task and method. A second run goes on. Run it in the repository's root. Needs NumPy, scikit-learn and
LightGBM.
"""

import argparse
import concurrent.futures
import csv
import gzip
import json
import os
import pathlib
import subprocess
import time
import warnings

import numpy as np

import tasks

FOLDS = 10
NOVELTY = ["new", "auroc", "known_below", "new_below"]  # of typicality, at .05, where there are rows of new classes
COLUMNS = ["name", "kind", "family", "fold", "method", "accuracy", "balanced", "l1", "expected_error", "expected_accuracy", "inside", "seconds", *NOVELTY]
GATE = "stages/algorithms/gate/gate.json"


def build(fold: int, left: set[str], signs: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    """A mars whose gate does not know the families."""
    program = work / f"mars-{fold}"
    if program.exists():
        return program
    kept, gate, overlay = work / f"signs-{fold}.jsonl", work / f"gate-{fold}.json", work / f"overlay-{fold}.json"
    with open(kept, "w") as out:
        for path in sorted(signs.glob("*.jsonl.gz")):
            for line in gzip.open(path, "rt"):
                task = json.loads(line)
                if task["family"] not in left and task["kind"] != "natural":
                    out.write(line)
    subprocess.run(["go", "run", "./cmd/internal/fitgate", "fit", gate, kept], check=True, stdout=subprocess.DEVNULL)
    overlay.write_text(json.dumps({"Replace": {os.path.abspath(GATE): str(gate.absolute())}}))
    subprocess.run(["go", "build", "-overlay", overlay, "-o", program, "./cmd/mars"], check=True)
    return program.absolute()


def peers() -> dict:
    from lightgbm import LGBMClassifier
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    def scaled(model):
        return make_pipeline(SimpleImputer(), StandardScaler(), model)

    return {
        "random forest": make_pipeline(SimpleImputer(), RandomForestClassifier(random_state=0)),
        "histogram gradient boosting": HistGradientBoostingClassifier(random_state=0),
        "LightGBM": LGBMClassifier(random_state=0, verbose=-1, n_jobs=1),
        "support vector machine": scaled(SVC()),
        "logistic regression": scaled(LogisticRegression(max_iter=1000)),
    }


def plain(model, data) -> dict:
    """A classifier that is trained on the source, scored."""
    began = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = model.fit(data["Xs"], data["ys"]).predict(data["Xt"])
    seconds = time.monotonic() - began
    known, classes = np.isin(data["yt"], data["ys"]), np.unique(data["ys"])
    counts = [(labels == c).mean() for c in classes]  # of all rows: which are of new classes is not known
    labels, truth = labels[known], data["yt"][known]
    return {
        "accuracy": (labels == truth).mean(),
        "balanced": np.mean([(labels[truth == c] == c).mean() for c in np.unique(truth)]),
        "l1": sum(abs(n - (truth == c).mean()) for n, c in zip(counts, classes)),
        "seconds": seconds,
    }


def answers(path: pathlib.Path, program: pathlib.Path) -> dict[str, dict]:
    ours = tasks.run(path, [], str(program))
    ours["inside"] = np.mean(ours["inside"])
    if "new" in ours:
        ours |= {"known_below": ours["alarms"][0], "new_below": ours["found"][0]}
    with np.load(path) as file:
        data = {k: file[k] for k in file}
    return {"mars": ours, **{name: plain(model, data) for name, model in peers().items()}}


def run(arguments) -> None:
    arguments.work.mkdir(parents=True, exist_ok=True)
    known = []
    for folder in arguments.folders:
        for task in tasks.table(folder, "tasks.csv").values():
            known.append({**task, "path": folder / f"{task['name']}.npz"})
    families = sorted({t["family"] for t in known})
    np.random.default_rng(0).shuffle(families)
    folds = {family: i % FOLDS for i, family in enumerate(families)}
    done = set()
    if arguments.results.exists():
        done = {row["name"] for row in csv.DictReader(open(arguments.results))}
    else:
        arguments.results.write_text(",".join(COLUMNS) + "\n")
    for fold in range(FOLDS):
        todo = [t for t in known if folds[t["family"]] == fold and t["name"] not in done]
        if not todo:
            continue
        program = build(fold, {f for f in families if folds[f] == fold}, arguments.signs, arguments.work)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for task, scored in zip(todo, pool.map(lambda t: answers(t["path"], program.absolute()), todo)):
                with open(arguments.results, "a") as out:
                    to = csv.DictWriter(out, COLUMNS, extrasaction="ignore", lineterminator="\n")
                    for method, scores in scored.items():
                        scores = {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in scores.items()}
                        to.writerow({**task, "fold": fold, "method": method, **scores})


def families_mean(rows: list[dict], column: str) -> float:
    """The mean of the families' means."""
    families = {}
    for row in rows:
        families.setdefault(row["family"], []).append(float(row[column]))
    return np.mean([np.mean(v) for v in families.values()])


def number(x: float) -> str:
    return "" if np.isnan(x) else f"{x:.3f}".removeprefix("0") if x < 1 else f"{x:.2f}"


def table(head: list[str], lines: list[list]) -> None:
    print("|", " | ".join(head), "|")
    print("|" + "---|" * len(head))
    for line in lines:
        print("|", " | ".join(number(x) if isinstance(x, float) else str(x) for x in line), "|")
    print()


def tables(path: pathlib.Path) -> None:
    rows = list(csv.DictReader(open(path)))
    methods = list(dict.fromkeys(r["method"] for r in rows))
    kinds = [(k, [r for r in rows if r["kind"] == k]) for k in sorted({r["kind"] for r in rows})]
    kinds.append(("**all**", rows))
    for column in ("accuracy", "balanced", "l1"):
        lines = []
        for kind, part in kinds:
            by = {m: [r for r in part if r["method"] == m] for m in methods}
            lines.append([kind, len(by["mars"]), len({r["family"] for r in part}), *(families_mean(by[m], column) for m in methods)])
        table([{"l1": "L1 of p_T", "balanced": "balanced accuracy"}.get(column, column), "tasks", "families", *methods], lines)
    lines = []
    for kind, part in kinds:
        ours = [r for r in part if r["method"] == "mars"]
        off = np.array([float(r["l1"]) for r in ours])
        said = np.array([float(r["expected_error"]) for r in ours])
        mean = [families_mean(ours, c) for c in ("l1", "expected_error", "accuracy", "expected_accuracy", "inside")]
        lines.append([kind, *mean, float(tasks.auroc(said, off > 0.2)), f"{((said <= 0.1) & (off > 0.2)).sum()} of {(said <= 0.1).sum()}"])
    table(["what it says", "L1", "expected", "right", "expected", "inside", "AUROC", "said ≤ .1, off by > .2"], lines)
    ours = [r for r in rows if r["kind"] == "new" and r["method"] == "mars"]
    table(["tasks with new classes", "rows of these", "AUROC of typicality", "known rows below .05", "new rows below .05"], [[len(ours), *(families_mean(ours, c) for c in NOVELTY)]])
    best = {}
    for r in rows:
        if r["method"] != "mars":
            best[r["name"]] = max(best.get(r["name"], 0), float(r["accuracy"]))
    lines = []
    for kind, part in kinds:
        ours = [r for r in part if r["method"] == "mars"]
        short = [best[r["name"]] - float(r["accuracy"]) for r in ours]
        hindsight = families_mean([{**r, "best": best[r["name"]]} for r in ours], "best")
        lines.append([kind, hindsight, f"{sum(s > 0.02 for s in short)} of {len(ours)}"])
    table(["best plain classifier, in hindsight", "accuracy", "mars worse by > .02"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    p = commands.add_parser("run")
    p.add_argument("signs", type=pathlib.Path)
    p.add_argument("work", type=pathlib.Path)
    p.add_argument("results", type=pathlib.Path)
    p.add_argument("folders", type=pathlib.Path, nargs="+")
    p.add_argument("--jobs", type=int, default=1)
    p = commands.add_parser("build")
    p.add_argument("signs", type=pathlib.Path)
    p.add_argument("work", type=pathlib.Path)
    p.add_argument("families", nargs="+")
    commands.add_parser("tables").add_argument("results", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.command == "build":
        arguments.work.mkdir(parents=True, exist_ok=True)
        build(0, set(arguments.families), arguments.signs, arguments.work)
    else:
        run(arguments) if arguments.command == "run" else tables(arguments.results)


if __name__ == "__main__":
    main()
