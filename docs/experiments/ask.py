"""Measures mars ask: intervals, shares and refuted assumptions from a few labels of a target.

usage: ask.py run TASKS ANSWERS [--only PREFIX]
       ask.py study TASKS ANSWERS RESULTS.csv [--draws 20]
       ask.py commands TASKS WORK RESULTS.csv [--draws 3]
       ask.py tables RESULTS.csv FRESH.csv

TASKS is what ask_tasks.py writes. run keeps in ANSWERS what mars says of each task before any label: mars
proportions, and the posteriors of mars label, of the default and of each assumption alone. study draws
rows, labels them with the truth and scores intervals: ours by the reference that the Go tests
compare with (testdata/oracle/ppi/reference.py), Wilson's of as many uniform draws, and those of ppi_py and of glide
where they are installed. commands does it with mars ask and mars proportions --labels themselves. tables prints
the tables of docs/measured/ask.md, of the tasks that were developed on and of fresh ones. Needs NumPy, SciPy and pandas, for run and commands bin/ on the PATH, and for
glide Python 3.12.
"""

import argparse
import csv
import functools
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import pandas as pd

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "testdata/oracle/ppi"))
import reference  # noqa: E402

BUDGETS = (20, 50, 200)
VIEWS = ("same", "balance", "together", "classes", "parts")
LEAST = 0.005  # shares below are told apart
REFUTED = 5  # draws of 50 labels that assumptions are tested on
exact = functools.lru_cache(None)(reference.exact)


# --- What mars says before any label ----------------------------------------------------------


def listed(tasks, only=""):
    """Rows of tasks.csv: name, kind, family."""
    with open(tasks / "tasks.csv") as lines:
        return [row for row in csv.DictReader(lines) if row["name"].startswith(only)]


def files(data, at):
    """Writes source and target, and returns the flags that name them."""
    np.savez(at / "source.npz", X=data["Xs"], y=data["ys"].astype(int))
    np.savez(at / "target.npz", X=data["Xt"])
    return ["--source", at / "source.npz", "--target", at / "target.npz", "-q"]


def posteriors(path, classes):
    rows = pd.read_csv(path)
    return rows[["probability_" + c for c in classes]].to_numpy()


def standardised(data):
    """Vectors of the target in which rows are near each other."""
    source = data["Xs"].astype(float)
    varies = source.std(0) > 0
    return ((data["Xt"] - source.mean(0)) / np.where(varies, source.std(0), 1))[:, varies]


def answer(data) -> dict:
    """What is known of a task without labels; truth is kept to score."""
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        flags = files(data, at)
        said = json.loads(subprocess.run(["mars", "proportions", *flags, "--json"], check=True, capture_output=True).stdout)
        classes, hedge = said["classes"], said["diagnostics"]["hedge"]
        weight = {v["name"]: v["weight"] for v in hedge["views"]}
        of = {}
        for name in ("auto", *weight):
            subprocess.run(["mars", "label", *flags, "--assume", name, "-o", at / "labels.csv"], check=True)
            of[name] = posteriors(at / "labels.csv", classes)
    return {
        "P": of.pop("auto"), "V": np.array([of[n] for n in weight]), "views": list(weight), "weights": list(weight.values()),
        "est": said["proportions"]["estimated"], "ee": said["expected_error"], "ea": hedge.get("expected_accuracy", np.nan),
        "classes": np.array([int(float(c)) for c in classes]), "yt": data["yt"], "Z": standardised(data),
    }  # fmt: skip


def run(tasks, answers, only):
    answers.mkdir(exist_ok=True)
    for row in listed(tasks, only):
        path = answers / (row["name"] + ".npz")
        if not path.exists():
            np.savez_compressed(path, **answer(np.load(tasks / path.name)))
            print(row["name"], flush=True)


# --- Draws, labels and intervals --------------------------------------------------------------


def load(path):
    """An answer with classes that the source lacks at the end, where the model has 0."""
    d = dict(np.load(path, allow_pickle=True))
    classes = list(d["classes"]) + sorted(set(d["yt"].astype(int)) - set(d["classes"]))
    new = len(classes) - len(d["classes"])
    code = {c: k for k, c in enumerate(classes)}
    pad = lambda x: np.concatenate([x, np.zeros((*x.shape[:-1], new))], -1)
    p = d["P"].astype(float)
    v = d["V"].astype(float)
    return {
        "y": np.array([code[int(c)] for c in d["yt"]]), "P": pad(p / p.sum(-1, keepdims=True)), "V": pad(v / v.sum(-1, keepdims=True)),
        "est": pad(np.asarray(d["est"], float)), "new": np.arange(len(classes)) >= len(d["classes"]), "weights": d["weights"],
        "ee": float(d["ee"]), "ea": float(d["ea"]), "Z": d["Z"].astype(float), "views": [str(v) for v in d["views"]],
    }  # fmt: skip


def ours(t, budget, rng):
    """Intervals (2×C each) by name, and what else there is to score, of one draw."""
    y, p = t["y"], t["P"]
    n, classes = p.shape
    truth = np.eye(classes)[y]
    u = reference.sizes(p)
    rows, late = reference.draw(u, budget, rng)
    first, pi = int((~late).sum()), reference.probabilities(u, budget)[rows]
    doubt = reference.doubts(p)
    kernel, overall = reference.field(t["Z"], doubt, rows)
    amplitude = reference.amplitude(t["ee"], classes, doubt.mean())
    learnt_of = t["weights"], t["V"][:, rows], t["V"].mean(1), truth[rows], kernel, overall, doubt[rows], amplitude
    f, means = reference.crossfit(*learnt_of)
    estimate, lower, upper, _, _ = reference.sharper(truth[rows], f, means, pi, first, n)
    after = reference.project(reference.shares(estimate, t["new"], n, *learnt_of), lower, upper)
    holds = np.array([exact(int(x), first, n) for x in truth[rows[~late]].sum(0)]).T
    intervals = {"holds": holds, "sharper": (lower, upper)}
    right, sure = p.argmax(1) == y, p.max(1)
    share, low, high = reference.accuracy(right[rows], sure[rows], sure.mean(), pi, first, n)
    low2, high2 = exact(int(right[rows[~late]].sum()), first, n)
    mean = right.mean()
    said = {
        "l1_after": np.abs(after - truth.mean(0)).sum(), "l1_difference": np.abs(estimate - truth.mean(0)).sum(),
        "accuracy_cover": low <= mean <= high, "accuracy_width": high - low, "accuracy_holds": low2 <= mean <= high2, "accuracy_holds_width": high2 - low2,
    }  # fmt: skip
    return rows, pi, intervals, said


def peers(t, budget, rows, pi, rng):
    """Intervals (2×C each) of other programs and of uniform sampling; NaN where a program refuses."""
    truth, p = np.eye(t["P"].shape[1])[t["y"]], t["P"]
    n, classes = p.shape
    uniform = rng.permutation(n)[:budget]
    others = np.setdiff1d(np.arange(n), uniform)
    found = {"wilson": np.array([reference.wilson(x, budget) for x in truth[uniform].sum(0)]).T}
    l1 = np.abs(truth[uniform].mean(0) - truth.mean(0)).sum()

    def each(of):
        out = np.full((2, classes), np.nan)
        for k in range(classes):
            try:
                out[:, k] = np.ravel(of(k))
            except (ValueError, ZeroDivisionError):
                pass
        return out

    try:
        from ppi_py import ppi_mean_ci

        w = (1 / pi) / (1 / pi).mean()
        data = lambda k: (truth[uniform, k], p[uniform, k], p[others, k])
        found["ppi_py"] = each(lambda k: ppi_mean_ci(*data(k), alpha=0.1, lam=1))
        found["ppi_py tuned"] = each(lambda k: ppi_mean_ci(*data(k), alpha=0.1))
        found["ppi_py our draws"] = each(lambda k: ppi_mean_ci(truth[rows, k], p[rows, k], p[:, k], alpha=0.1, w=w))
    except ImportError:
        pass
    try:
        from glide.estimators import ASIMeanEstimator, PPIMeanEstimator

        def filled(index, k):
            y = np.full(n, np.nan)
            y[index] = truth[index, k]
            return y

        everywhere = reference.probabilities(reference.sizes(p), budget)
        bounds = lambda r: (r.confidence_interval.lower_bound, r.confidence_interval.upper_bound)
        found["glide PPI"] = each(lambda k: bounds(PPIMeanEstimator().estimate(filled(uniform, k), p[:, k], confidence_level=0.9)))
        found["glide ASI our draws"] = each(lambda k: bounds(ASIMeanEstimator().estimate(filled(rows, k), p[:, k], everywhere, confidence_level=0.9)))
    except ImportError:
        pass
    return found, l1


def scored(intervals, share, draws):
    """Columns of one task and budget: of each method how often it covers and how wide it is, by size of the shares."""
    out = {}
    for name, all_ in intervals.items():
        lower, upper = np.array([i[0] for i in all_]), np.array([i[1] for i in all_])
        given = np.isfinite(lower)
        inside = (lower <= share + 1e-12) & (share <= upper + 1e-12) & given
        wide = np.where(given, np.clip(upper, 0, 1) - np.clip(lower, 0, 1), np.nan)
        large, rare = share >= LEAST, (share >= LEAST) & (share < 0.02)
        out[f"cover {name}"] = inside[:, large].mean()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of methods that gave nothing
            out[f"width {name}"] = np.nanmean(wide[:, large])
        if rare.any():
            out[f"rare {name}"] = inside[:, rare].mean()
        if (~large).any():
            out[f"below {name}"] = inside[:, ~large].mean()
        out[f"refused {name}"] = 1 - given[:, large].mean()
    return out


def study(tasks, answers, results, draws):
    done = []
    for row in listed(tasks):
        t = load(answers / (row["name"] + ".npz"))
        n, classes = t["P"].shape
        share = np.bincount(t["y"], minlength=classes) / n
        u = reference.sizes(t["P"])
        for budget in BUDGETS:
            if budget > 0.9 * n:
                continue
            intervals, said, seed = {}, [], [budget, *map(ord, row["name"])]
            for draw in range(draws):
                rng = np.random.default_rng([draw, *seed])
                rows, pi, found, s = ours(t, budget, rng)
                others, s["l1_uniform"] = peers(t, budget, rows, pi, rng)
                if draw < REFUTED and budget == 50:
                    for k, name in enumerate(t["views"]):
                        s["refuted " + name] = reference.refute(t["V"][k][rows], t["y"][rows]) <= 0.01
                said.append(s)
                for name, i in {**found, **others}.items():
                    intervals.setdefault(name, []).append(i)
            expected = reference.widths(t["P"][:, ~t["new"]], u, budget, t["ea"])
            real = np.mean([b - a for a, b in intervals["sharper"]], 0)[~t["new"]]
            done.append({
                **row, "rows": n, "classes": int((share >= LEAST).sum()), "budget": budget, "accuracy": (t["P"].argmax(1) == t["y"]).mean(),
                "expected_error": t["ee"], "l1_before": np.abs(t["est"] - share).sum(), "predicted_width": expected.max(), "real_width": real.max(),
                **pd.DataFrame(said).astype(float).mean().to_dict(), **scored(intervals, share, draws),
            })  # fmt: skip
        pd.DataFrame(done).round(4).to_csv(results, index=False)


# --- With the commands ------------------------------------------------------------------------


def command(data, budget, seed, at):
    """One draw by mars ask, filled with the truth, and the report of mars proportions --labels."""
    flags = files(data, at)
    began = time.monotonic()
    subprocess.run(["mars", "ask", *flags, "--budget", str(budget), "--seed", str(seed), "--save", at / "model.safetensors", "-o", at / "ask.csv"], check=True)
    rows = pd.read_csv(at / "ask.csv")
    rows["label"] = data["yt"].astype(int)[rows["id"].to_numpy()]
    rows.to_csv(at / "ask.csv", index=False)
    said = subprocess.run(
        ["mars", "proportions", "--model", at / "model.safetensors", *flags[2:], "--labels", at / "ask.csv", "--json"], check=True, capture_output=True
    )
    return json.loads(said.stdout), rows, time.monotonic() - began


def commands(tasks, work, results, draws, only):
    done = []
    for row in listed(tasks, only):
        data = np.load(tasks / (row["name"] + ".npz"))
        for seed in range(draws):
            with tempfile.TemporaryDirectory(dir=work) as folder:
                said, rows, seconds = command(data, 50, seed, pathlib.Path(folder))
            classes = [int(float(c)) for c in said["classes"]]
            share = np.array([(data["yt"] == c).mean() for c in classes])
            large, labelled = share >= LEAST, said["labelled"]
            inside = lambda i: float(np.mean((np.array(i["lower"])[large] <= share[large] + 1e-9) & (share[large] <= np.array(i["upper"])[large] + 1e-9)))
            wide = lambda i: float(np.mean(np.array(i["upper"])[large] - np.array(i["lower"])[large]))
            missing = np.mean(~np.isin(data["yt"], classes))  # of classes that no label showed
            done.append({
                **row, "seed": seed, "seconds": seconds, "holds": inside(labelled["holds"]), "sharper": inside(labelled["sharper"]), "width": wide(labelled["sharper"]),
                "l1_before": np.abs(np.array(labelled["before"]) - share).sum() + missing, "l1_after": np.abs(np.array(said["proportions"]["estimated"]) - share).sum() + missing,
            })  # fmt: skip
        pd.DataFrame(done).round(4).to_csv(results, index=False)


# --- Tables -----------------------------------------------------------------------------------

NAMES = {
    "holds": "holds (uniform half alone)", "sharper": "**sharper**", "wilson": "Wilson, all uniform", "ppi_py": "ppi_py, λ = 1, all uniform", "ppi_py tuned": "ppi_py, tuned, all uniform",
    "ppi_py our draws": "ppi_py, tuned, our draws weighted", "glide PPI": "glide PPI, all uniform", "glide ASI our draws": "glide ASI, our draws",
}  # fmt: skip


def shown(v):
    """A cell, without the 0 before the point."""
    if not isinstance(v, float):
        return str(v)
    return f"{v:.3f}".replace("0.", ".", 1) if abs(v) < 0.9995 else f"{v:.2f}"


def show(rows, once=0):
    """A table of rows, dictionaries of the same keys. The first cells stand once, where they are as above. Blanks after a key tell two columns of one name apart."""
    print("\n| " + " | ".join(k.rstrip() for k in rows[0]) + " |\n|" + "---|" * len(rows[0]))
    above = []
    for row in rows:
        cells = [shown(v) for v in row.values()]
        line = [" " if i < once and cells[: i + 1] == above[: i + 1] else f" {c} " for i, c in enumerate(cells)]
        print("|" + "|".join(line) + "|")
        above = cells


def mean(d, column):
    """Over shares: each task counts by how many classes it has."""
    there = d[column].notna()
    return float(np.average(d[column][there], weights=d["classes"][there])) if there.any() else float("nan")


def width(d, method):
    """The mean width over Wilson's."""
    return (d[f"width {method}"] * d["classes"]).sum() / (d["width wilson"] * d["classes"])[d[f"width {method}"].notna()].sum()


def tables(old, fresh):
    both = {"the 192": pd.read_csv(old), "fresh": pd.read_csv(fresh)}
    for d in both.values():
        right = d["accuracy"] >= 0.9
        show([
            {"method": NAMES[m], "covers, 20 labels": mean(d[d.budget == 20], f"cover {m}"), **{str(b): mean(d[d.budget == b], f"cover {m}") for b in BUDGETS[1:]}, "shares of .5 to 2 %": mean(d, f"rare {m}"),
             "width": width(d, m), "width, ≥ 90 % right": width(d[right], m), "refuses": mean(d, f"refused {m}") if f"refused {m}" in d else 0.0}
            for m in (c[6:] for c in d if c.startswith("cover "))])  # fmt: skip
    for d in both.values():
        show([
            {"kind": k, "tasks": g.name.nunique(), "right": g.accuracy.mean(), "holds": mean(g, "cover holds"), "sharper": mean(g, "cover sharper"),
             "20 labels": mean(g[g.budget == 20], "cover sharper"), **{str(b): mean(g[g.budget == b], "cover sharper") for b in BUDGETS[1:]}, "width": width(g, "sharper"),
             **{k: g[g.budget == 50][c].mean() for k, c in (("L1 before", "l1_before"), ("uniform, 50", "l1_uniform"), ("after 50", "l1_after"))}}
            for k, g in d.groupby("kind")])  # fmt: skip
    families = {tasks: pd.DataFrame([
        {"family": k, "tasks": g.name.nunique(), "shares × budgets": int(g.classes.sum()), "right": g.accuracy.mean(), "holds": mean(g, "cover holds"),
         "sharper": mean(g, "cover sharper"), "Wilson": mean(g, "cover wilson"), "width": width(g, "sharper")} for k, g in d.groupby("family")]).sort_values("sharper", kind="stable") for tasks, d in both.items()}  # fmt: skip
    show([
        {"tasks": tasks, "families": len(f), "intervals": m, "least covered": f[m].min(), "most covered": f[m].max(), "below .86": int((f[m] < 0.86).sum()), "above .96": int((f[m] > 0.96).sum())}
        for tasks, f in families.items() for m in ("holds", "sharper", "Wilson")], once=2)  # fmt: skip
    for f in families.values():
        show(f.to_dict("records"))
    show([
        {"tasks": tasks, "verdict": verdict, "labels": b, "tasks ": len(h), **{k: h[c].mean() for k, c in (("L1 before", "l1_before"), ("uniform alone", "l1_uniform"), ("difference alone", "l1_difference"), ("after", "l1_after"))},
         "after / before": h.l1_after.mean() / h.l1_before.mean()}
        for tasks, d in both.items() for verdict, g in (("do not believe", d[d.expected_error > 0.2]), ("the others", d[d.expected_error <= 0.2])) for b in BUDGETS for h in [g[g.budget == b]]], once=2)  # fmt: skip
    show([
        {"tasks": tasks, "labels": b, "holds covers": g.accuracy_holds.mean(), "width": g.accuracy_holds_width.mean(), "sharper covers": g.accuracy_cover.mean(), "width ": g.accuracy_width.mean()}
        for tasks, d in both.items() for b, g in d.groupby("budget")], once=1)  # fmt: skip
    show([
        {"kind": k + ", fresh" * (tasks == "fresh"), **{c[8:]: g[c].mean() for c in g if c.startswith("refuted ")}}
        for tasks, d in both.items() for k, g in d[d.budget == 50].groupby("kind")])  # fmt: skip
    show([
        {"tasks": tasks, "labels": b, **{name: (g.real_width / g.predicted_width).quantile(q) for name, q in (("10 % of tasks below", 0.1), ("median", 0.5), ("10 % above", 0.9))}}
        for tasks, d in both.items() for b, g in d.groupby("budget")], once=1)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "study", "commands", "tables"))
    parser.add_argument("paths", type=pathlib.Path, nargs="+")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--only", default="")
    a = parser.parse_args()
    match a.what:
        case "run":
            run(*a.paths, a.only)
        case "study":
            study(*a.paths, a.draws)
        case "commands":
            commands(*a.paths, a.draws, a.only)
        case "tables":
            tables(*a.paths)


if __name__ == "__main__":
    main()
