"""Labels and proportions of a batch from other labelled batches: poured together, by batch, and by peers.

usage: batches.py run TABLES RESULTS [--jobs N] [--only NAME]
       batches.py tables RESULTS

TABLES/NAME.npz is a table as batch_tables.py makes it: X (n×d), y (n) and b (n), which batch a row is of.
Three batches of each are targets, one after another, and all others are the source: at most 400 rows of each.
RESULTS (JSON lines) keeps what is done, so that a second run goes on. Target labels are only read here, to score.
Needs NumPy, scikit-learn, POT and skada, and bin/ on the PATH.
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
import warnings

import numpy as np

TARGETS = 3
PEERS = ("random forest", "gradient boosting", "best single batch", "mean of single batches", "CORAL by batch", "Group DRO", "JCPOT")


def mars(batches: list, target: np.ndarray, truth: np.ndarray, flags: list[str]) -> dict:
    """What both commands say, scored."""
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        files = ["--target", at / "target.npz", "-q", *flags]
        for i, (x, y) in enumerate(batches):
            np.savez(at / f"batch{i}.npz", X=x, y=y)
            files += ["--source", at / f"batch{i}.npz"]
        np.savez(at / "target.npz", X=target)
        began = time.monotonic()
        subprocess.run(["mars", "label", *files, "-o", at / "labels.csv", "--save", at / "model.safetensors"], check=True, stderr=subprocess.DEVNULL)
        seconds = time.monotonic() - began
        said = subprocess.run(["mars", "proportions", "--model", at / "model.safetensors", "--json", "-q"], check=True, capture_output=True)
        with open(at / "labels.csv") as rows:
            labels = np.array([int(row["predicted_class"]) for row in csv.DictReader(rows)])
    report = json.loads(said.stdout)
    classes = [int(c) for c in report["classes"]]
    true = np.array([(truth == c).mean() for c in classes])
    estimated = np.array(report["proportions"]["estimated"])
    inside = (np.array(report["interval"]["lower"]) <= true + 1e-9) & (true <= np.array(report["interval"]["upper"]) + 1e-9)
    return {
        "accuracy": (labels == truth).mean(),
        "l1": np.abs(estimated - true).sum() + 1 - true.sum(),
        "expected_error": report["expected_error"],
        "expected_accuracy": report["diagnostics"]["hedge"]["expected_accuracy"],
        "inside": [int(v) for v in inside],
        "seconds": seconds,
    }


def peers(batches: list, target: np.ndarray, truth: np.ndarray) -> dict:
    """The same by others: accuracy, and the L1 error of the shares that their posteriors add up to."""
    import ot
    import skada
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    warnings.filterwarnings("ignore")
    xs, ys = np.concatenate([x for x, _ in batches]), np.concatenate([y for _, y in batches])
    which = np.repeat(np.arange(len(batches)), [len(y) for _, y in batches])
    classes = np.unique(ys)
    scale = StandardScaler().fit(xs)
    xs, xt = scale.transform(xs), scale.transform(target)
    true = np.array([(truth == c).mean() for c in classes])

    def score(posteriors) -> dict:
        return {"accuracy": (classes[posteriors.argmax(1)] == truth).mean(), "l1": np.abs(posteriors.mean(0) - true).sum() + 1 - true.sum()}

    def posteriors(model, x=xt):
        p = np.zeros((len(x), len(classes)))
        p[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(x)
        return p

    logistic = lambda: LogisticRegression(max_iter=1000)  # noqa: E731
    found = {
        "random forest": score(posteriors(RandomForestClassifier(300, random_state=0, n_jobs=1).fit(xs, ys))),
        "gradient boosting": score(posteriors(HistGradientBoostingClassifier(random_state=0).fit(xs, ys))),
    }
    single = [posteriors(logistic().fit(xs[which == b], ys[which == b])) for b in range(len(batches)) if len(set(ys[which == b])) > 1]
    scores = [score(p) for p in single]
    found["best single batch"] = {"accuracy": max(s["accuracy"] for s in scores), "l1": min(s["l1"] for s in scores)}
    found["mean of single batches"] = score(np.mean(single, 0))
    aligned = np.empty_like(xs)
    for b in range(len(batches)):
        x = xs[which == b]
        side = np.r_[np.ones(len(x)), -2 * np.ones(len(xt))]
        coral = skada.CORALAdapter(reg=0.1).fit(np.r_[x, xt], sample_domain=side)
        aligned[which == b] = np.asarray(coral.fit_transform(np.r_[x, xt], sample_domain=side))[: len(x)]
    found["CORAL by batch"] = score(posteriors(logistic().fit(aligned, ys)))
    weight = np.ones(len(batches))
    for _ in range(20):  # exponentiated gradient on the loss of each batch (Sagawa et al. 2020)
        model = logistic().fit(xs, ys, sample_weight=(weight / weight.mean())[which])
        loss = np.array([-np.log(posteriors(model, xs[which == b])[np.arange((which == b).sum()), np.searchsorted(classes, ys[which == b])].clip(1e-9)).mean() for b in range(len(batches))])
        weight *= np.exp(0.5 * loss)
        weight /= weight.sum()
    found["Group DRO"] = score(posteriors(model))
    codes = np.searchsorted(classes, ys)
    jcpot = ot.da.JCPOTTransport(reg_e=0.1, max_iter=1000)
    try:
        jcpot.fit(Xs=[xs[which == b] for b in range(len(batches))], ys=[codes[which == b] for b in range(len(batches))], Xt=xt)
        p = jcpot.transform_labels(ys=[codes[which == b] for b in range(len(batches))])
        p = np.asarray(p, float)[:, : len(classes)]
        p = np.nan_to_num(p) + 1e-12
        p /= p.sum(1, keepdims=True)
        found["JCPOT"] = score(p)
        shares = jcpot.proportions_
        shares = np.ravel(shares[0] if isinstance(shares, (tuple, list)) else shares)
        found["JCPOT"]["l1"] = np.abs(shares - true).sum() + 1 - true.sum()
    except Exception as error:  # POT refuses batches that lack a class
        found["JCPOT"] = {"error": str(error)[:80]}
    return found


def task(path: pathlib.Path, t: int) -> dict:
    """Batch t of a table from all others."""
    data = np.load(path)
    x, y, b = data["X"].astype("f4"), data["y"].astype(int), data["b"].astype(int)
    batches = [(x[b == k], y[b == k]) for k in np.unique(b) if k != t]
    target, truth = x[b == t], y[b == t]
    return {
        "name": f"{path.stem}-{t}", "family": path.stem, "batches": len(batches),
        "poured": mars(batches, target, truth, []), "by batch": mars(batches, target, truth, ["--batch-files"]),
        **peers(batches, target, truth),
    }  # fmt: skip


def run(tables: pathlib.Path, results: pathlib.Path, jobs: int, only: str) -> None:
    done = {json.loads(line)["name"] for line in results.read_text().splitlines()} if results.exists() else set()
    todo = []
    for path in sorted(tables.glob(f"{only}*.npz")):
        n = int(np.load(path)["b"].max()) + 1
        todo += [(path, i * n // min(TARGETS, n)) for i in range(min(TARGETS, n))]
    todo = [(path, t) for path, t in todo if f"{path.stem}-{t}" not in done]
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool, open(results, "a") as out:
        for future in concurrent.futures.as_completed([pool.submit(task, *each) for each in todo]):
            found = future.result()
            out.write(json.dumps(found, default=float) + "\n")
            out.flush()
            print(found["name"], "poured", round(found["poured"]["accuracy"], 3), "by batch", round(found["by batch"]["accuracy"], 3), flush=True)


def auroc(score, positive) -> float:
    """The chance that a positive has the larger score."""
    score, positive = np.asarray(score), np.asarray(positive)
    p, n = score[positive], score[~positive]
    return float(np.mean([(a > n).mean() + (a == n).mean() / 2 for a in p])) if len(p) and len(n) else float("nan")


def shown(v: float, digits: int = 3) -> str:
    """A number without the 0 before the point."""
    return f"{v:.{digits}f}".removeprefix("0")


def tables(results: pathlib.Path) -> None:
    families = collections.defaultdict(list)
    for line in results.read_text().splitlines():
        found = json.loads(line)
        families[found["family"]].append(found)

    def means(how: str, what: str) -> dict[str, float]:
        return {f: np.mean([r[how][what] for r in rows if what in r[how]] or [np.nan]) for f, rows in families.items()}

    print("| by | labels right | L1 error |\n|---|---|---|")
    for how in ("poured", "by batch", *PEERS):
        a, l1 = (np.nanmean(list(means(how, what).values())) for what in ("accuracy", "l1"))
        missing = sum(np.isnan(v) for v in means(how, "accuracy").values())
        name = {"poured": "mars, poured together", "by batch": "**mars, by batch**"}.get(how, how)
        refused = f" (refuses {'one family' if missing == 1 else f'{missing} families'})" if missing else ""
        print(f"| {name}{refused} | {shown(a)} | {shown(l1)} |")
    print("\n| family | batches | right, poured | by batch | said | L1, poured | said | by batch | said | said / true |\n|---|---|---|---|---|---|---|---|---|---|")
    columns = [("poured", "accuracy"), ("by batch", "accuracy"), ("by batch", "expected_accuracy"), ("poured", "l1"), ("poured", "expected_error"), ("by batch", "l1"), ("by batch", "expected_error")]  # fmt: skip
    for f in sorted(families):
        values = [means(how, what)[f] for how, what in columns]
        print(f"| {f} | {families[f][0]['batches'] + 1} | {' | '.join(map(shown, values))} | {shown(values[6] / max(values[5], 1e-9), 2)} |")
    values = [np.mean(list(means(how, what).values())) for how, what in columns]
    print(f"| **mean** | | {' | '.join(map(shown, values))} | {shown(values[6] / values[5], 2)} |")
    rows = [r for some in families.values() for r in some]
    print("\n| by | AUROC for L1 > .2 | for L1 > .1 | expected off in L1 | expected accuracy off | intervals hold |\n|---|---|---|---|---|---|")
    for how in ("poured", "by batch"):
        off, said = (np.array([r[how][what] for r in rows]) for what in ("l1", "expected_error"))
        right, expected = (np.array([r[how][what] for r in rows]) for what in ("accuracy", "expected_accuracy"))
        inside = np.mean([np.mean(r[how]["inside"]) for r in rows])
        print(f"| {how} | {shown(auroc(said, off > 0.2), 2)} | {shown(auroc(said, off > 0.1), 2)} | {shown(np.abs(off - said).mean())} | {shown(np.abs(right - expected).mean())} | {shown(inside, 2)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run")
    one.add_argument("tables", type=pathlib.Path)
    one.add_argument("results", type=pathlib.Path)
    one.add_argument("--jobs", type=int, default=1)
    one.add_argument("--only", default="")
    commands.add_parser("tables").add_argument("results", type=pathlib.Path)
    args = parser.parse_args()
    if args.command == "run":
        run(args.tables, args.results, args.jobs, args.only)
    else:
        tables(args.results)


if __name__ == "__main__":
    main()
