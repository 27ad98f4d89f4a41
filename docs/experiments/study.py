"""Tables of what docs/experiments/study.sh and the simulations of TestCoverage left behind.

    python study.py FOLDER [SIMULATIONS.jsonl...]

With --reference the NumPy statement of the estimator and of the translation in
testdata/oracle/labelshift/generate.py is run on the same rows (numpy, scipy, scikit-learn, pyarrow).
"""

import json
import pathlib
import sys
import time

ESTIMATORS = ["mte", "refit", "adapt", "aligned", "cc", "bbse", "bbse-soft", "rlls", "em", "marsc", "marsg", "source"]
BAD = 0.2  # L1 error that the flag is to find


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def of_report(path):
    """What came of a task, as TestCoverage writes it."""
    r = json.loads(path.read_text())
    p, lower, upper = r["proportions"], r["interval"]["lower"], r["interval"]["upper"]
    l1 = lambda q: sum(abs(a - b) for a, b in zip(p["true"], q))
    return dict(
        task=path.stem, family=path.stem.split("-")[0] if path.stem.startswith("hipc") else "-".join(path.stem.split("-")[:2]),
        l1={name: l1(q) for name, q in r["estimators"].items()} | {"source": l1(p["source"])},
        expected_error=r["expected_error"], disagreement=r["disagreement"], alignment=r["alignment"],
        inside=[a <= t <= b for a, t, b in zip(lower, p["true"], upper)], width=mean(b - a for a, b in zip(lower, upper)),
    )


def auroc(tasks, score):
    """The probability that a bad task scores higher than a good one."""
    bad = [score(t) for t in tasks if t["l1"]["mte"] > BAD]
    good = [score(t) for t in tasks if t["l1"]["mte"] <= BAD]
    return mean((b > g) + (b == g) / 2 for b in bad for g in good)


def table(head, rows):
    print("\n| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(v if isinstance(v, str) else f"{v:.3f}" for v in row) + " |")


def errors(families, names):
    rows = []
    for family, tasks in families.items():
        full = [t for t in tasks if "marsc" in t["l1"]]
        rows.append([family, str(len(full))] + [mean(t["l1"][n] for t in full if n in t["l1"]) for n in names])
    table(["mean L1", "tasks"] + names, rows)


def intervals(families):
    rows = [[family, str(len(tasks)), mean(i for t in tasks for i in t["inside"]), mean(t["width"] for t in tasks),
             mean(t["l1"]["mte"] for t in tasks), mean(t["expected_error"] for t in tasks)] for family, tasks in families.items()]
    table(["family", "tasks", "shares in their 90 % interval", "mean width", "L1 of mte", "expected"], rows)


def flags(families):
    scores = dict(expected=lambda t: t["expected_error"], disagreement=lambda t: t["disagreement"], alignment=lambda t: t["alignment"])
    rows = [[family, f"{sum(t['l1']['mte'] > BAD for t in tasks)} of {len(tasks)}"] + [auroc(tasks, s) for s in scores.values()] for family, tasks in families.items()]
    table(["AUROC", "bad"] + list(scores), rows)
    tasks = families["all"]
    for low, high in [(0, 0.1), (0.1, 0.2), (0.2, 2)]:
        part = [t["l1"]["mte"] > BAD for t in tasks if low < t["expected_error"] <= high]
        print(f"\nexpected error {low} to {high}: {sum(part)} of {len(part)} bad")


def labels(folder, families, reference):
    rows = []
    for family, tasks in families.items():
        row = [family]
        for decision, figure in [("accuracy", "accuracy"), ("balanced", "balanced_accuracy")]:
            evals = [folder / f"{t['task']}.{decision}.eval" for t in tasks]
            row.append(mean(json.loads(e.read_text())[figure] for e in evals))
        row.append(mean(float((folder / f"{t['task']}.balanced.seconds").read_text()) for t in tasks))
        if reference:
            found = [reference(folder / f"{t['task']}.arrow") for t in tasks]
            row += [mean(f[i] for f in found) for i in range(4)] + [mean(t["l1"]["mte"] for t in tasks)]
        rows.append(row)
    head = ["labels", "accuracy", "balanced accuracy", "seconds"]
    table(head + (["reference accuracy", "reference balanced", "seconds of its matching", "reference L1", "L1 of mte"] if reference else []), rows)


def numpy_reference():
    sys.path.append(str(pathlib.Path(__file__).parents[2] / "testdata/oracle/labelshift"))
    import generate
    import numpy as np
    import pyarrow as pa
    from sklearn.neural_network import MLPClassifier

    def read(path):
        t = pa.ipc.open_file(path).read_all()
        column = "embedding" if "embedding" in t.column_names else "features"
        X = np.stack(t[column].to_numpy(zero_copy_only=False)).astype(float)
        target = np.array([str(d) == "target" for d in t["domain"].to_pylist()])
        names = sorted(set(t["label"].to_pylist()) - {None})
        number = {n: i for i, n in enumerate(names)}
        y = np.array([number.get(v, -1) for v in t["label"].to_pylist()])
        truth = np.array([number.get(v, -1) for v in t["truth"].to_pylist()])
        return X[~target], y[~target], X[target], truth[target], len(names)

    def run(path):
        XS, y, XT, truth, C = read(path)
        begin = time.time()
        m = generate.match(XS, y, XT, C)
        p, R = np.asarray(m["p"]), np.asarray(m["R"])
        seconds = time.time() - begin
        l1 = np.abs(p - np.bincount(truth[truth >= 0], minlength=C) / len(truth)).sum()
        center, scale = XS.mean(0), XS.std(0) + 1e-9
        ZS, ZT = (XS - center) / scale, (XT - center) / scale
        _, moved = generate.translated(ZS, y, ZT, R, C)
        center, scale = moved.mean(0), moved.std(0) + 1e-9
        epochs = max(5, min(100, -(-1000 * 120 // len(y))))
        net = MLPClassifier((100, 100, 100), alpha=0, batch_size=120, learning_rate_init=1e-3, max_iter=epochs, n_iter_no_change=epochs, random_state=0)
        P = net.fit((moved - center) / scale, y).predict_proba((ZT - center) / scale)
        pS = np.bincount(y, minlength=C) / len(y)
        recall = lambda guess: mean((guess[truth == k] == k).mean() for k in range(C) if (truth == k).any())
        return mean(((P * np.maximum(p, 1e-4) / pS).argmax(1) == truth).astype(float)), recall((P / pS).argmax(1)), seconds, l1

    return run


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    folder = pathlib.Path(arguments[0])
    real = [of_report(path) for path in sorted(folder.glob("*.json"))]
    simulated = [json.loads(line) for path in arguments[1:] for line in open(path)]
    families = lambda tasks: {f: [t for t in tasks if t["family"] == f] for f in dict.fromkeys(t["family"] for t in tasks)}
    every = families(real + simulated)
    names = [n for n in ESTIMATORS if any(n in t["l1"] for t in real + simulated)]
    errors(every, names)
    whole = {"real": real, "simulated": simulated, "all": real + simulated}
    intervals(every | {k: v for k, v in whole.items() if v})
    flags(every | {k: v for k, v in whole.items() if v})
    if real:
        labels(folder, families(real), numpy_reference() if "--reference" in sys.argv else None)


main()
