"""Measures mars check: how far off the accuracy is that it expects of a model on rows without labels, and whether its intervals hold.

usage: check.py models TASKS MODELS [--prefix NAME]
       check.py run MODELS RESULTS.csv
       check.py nannyml DATA RESULTS.csv
       check.py tables RESULTS.csv NANNYML.csv

TASKS is what ask_tasks.py writes. models trains two models on a half of each source, logistic regression and gradient
boosting; the other half is the reference, and up to about 1,000 rows of the target are the window. run gives both to mars
check, once the predictions alone and once with the rows' columns, and scores it and its peers by the window's labels, which nobody else sees. nannyml does the same with the data in
NannyML's wheel (nannyml/datasets/data of version 0.13.1), in windows of 5,000 rows. tables prints the tables of
docs/measured/check.md. The peers are those of testdata/oracle/check/estimators.py. Needs NumPy, SciPy, pandas and
scikit-learn, pyarrow for nannyml, and bin/ on the PATH.
"""

import argparse
import csv
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pandas as pd

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "testdata/oracle/check"))
import estimators  # noqa: E402

WINDOW = 1_000  # rows of a task, about
CHUNK = 5_000  # rows of NannyML's data
LEAST = 200  # rows of a source
MOST = 8  # classes of a source
WIDEST = 40  # columns: more take boosting long
WITH = "columns "  # what the names of results begin with for which columns were given
EACH = 4  # rows of a class in the source, at least


# --- Models -----------------------------------------------------------------------------------


def learners():
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        "boosting": HistGradientBoostingClassifier(max_iter=50, min_samples_leaf=10, early_stopping=False, random_state=0),
    }


def halves(y, rng):
    """Rows to train on, and rows of the reference: half of each class, and shuffled."""
    first = np.zeros(len(y), bool)
    for c in np.unique(y):
        i = rng.permutation(np.flatnonzero(y == c))
        first[i[: len(i) // 2]] = True
    return rng.permutation(np.flatnonzero(first)), rng.permutation(np.flatnonzero(~first))


def trained(data, rng):
    """Posteriors and labels of reference and window; classes that the model does not know are -1. None if there are too few rows."""
    kept = [c for c in np.unique(data["ys"]) if (data["ys"] == c).sum() >= EACH]
    code = {c: k for k, c in enumerate(kept)}
    of = np.isin(data["ys"], kept)
    x, y = data["Xs"][of].astype(float), np.array([code[c] for c in data["ys"][of]])
    if len(y) < LEAST or len(kept) < 2 or len(kept) > MOST or x.shape[1] > WIDEST:
        return None
    train, held = halves(y, rng)
    n = len(data["yt"])
    parts = max(1, round(n / WINDOW))
    window = np.sort(rng.permutation(n)[np.arange(n) % parts == 0])
    xt = data["Xt"][window].astype(float)
    out = {"Xr": x[held], "Xt": xt, "yr": y[held], "yt": np.array([code.get(c, -1) for c in data["yt"][window]])}
    for name, model in learners().items():
        model.fit(x[train], y[train])
        out["r_" + name], out["t_" + name] = model.predict_proba(x[held]), model.predict_proba(xt)
    return out


def models(tasks, folder, prefix):
    """Adds to what is in the folder."""
    folder.mkdir(exist_ok=True)
    listed = folder / "tasks.csv"
    rows = list(csv.DictReader(open(listed))) if listed.exists() else []
    for row in csv.DictReader(open(tasks / "tasks.csv")):
        name = prefix + row["name"]
        out = trained(np.load(tasks / (row["name"] + ".npz")), np.random.default_rng(int(hashlib.md5(name.encode()).hexdigest()[:8], 16)))
        if out is not None:
            np.savez_compressed(folder / (name + ".npz"), **out)
            rows.append({**row, "name": name, "set": prefix})
    with open(listed, "w") as to:
        writer = csv.DictWriter(to, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


# --- The command and its peers ----------------------------------------------------------------


def frame(P, said, X, y=None):
    columns = pd.DataFrame(X).add_prefix("x") if isinstance(X, np.ndarray) else X.reset_index(drop=True)
    d = pd.DataFrame(P, columns=[f"probability_{c}" for c in range(P.shape[1])]).assign(predicted_class=said)
    return pd.concat([d if y is None else d.assign(label=y), columns], axis=1)


def ours(Pr, yr, saidr, Xr, Pt, saidt, Xt, window=None):
    """What mars check says of each window, by its predictions alone, and by the columns too."""
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        frame(Pr, saidr, Xr, yr).to_csv(at / "reference.csv", index=False)
        frame(Pt, saidt, Xt).to_csv(at / "predictions.csv", index=False)
        run = ["mars", "check", at / "predictions.csv", "--reference", at / "reference.csv", "--label", "label", "--json", "-q"]
        run += ["--window", str(window)] if window else []
        told = [json.loads(subprocess.run([*run, *more], check=True, capture_output=True).stdout) for more in ([], ["--columns", "*"])]
    rows = []
    for w, with_columns in zip(*(t["windows"] for t in told)):
        of = {v["name"]: v["accuracy"] for v in w["assumptions"]}
        weight = {v["name"]: v["weight"] for v in w["assumptions"]}
        rows.append({**said(w, ""), "moved": w["moved"], "unexplained": w["unexplained"], "balance": of.get("balance"), "weight": weight.get("balance"), **said(with_columns, WITH)})
    return rows


def said(window, prefix):
    figures = {f["name"]: f for f in window["figures"]}
    a = figures["accuracy"]
    of = {"check": a["value"], "lower": a["lower"], "upper": a["upper"], "expected": window["expected_error"], "verdict": window["verdict"]}
    of |= {f"{name} {end}": f[end] for name, f in figures.items() if name in ("balanced_accuracy", "auc", "log_loss") for end in ("value", "lower", "upper")}
    return {prefix + name: value for name, value in of.items()}


class Peers:
    """Others' estimates, by what they learn of the reference."""

    def __init__(self, P, y, said):
        self.right, self.P = said == y, P
        self.shares = np.bincount(y, minlength=P.shape[1]) / len(y)
        self.calibrated = estimators.isotonic(P, y)
        self.a = estimators.inverse_temperature(P, y)
        self.R = estimators.tempered(P, self.a)

    def of(self, T, said):
        W, confidence = estimators.tempered(T, self.a), lambda P: P.max(1)
        em = estimators.em(W, self.shares, 2_000, 1e-9)[1]
        return {
            "constant": self.right.mean(),
            "CBPE": estimators.cbpe(self.calibrated(T), said),
            "CBPE, temperature": estimators.cbpe(W, said),
            "ATC, confidence": estimators.atc(confidence(self.R), self.right, confidence(W)),
            "ATC, entropy": estimators.atc(estimators.negative_entropy(self.R), self.right, estimators.negative_entropy(W)),
            "DoC": estimators.doc(confidence(self.P), self.right, confidence(T)),
            "DoC, temperature": estimators.doc(confidence(self.R), self.right, confidence(W)),
            "COT": estimators.cot(W, self.shares),
            "EM": estimators.cbpe(em, said),
        }  # fmt: skip


def truth(y, P, said):
    """What only the labels of a window show."""
    from sklearn.metrics import recall_score, roc_auc_score

    out, known = {"accuracy": (said == y).mean()}, y >= 0
    out["balanced_accuracy"] = recall_score(y, said, labels=np.unique(y), average="macro", zero_division=0)
    if known.all():
        out["log_loss"] = -np.log(np.clip(P[np.arange(len(y)), y], np.finfo("f4").eps, 1)).mean()
    if P.shape[1] == 2 and len(np.unique(y)) == 2 and known.all():
        out["auc"] = roc_auc_score(y, P[:, 1])
    return out


def run(folder, results):
    done = list(csv.DictReader(open(results))) if results.exists() else []
    seen = {d["name"] for d in done}
    for row in csv.DictReader(open(folder / "tasks.csv")):
        if row["name"] in seen:
            continue
        d = np.load(folder / (row["name"] + ".npz"))
        for name in ("logistic", "boosting"):
            P, T = d["r_" + name], d["t_" + name]
            said = T.argmax(1)
            done.append({**row, "model": name, "reference": len(P), "rows": len(T), "classes": P.shape[1], **truth(d["yt"], T, said),
                         **Peers(P, d["yr"], P.argmax(1)).of(T, said), **ours(P, d["yr"], P.argmax(1), d["Xr"], T, said, d["Xt"])[0]})  # fmt: skip
        pd.DataFrame(done).to_csv(results, index=False, float_format="%.6g")


# --- NannyML's data ---------------------------------------------------------------------------


def published(data):
    """Name, and posteriors, labels and predictions of reference and analysis, in the order of their rows."""
    sets = {
        "employment": ("employment_MA_{}.pq", "analysis_target", "employed", "predicted_probability", "prediction"),
        "car_loan": ("synthetic_car_loan_{}.csv", "analysis_target", "repaid", "y_pred_proba", "y_pred"),
        "mc": ("mc_{}.csv", "analysis_gt", "y_true", None, "y_pred"),
        "work_home": ("synthetic_sample_{}.csv", "analysis_gt", "work_home_actual", "y_pred_proba", "y_pred"),
    }
    for name, (file, target, label, score, said) in sets.items():
        read = lambda part: (pd.read_parquet if file.endswith("pq") else pd.read_csv)(data / file.format(part))
        r, a = read("reference"), read("analysis").merge(read(target)[["id", label]], on="id")
        if score:
            parts = [[np.column_stack([1 - d[score], d[score]]), d[label].astype(int).to_numpy(), d[said].astype(int).to_numpy()] for d in (r, a)]
        else:
            classes = sorted(r[label].unique())
            code = {c: k for k, c in enumerate(classes)}
            parts = [[d[[f"{'y_pred_proba'}_{c}" for c in classes]].to_numpy(), d[label].map(code).to_numpy(), d[said].map(code).to_numpy()] for d in (r, a)]
        features = [c for c in r if c in a and c not in (label, said, "id", "timestamp", "Unnamed: 0", "period", "year") and "proba" not in c]
        yield name, *([*part, d[features]] for part, d in zip(parts, (r, a)))


def nannyml(data, results):
    done = []
    for name, (P, y, said, X), (T, yt, saidt, Xt) in published(data):
        peers, mars = Peers(P, y, said), ours(P, y, said, X, T, saidt, Xt, CHUNK)
        for k, start in enumerate(range(0, len(yt), CHUNK)):
            i = slice(start, start + CHUNK)
            done.append({"name": name, "kind": name, "rows": len(yt[i]), **truth(yt[i], T[i], saidt[i]), **peers.of(T[i], saidt[i]), **mars[k]})
        pd.DataFrame(done).to_csv(results, index=False, float_format="%.6g")


# --- Tables -----------------------------------------------------------------------------------

PEERS = ("constant", "CBPE", "CBPE, temperature", "ATC, confidence", "ATC, entropy", "DoC", "DoC, temperature", "COT", "EM", "check", WITH + "check")


def short(v):
    return f"{v:.3g}".replace("0.", ".", 1) if abs(v) < 1 else f"{v:.3g}"


def show(title, head, rows):
    print(f"\n{title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print("| " + " | ".join(v if isinstance(v, str) else short(v) if isinstance(v, float) else str(v) for v in row) + " |")


def errors(d):
    """Mean absolute errors by kind."""
    kinds = sorted(d["kind"].unique())
    off = lambda name, of: float((of[name] - of["accuracy"]).abs().mean())
    rows = []
    for name in PEERS:
        title = {"check": "**mars check**", WITH + "check": "**mars check --columns**"}.get(name, name)
        rows.append([title, off(name, d), *(off(name, d[d.kind == k]) for k in kinds)])
    show("Mean absolute error of the accuracy", ["by", "all", *kinds], rows)


def held(d, prefix=""):
    """How often intervals hold, and how wide they are, by kind."""
    d, rows = d.rename(columns={name: name.removeprefix(prefix) for name in d if prefix and name.startswith(prefix)}), []
    d = d.loc[:, ~d.columns.duplicated(keep="last")]
    for kind, g in d.groupby("kind"):
        inside = (g.lower <= g.accuracy + 1e-9) & (g.accuracy <= g.upper + 1e-9)
        sure = g.verdict.isin(["believe", "care"])
        row = [kind, len(g), float(inside.mean()), float((g.upper - g.lower).mean()), float(sure.mean()), float(inside[sure].mean()), float(g.expected.mean()), float((g.check - g.accuracy).abs().mean())]
        for figure in ("balanced_accuracy", "auc", "log_loss"):
            there = g[figure].notna() & g[figure + " lower"].notna() if figure in g and figure + " lower" in g else pd.Series(False, g.index)
            row.append(float(((g[figure + " lower"] <= g[figure] + 1e-9) & (g[figure] <= g[figure + " upper"] + 1e-9))[there].mean()) if there.any() else "")
        rows.append(row)
    show("Intervals" + (", with the columns" if prefix else ""), ["kind", "windows", "holds", "width", "believed or with care", "holds there", "expected error", "error", "balanced accuracy", "AUC", "log loss"], rows)


def verdicts(d):
    rows = []
    for verdict in ("believe", "care", "unjudged"):
        row = [verdict]
        for prefix in ("", WITH):
            g = d[d[prefix + "verdict"] == verdict]
            row += [len(g), float((g[prefix + "check"] - g.accuracy).abs().mean()), float(g[prefix + "expected"].mean())]
        rows.append(row)
    show("By verdict", ["verdict", "windows", "error", "expected", "with the columns", "error", "expected"], rows)


def tables(results, chunks):
    d = pd.read_csv(results)
    print(f"{d.name.nunique()} tasks, {d.family.nunique()} families, reference {d.reference.median():.0f} rows, window {d.rows.median():.0f} rows (medians)")
    errors(d)
    held(d)
    held(d, WITH)
    verdicts(d)
    n = pd.read_csv(chunks)
    print("\nNannyML's data")
    errors(n)
    held(n)
    held(n, WITH)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("models", "run", "nannyml", "tables"))
    parser.add_argument("paths", type=pathlib.Path, nargs=2)
    parser.add_argument("--prefix", default="", help="of the tasks' names")
    a = parser.parse_args()
    warnings.simplefilter("ignore")  # of logistic regressions that have not converged
    if a.what == "models":
        models(*a.paths, a.prefix)
    else:
        {"run": run, "nannyml": nannyml, "tables": tables}[a.what](*a.paths)


if __name__ == "__main__":
    main()
