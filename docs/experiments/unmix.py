"""Says how far off mars --method unmix and others are of what mixtures are made of, where that is known, and whether intervals hold.

usage: unmix.py run DATA RESULTS.csv [METHOD,METHOD,...]
       unmix.py table RESULTS.csv

DATA is what make data fetched (SETS='dtangle granulator deconrnaseq deconvbench toast samson symphony mixology'). Each task has
source rows of one class each, and mixtures of which the shares are known: mixed in a laboratory, counted by flow cytometry, or,
of wells, added up from cells of another chemistry. Values are as they add up: powers of logarithms, and counts brought to
10,000 a row of the columns that both sides have. The shares of each row are asked for, and those of the mean of rows that belong together
(replicates, or wells of one draw), with intervals of 90 %. A row of RESULTS.csv is a task and a method. Needs mars on the
PATH, rdata, scikit-learn and pyarrow.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
import pandas as pd

warnings.simplefilter("ignore")

FIELDS = ["family", "task", "method", "rows", "together", "covered", "width", "expected"]
FIRST = "cell lines"  # on which the first version was made, so that they are in no mean
ROWS = 60  # of a task that are asked about one by one


# --- Tasks ------------------------------------------------------------------------------------


def frame(x):
    """A table of R, whatever it is read as."""
    return x if isinstance(x, pd.DataFrame) else x.to_pandas()


def read(path):
    import rdata

    return (rdata.read_rds if path.suffix == ".rds" else rdata.read_rda)(path)


def one(path):
    return next(iter(read(path).values()))


def total(x):
    return x / np.maximum(x.sum(axis=1, keepdims=True), 1e-9) * 1e4


def task(family, name, x, labels, mixed, shares, groups=None, scale=True):
    """labels are numbers of columns of shares. groups says which rows of mixed belong together: None, those of the same shares."""
    x, mixed, shares = (np.asarray(v, float) for v in (x, mixed, shares))
    shares = shares / shares.sum(axis=1, keepdims=True)
    if groups is None:
        groups = np.unique(shares.round(4), axis=0, return_inverse=True)[1].ravel()
    if scale:
        x, mixed = total(x), total(mixed)
    return {"family": family, "task": name, "x": x, "y": np.asarray(labels, int), "mixed": mixed, "shares": shares, "groups": np.asarray(groups)}


def arrays(data):
    """Microarrays and sequencing of tissues and sorted cells: references of the same or of another laboratory."""
    dtangle = data / "gjhunt/dtangle"
    paper = "bioinfo_2019_reproduce/dtangle_analysis/comparison"
    for family, path in (("rat tissues", "lib_dtangle/data/shen_orr_ex.rda"), ("lymphoma", f"{paper}/newman_fl.rda"), ("blood, arrays", f"{paper}/newman_pbmc.rda")):
        known = one(dtangle / path)
        values, shares = 2 ** frame(known["data"]["log"]).to_numpy(float), np.asarray(known["annotation"]["mixture"], float)
        pure = np.asarray(known["annotation"]["pure"], bool)
        mixed = ~pure.any(axis=1)
        groups = None if family == "rat tissues" else np.zeros(mixed.sum())
        yield task(family, "LM22" if family.startswith("blood") else "", values[~mixed], pure[~mixed].argmax(axis=1), values[mixed], shares[mixed], groups, False)
    known = one(data / "ziyili20/TOAST/data/CBS_PBMC_array.RData")
    shares = known["trueProp"].to_numpy(float)
    yield task("blood, arrays", "five types", known["LM_5"].to_numpy().T, range(5), frame(known["mixed_all"]).to_numpy().T, shares, np.zeros(len(shares)), False)
    known = read(data / "bioc/DeconRNASeq/data/rat_liver_brain.rda")
    values, shares = known["all.datasets"].to_numpy(float).T, known["array.proportions"].to_numpy(float)
    pure = shares.max(axis=1) == 1
    yield task("liver and brain", "", values[pure], shares[pure].argmax(axis=1), values[~pure], shares[~pure], None, False)
    known = read(data / "bioc/DeconRNASeq/data/multi_tissue.rda")
    shares = known["fraction"]
    mixed = known["x.data"].groupby("genes.with.val").mean()
    x = known["x.signature"].groupby("genes.diff")[list(shares.columns)].mean()
    genes = x.index.intersection(mixed.index)
    yield task("five tissues", "", x.loc[genes].to_numpy().T, range(5), mixed.loc[genes].to_numpy().T, shares, None)
    counts = pd.read_csv(dtangle / "lib_dtangle/data-raw/illumina-seq/data/GSE47774_SEQC_LIF_LIV.txt.gz", sep="\t", index_col=0)
    counts = counts[~counts.index.str.startswith("ERCC") & (counts.sum(axis=1) >= 20)]
    kind = np.array([c.split("_")[3] for c in counts.columns])
    pure, mixed = np.isin(kind, ["A", "B"]), np.isin(kind, ["C", "D"])
    shares = [[0.75, 0.25] if k == "C" else [0.25, 0.75] for k in kind[mixed]]
    values = counts.T.to_numpy(float)
    yield task("SEQC", "", values[pure], kind[pure] == "B", values[mixed], shares)


def blood(data):
    """Sequenced blood, whose types were counted; by means of sorted cells, and by single cells of others."""
    abis, truth, means = (frame(one(data / f"bioc/granulator/data/{n}_ABIS{s}.RData")) for n, s in (("bulkRNAseq", ""), ("groundTruth", ""), ("sigMatrix", "_S0")))
    truth = truth.loc[abis.columns]
    yield task("blood, sorted", "", means.T, range(means.shape[1]), abis.T, truth[means.columns], np.zeros(len(truth)))
    cells, about = sparse(one(data / "immunogenomics/symphony/data/pbmcs_exprs_small.rda")), one(data / "immunogenomics/symphony/data/pbmcs_meta_small.rda")
    kinds = about["cell_type"].astype(str).to_numpy()
    types = ["B", "DC", "Mono", "NK", "T_CD4", "T_CD8"]

    def bulk(name, table, shares):
        genes = cells.index.intersection(table.index)
        named = np.array([k.split("_CD1")[0] for k in kinds])
        of = [t for t in types if t in shares]
        some = np.isin(named, of)
        x = cells.loc[genes].to_numpy().T[some]
        mixed = table.loc[genes].to_numpy(float).T
        yield task("blood, single cells", name, x, [of.index(k) for k in named[some]], mixed, np.stack([shares[t] for t in of], 1), np.zeros(len(mixed)))

    for k in (1, 2):
        facs, tpm = (read(data / f"omnideconv/deconvBench/data/bulks/bulk{k}/bulk{k}_{w}.rds") for w in ("facs", "tpm"))
        row = lambda *names: sum(facs.loc[n].to_numpy(float) for n in names)
        shares = [row("B cells"), row("mDC"), row("Monocytes"), row("NK cells"), row("T cells CD4 conv", "Tregs"), row("T cells CD8")]
        yield from bulk(f"bulk {k}", tpm[facs.columns], dict(zip(types, shares)))
    column = lambda *names: sum(truth[n].to_numpy(float) for n in names)
    shares = [column("B.Cells"), column("mDCs", "pDCs"), column("Monocytes"), column("NK"), column("T.CD4.Naive", "T.CD4.Memory"), column("T.CD8.Naive", "T.CD8.Memory")]
    yield from bulk("ABIS", abis, dict(zip(types, shares)))
    known = one(data / "ziyili20/TOAST/data/CBS_PBMC_array.RData")
    names = {"B": "Bcells", "Mono": "Monos", "NK": "NKcells", "T_CD4": "CD4T", "T_CD8": "CD8T"}
    yield from bulk("arrays", frame(known["mixed_all"]), {t: known["trueProp"][n].to_numpy(float) for t, n in names.items()})
    donors, values = about["donor"].astype(str).to_numpy(), total(cells.to_numpy().T)
    types = ["B", "DC", "Mono_CD14", "Mono_CD16", "NK", "T_CD4", "T_CD8"]
    for a in np.unique(donors):
        for b in np.unique(donors):
            some, others = ((donors == d) & np.isin(kinds, types) for d in (a, b))
            if a != b:
                of = np.array([types.index(k) for k in kinds[others]])
                yield task("blood, wells", f"{a} to {b}", values[some], [types.index(k) for k in kinds[some]], *wells(values[others], of, len(types)), False)


def wells(values, of, classes):
    """Four draws of 24 wells of nine cells each, added up."""
    rng, rows, shares, groups = np.random.default_rng(1), [], [], []
    for draw in range(4):
        p = rng.dirichlet(np.ones(classes))
        for _ in range(24):
            nine = rng.choice(classes, 9, p=p)
            rows.append(values[[rng.choice(np.flatnonzero(of == k)) for k in nine]].mean(axis=0))
            shares.append(np.bincount(nine, minlength=classes) / 9)
            groups.append(draw)
    return np.array(rows), np.array(shares), np.array(groups)


def sparse(m):
    """The genes by cells of R's dgCMatrix of logarithms, as they add up."""
    import scipy.sparse as sp

    names = [np.asarray(n, str) for n in m.Dimnames]
    return pd.DataFrame(np.expm1(sp.csc_matrix((m.x, m.i, m.p), tuple(int(d) for d in m.Dim)).toarray()), *names)


def pixels(data):
    """Samson: pixels of one material in one half of the picture, and mixed ones in the other; light is as it was measured."""
    from scipy.io import loadmat

    known = loadmat(data / "burknipalsson/hu_autoencoders/Datasets/Samson.mat")
    shares, light = known["S_GT"], known["Y"].reshape(156, 95, 95, order="F").transpose(1, 2, 0)
    for name, here, there in (("left to right", np.s_[:, :48], np.s_[:, 48:]), ("top to bottom", np.s_[:48], np.s_[48:]), ("bottom to top", np.s_[48:], np.s_[:48])):
        a, b = shares[here].reshape(-1, 3), shares[there].reshape(-1, 3)
        pure, mixed = a.max(axis=1) > 0.97, b.max(axis=1) < 0.9
        yield task("pixels", name, light[here].reshape(-1, 156)[pure], a[pure].argmax(axis=1), light[there].reshape(-1, 156)[mixed], b[mixed], b[mixed].argmax(axis=1), False)


def lines(data):
    """The wells of cells.py, by cells of two machines: those together that have most of one line, and the others."""
    names = ["H1975", "H2228", "HCC827"]
    folder = data / "LuyiTian/sc_mixology/data/csv"

    def table(name):
        counts, about = (pd.read_csv(folder / f"{name}.{kind}.csv.gz", index_col=0) for kind in ("count", "metadata"))
        return counts[about.index], about

    for machine in ("sc_celseq2", "sc_dropseq"):
        cells, about = table(machine)
        sure = (about["demuxlet_cls"] == "SNG").to_numpy()
        for plate in ("RNAmix_sortseq", "cellmix4"):
            counts, of = table(plate)
            # The file names H2228 and HCC827 the other way round: see cells.py.
            shares = of[["H1975_prop", "HCC827_prop", "H2228_prop"] if plate.startswith("RNA") else names].to_numpy(float)
            shares /= shares.sum(axis=1, keepdims=True)
            mixed = shares.max(axis=1) < 1
            counts, shares = counts.loc[:, mixed], shares[mixed]
            genes = cells.index[(cells > 0).mean(axis=1) >= 0.1].intersection(counts.index[(counts > 0).mean(axis=1) >= 0.1])
            labels = [names.index(n) for n in about["cell_line_demuxlet"][sure]]
            groups = np.where(shares.max(axis=1) > 0.5, shares.argmax(axis=1), 3)
            yield task("cell lines", f"{machine[3:]} to {plate}", cells.loc[genes].to_numpy().T[sure], labels, counts.loc[genes].to_numpy().T, shares, groups)


def tasks(data):
    for make in (arrays, blood, pixels, lines):
        yield from make(data)


# --- Methods ----------------------------------------------------------------------------------


def ours(t):
    """By mars: shares of rows, and of groups with intervals and expected errors."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"class{k:02}" for k in range(t["shares"].shape[1])]
    with tempfile.TemporaryDirectory() as folder:

        def write(name, rows, **beside):
            columns = {f"x{j}": pa.array(c.astype(np.float32)) for j, c in enumerate(rows.T)}
            pq.write_table(pa.table({**beside, **columns}), f"{folder}/{name}")

        def mars(*words):
            command = ["mars", *words, "--source", f"{folder}/source.parquet", "--target", f"{folder}/target.parquet", "--label", "class", "--method", "unmix", "-q"]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout

        write("source.parquet", t["x"], **{"class": [names[k] for k in t["y"]]})
        write("target.parquet", t["mixed"][some(t)])
        mars("label", "-o", f"{folder}/rows.csv")
        rows, groups = pd.read_csv(f"{folder}/rows.csv")[[f"probability_{n}" for n in names]].to_numpy(), []
        for g in np.unique(t["groups"]):
            write("target.parquet", t["mixed"][t["groups"] == g])
            said = json.loads(mars("proportions", "--json"))
            order = [said["classes"].index(n) for n in names]
            groups.append([np.array(v)[order] for v in (said["proportions"]["estimated"], said["interval"]["lower"], said["interval"]["upper"])] + [said["expected_error"]])
    return rows, groups


def some(t):
    n = len(t["mixed"])
    return np.random.default_rng(0).permutation(n)[:ROWS]


def means_of(t):
    return np.stack([t["x"][t["y"] == k].mean(axis=0) for k in range(t["shares"].shape[1])])


def share(parts):
    parts = np.maximum(parts, 0)
    return parts / max(parts.sum(), 1e-12)


def signature(means, genes=300):
    """As in cells.py."""
    high, next_to = np.sort(means, axis=0)[-1], np.sort(means, axis=0)[-2]
    rise, top = np.log1p(high) - np.log1p(next_to), means.argmax(axis=0)
    if means.shape[1] <= genes:
        return np.arange(means.shape[1])
    return np.concatenate([np.flatnonzero(top == k)[np.argsort(-rise[top == k], kind="stable")[: genes // len(means)]] for k in range(len(means))])


def nnls(t):
    from scipy.optimize import nnls as least

    means = means_of(t)
    return lambda row: share(least(means.T, row, maxiter=2000)[0])


def nu_svr(t):
    """CIBERSORT (Newman et al. 2015)."""
    from sklearn.svm import NuSVR

    means = means_of(t)
    genes = signature(means)
    s = means[:, genes].T
    s = (s - s.mean()) / s.std()

    def of(row):
        row, best = (row[genes] - row[genes].mean()) / row[genes].std(), None
        for nu in (0.25, 0.5, 0.75):
            w = share(NuSVR(nu=nu, kernel="linear").fit(s, row).coef_.ravel())
            off = np.sqrt(np.mean((s @ w - row) ** 2))
            best = min(best, (off, w), key=lambda b: b[0]) if best else (off, w)
        return best[1]

    return of


def robust(t):
    """Robust linear regression (Huber), as in Monaco et al. 2019."""
    means = means_of(t)
    genes = signature(means)
    a = np.column_stack([means[:, genes].T, np.ones(len(genes))])

    def of(row):
        row, w = row[genes], np.ones(len(genes))
        for _ in range(50):
            z = np.linalg.lstsq(a * np.sqrt(w)[:, None], row * np.sqrt(w), rcond=None)[0]
            off = np.abs(row - a @ z)
            w = np.minimum(1, 1.345 * np.median(off) / 0.6745 / np.maximum(off, 1e-12))
        return share(z[:-1])

    return of


def dtangle(t, markers=25):
    """Hunt et al. 2019, with a slope of 1 and markers by their ratio to the next highest class."""
    logs = np.log2(1 + t["x"])
    means = np.stack([logs[t["y"] == k].mean(axis=0) for k in range(t["shares"].shape[1])])
    high = np.sort(means, axis=0)
    rise, top = high[-1] - high[-2], means.argmax(axis=0)
    of_class = [np.flatnonzero(top == k)[np.argsort(-rise[top == k], kind="stable")[:markers]] for k in range(len(means))]

    def of(row):
        row = np.log2(1 + row)
        above = np.array([(row[of] - means[k][of]).mean() if len(of) else -30 for k, of in enumerate(of_class)])
        return share(2 ** (above - above.max()))

    return of


OTHERS = {"nonnegative least squares": nnls, "nu-SVR (CIBERSORT)": nu_svr, "robust regression": robust, "dtangle": dtangle}
OURS = "mars --method unmix"


def theirs(method, t):
    of = OTHERS[method](t)
    return np.array([of(row) for row in t["mixed"][some(t)]]), [[of(t["mixed"][t["groups"] == g].mean(axis=0))] for g in np.unique(t["groups"])]


def scored(t, rows, groups):
    real = [t["shares"][t["groups"] == g].mean(axis=0) for g in np.unique(t["groups"])]
    values = {"rows": np.abs(rows - t["shares"][some(t)]).sum(axis=1).mean(), "together": np.mean([np.abs(g[0] - r).sum() for g, r in zip(groups, real)])}
    if len(groups[0]) > 1:
        values["covered"] = np.mean([((lower <= r + 1e-9) & (r <= upper + 1e-9)).mean() for (_, lower, upper, _), r in zip(groups, real)])
        values["width"] = np.mean([(upper - lower).mean() for _, lower, upper, _ in groups])
        values["expected"] = np.mean([g[3] for g in groups])
    return {k: f"{v:.4g}" for k, v in values.items()}


def run(data, results, methods):
    done = {(r["family"], r["task"], r["method"]) for r in csv.DictReader(open(results))} if results.exists() else set()
    with open(results, "a", newline="") as f:
        out = csv.DictWriter(f, FIELDS)
        if not done:
            out.writeheader()
        for t in tasks(data):
            for method in methods:
                if (t["family"], t["task"], method) not in done:
                    rows, groups = theirs(method, t) if method in OTHERS else ours(t)
                    out.writerow({"family": t["family"], "task": t["task"], "method": method} | scored(t, rows, groups))
                    f.flush()


def table(results):
    all_of = pd.read_csv(results, keep_default_na=False, na_values={c: [""] for c in FIELDS[3:]})
    methods = [OURS, *OTHERS]
    families = all_of.groupby(["method", "family"], sort=False)[FIELDS[3:]].mean()
    for what in ("together", "rows"):
        print(f"\n| {what} |" + "".join(f" {m} |" for m in methods) + "\n|---|" + "---:|" * len(methods))
        for family in dict.fromkeys(all_of["family"]):
            print(f"| {family} |" + "".join(f" {families.loc[(m, family), what]:.3f}".replace("0.", ".", 1) + " |" for m in methods))
        print("| mean |" + "".join(f" {families.loc[m, what].drop(FIRST).mean():.3f}".replace("0.", ".", 1) + " |" for m in methods))
    ours_of = {m: families.loc[m].dropna() for m in methods if families.loc[m, "covered"].notna().any()}
    print("\n| |" + "".join(f" {m}: hold | width | expected error |" for m in ours_of) + "\n|---|" + "---:|" * 3 * len(ours_of))
    for family in [*dict.fromkeys(all_of["family"]), "mean"]:
        values = [(o.drop(FIRST).mean() if family == "mean" else o.loc[family]) for o in ours_of.values()]
        print(f"| {family} |" + "".join(f" {v['covered']:.2f} | {v['width']:.2f} | {v['expected']:.2f} |".replace(" 0.", " .") for v in values))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run", data, results, *methods]:
            run(pathlib.Path(data) / "repositories", pathlib.Path(results), methods[0].split(",") if methods else [OURS, *OTHERS])
        case ["table", results]:
            table(results)
        case _:
            sys.exit(__doc__)
