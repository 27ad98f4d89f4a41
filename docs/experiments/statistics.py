"""What mars run does not compute of the tables that it writes: how often intervals hold,
and how well signs tell the tasks at which an estimate or a model fails.

    python3 statistics.py estimators TABLE.csv... [SIMULATIONS.jsonl...]
    python3 statistics.py diagnostics TABLE.csv...
    python3 statistics.py blobs FOLDER        makes the tasks of diagnostics-blobs.toml

The tables are of estimators-*.toml and diagnostics-*.toml, the simulations of TestCoverage
(stages/algorithms/labelshift). blobs needs NumPy.
"""

import csv
import json
import sys

BAD = 0.2  # L1 error of proportions, and
WORSE = 0.1  # error of labels beyond the weighted one of the source, that a sign is to find


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def auroc(tasks, bad, sign):
    """The probability that a bad task has a greater sign than a good one."""
    yes, no = [sign(t) for t in tasks if bad(t)], [sign(t) for t in tasks if not bad(t)]
    return mean((b > g) + (b == g) / 2 for b in yes for g in no)


def table(head, rows):
    cells = [["" if v != v else f"{v:.3f}" if isinstance(v, float) else str(v) for v in row] for row in rows]
    print("\n".join(["", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"] + ["| " + " | ".join(row) + " |" for row in cells]))


def read(path):
    """The tasks of a table: what has a number in each."""
    for row in csv.DictReader(open(path)):
        yield {k: v if k == "family" else float(v) for k, v in row.items() if k == "family" or number(v)}


def number(text):
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def below(task, name):
    return {k.removeprefix(name + "."): v for k, v in task.items() if k.startswith(name + ".")}


def families(tasks, **more):
    return {f: [t for t in tasks if t["family"] == f] for f in dict.fromkeys(t["family"] for t in tasks)} | {k: v for k, v in more.items() if v}


def estimated(task):
    """A task of mars run, as TestCoverage writes those of its simulations."""
    lower, upper, true = (below(task, n).values() for n in ("interval.lower", "interval.upper", "proportions.proportions.true"))
    return task | dict(l1=below(task, "estimators_l1"), inside=[a <= t <= b for a, t, b in zip(lower, true, upper)], width=mean(b - a for a, b in zip(lower, upper)))


def estimators(paths):
    real = [estimated(t) for path in paths if path.endswith(".csv") for t in read(path)]
    simulated = [json.loads(line) for path in paths if not path.endswith(".csv") for line in open(path)]
    every = families(real + simulated, real=real, simulated=simulated, all=real + simulated)
    names = sorted({n for tasks in every.values() for t in tasks for n in t["l1"]})
    full = {f: [t for t in tasks if "marsc" in t["l1"]] for f, tasks in every.items()}
    table(["mean L1", "tasks"] + names, [[f, len(of)] + [mean(t["l1"][n] for t in of if n in t["l1"]) for n in names] for f, of in full.items()])
    table(["family", "tasks", "shares in their 90 % interval", "mean width", "L1 of mte", "expected"],
          [[f, len(of), mean(i for t in of for i in t["inside"]), mean(t["width"] for t in of), mean(t["l1"]["mte"] for t in of), mean(t["expected_error"] for t in of)]
           for f, of in every.items()])
    bad, signs = lambda t: t["l1"]["mte"] > BAD, ["expected_error", "disagreement", "alignment"]
    table(["AUROC", "bad"] + signs, [[f, f"{sum(map(bad, of))} of {len(of)}"] + [auroc(of, bad, lambda t: t[s]) for s in signs] for f, of in every.items()])
    bins = [(low, high, [bad(t) for t in every["all"] if low < t["expected_error"] <= high]) for low, high in ((0, 0.1), (0.1, 0.2), (0.2, 2))]
    table(["expected error", "tasks", "off by more than 0.2"], [[f"{low} to {high}", len(of), sum(of)] for low, high, of in bins])


def signs_of(tasks):
    """Of each estimate or model: the tasks that have it, whether it is bad there, and signs
    of which a greater one is worse, with thresholds."""
    ratio = lambda t, name, of="after", to="floor": t[f"{name}.{of}"] / t[f"{name}.{to}"]
    moved, limits = "diagnostics.translation", [1.2, 1.3, 1.5, 2]
    yield "proportions of mte", tasks, lambda t: t["estimators_l1.mte"] > BAD, {
        "expected": (lambda t: t["expected_error"], [0.1, 0.2]),
        "disagreement": (lambda t: t["disagreement"], [0.2]),
        "translation": (lambda t: ratio(t, "proportions." + moved), limits),
        "before": (lambda t: ratio(t, "proportions." + moved, "before"), []),
        "weight": (lambda t: t["proportions.diagnostics.weights.max"], [5, 10])}
    for name in ("marsc", "marsg"):
        at = lambda t, part, name=name: below(t, f"proportions.diagnostics.{part}.{name}")
        yield "proportions of " + name, [t for t in tasks if f"estimators_l1.{name}" in t], lambda t, name=name: t[f"estimators_l1.{name}"] > BAD, {
            "separation": (lambda t, at=at: -at(t, "matching")["separation"], [-0.5]),
            "not monotone": (lambda t, at=at: 1 - min(v for k, v in at(t, "matching").items() if k.startswith("monotone.")), [0.5]),
            "gap": (lambda t, at=at: -at(t, "mixture").get("height_gap", 0), [-0.1]),
            "ambiguity": (lambda t, at=at: at(t, "mixture").get("ambiguity", 0), [0.03])}
    for name in ("translate", "marsc", "wd"):
        bound = name + ".diagnostics.bound"
        other = {"translation": (lambda t: ratio(t, "translate." + moved), limits)} if name == "translate" else {
            "critic": (lambda t, bound=bound: t[bound + ".critic_distance"], [])}
        yield "labels of " + name, tasks, lambda t, name=name, bound=bound: 1 - t[name + ".accuracy"] > t[bound + ".weighted_source_error"] + WORSE, {
            "latent": (lambda t, bound=bound: ratio(t, bound, "wasserstein", "wasserstein_floor"), limits)} | other


def diagnostics(paths):
    rows, over = [], []
    for what, tasks, bad, signs in signs_of([t for path in paths for t in read(path)]):
        for sign, (value, limits) in signs.items():
            rows += [[what, sign, f, f"{sum(map(bad, of))} of {len(of)}", auroc(of, bad, value)] for f, of in families(tasks, all=tasks).items()]
            for limit in limits:
                beyond, within = [bad(t) for t in tasks if value(t) > limit], [bad(t) for t in tasks if value(t) <= limit]
                over.append([what, sign, str(limit), f"{sum(beyond)} of {len(beyond)}", f"{sum(within)} of {len(within)}"])
    table(["of", "sign", "tasks", "bad", "AUROC"], rows)
    table(["of", "sign", "threshold", "bad beyond it", "bad within it"], over)


def blobs(folder):
    import numpy as np

    rng = np.random.default_rng(1)
    for classes in (3, 10):
        for spread in (0.8, 1.5, 3, 8):
            for move in (0.3, 1, 3, 8):
                means, shares = spread * rng.normal(size=(classes, 8)), rng.dirichlet(np.ones(classes))
                by = move / 2 * (1 + rng.normal(size=(classes, 8)))
                for side, p, moved in (("source", np.full(classes, 1 / classes), 0), ("target", shares, 1)):
                    y = np.concatenate([np.repeat(np.arange(classes), 3), rng.choice(classes, 900, p=p)])
                    x = means[y] + moved * by[y] + rng.normal(size=(len(y), 8))
                    np.savez(f"{folder}/{classes}-{spread}-{move}.{side}.npz", X=x.astype("f4"), y=y)


if len(sys.argv) < 3 or sys.argv[1] not in ("estimators", "diagnostics", "blobs"):
    sys.exit(__doc__)
{"estimators": estimators, "diagnostics": diagnostics, "blobs": lambda args: blobs(args[0])}[sys.argv[1]](sys.argv[2:])
