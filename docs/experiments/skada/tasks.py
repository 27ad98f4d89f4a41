"""The tasks of make bench-skada: families of (source, target) pairs, and how they are loaded.

The simulated shifts, Mushrooms, Phishing and the digits follow SKADA-Bench's datasets/ (sizes,
noise, encodings, principal components, base classifiers of config/best_base_estimators.yml).
Office-Caltech10 is given as it is and by principal components, as its Office31Decaf is. Cytometry
is not among its datasets. Other tables come from a folder that more_splits.py or ask_tasks.py has written: splits of
real tables by a column, one of each family.
"""

import csv
import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pandas as pd
from skada.datasets import make_shifted_datasets
from sklearn.decomposition import PCA
from sklearn.preprocessing import OneHotEncoder, StandardScaler

MIN_CLASS_ROWS = 5  # of the source, so that every split has each class
PCA_ROWS = 5000  # of MNIST and of USPS each, on which their components are learnt
SHIFTS = {  # family: the generator's name, rows in a blob, noise
    "covariate shift": ("covariate_shift", 100, 0.6),
    "target shift": ("target_shift", 100, 0.8),
    "conditional shift": ("conditional_shift", 100, 0.8),
    "subspace": ("subspace", 300, 0.4),
}


@dataclass
class Domains:
    """Rows n×d and labels 0…C−1 of both domains. yt is for the final measure alone."""

    xs: np.ndarray
    ys: np.ndarray
    xt: np.ndarray
    yt: np.ndarray


@dataclass
class Task:
    """load gives the two domains whole; domains has at most `rows` of each, drawn by the seed.
    base names the base classifier and the SVC that SKADA-Bench chose for the data; without it
    one is chosen by cross-validation on the source."""

    family: str
    name: str
    seed: int
    load: Callable[[], Domains]
    rows: int
    base: tuple[str, str] | None = None
    suite: str = "SKADA-Bench"
    key: str = field(init=False)

    def __post_init__(self):
        self.key = f"{self.family}/{self.name}/{self.seed}"

    @cached_property
    def domains(self):
        whole = self.load()
        rng = np.random.default_rng(self.seed)
        s = draw(whole.ys, self.rows, MIN_CLASS_ROWS, rng)
        t = draw(whole.yt, self.rows, 0, rng)
        classes, ys = np.unique(whole.ys[s], return_inverse=True)
        code = {c: k for k, c in enumerate([*classes, *np.setdiff1d(whole.yt[t], classes)])}  # the source's first
        return Domains(whole.xs[s].astype(np.float32), ys, whole.xt[t].astype(np.float32), np.array([code[c] for c in whole.yt[t]]))


def draw(labels, rows, least, rng):
    """Indices of at most `rows` rows, and of at least `least` of each class where there are."""
    order = rng.permutation(len(labels))
    chosen = [order[:rows]] + [order[labels[order] == c][:least] for c in np.unique(labels)]
    return np.sort(np.unique(np.concatenate(chosen)))


def simulated(shift, seed):
    name, rows, noise = SHIFTS[shift]
    x, y, domain = make_shifted_datasets(
        n_samples_source=rows, n_samples_target=rows, shift=name, noise=noise, label="binary",
        center_cov_shift=(-0.4, 3), random_state=seed)
    return split(x, y.astype(int), domain > 0, domain < 0)


def split(x, y, source, target):
    return Domains(x[source], y[source], x[target], y[target])


def mushrooms(folder, source, target):
    table = pd.read_csv(folder / "skadabench/mushrooms.csv", dtype=str)
    x = OneHotEncoder(sparse_output=False).fit_transform(table.drop(columns="edibility"))
    shape = table["stalk-shape"].to_numpy()
    return split(x, (table["edibility"] == "p").to_numpy().astype(int), shape == source, shape == target)


def phishing(folder, source, target):
    table = pd.read_csv(folder / "skadabench/phishing.csv")
    x, address = table.drop(columns="label").to_numpy(float), table["having_ip_address"].to_numpy()
    return split(x, (table["label"] == 1).to_numpy().astype(int), address == source, address == target)


def digits(folder, source, target):
    """Images in a frame of 32×32, then 50 whitened principal components of both domains' rows.
    SKADA-Bench learns the components on SVHN as well."""
    images = {"mnist": mnist(folder), "usps": usps(folder)}
    rng = np.random.default_rng(27)
    sample = [x[rng.permutation(len(x))[:PCA_ROWS]] for x, _ in images.values()]
    pca = PCA(50, whiten=True, random_state=27).fit(np.concatenate(sample))
    (xs, ys), (xt, yt) = images[source], images[target]
    return Domains(pca.transform(xs), ys, pca.transform(xt), yt)


def framed(images, margin):
    """n×1024: images of values in [0, 1], with a black margin, scaled as MNIST's networks do."""
    padded = np.pad(images.astype(np.float32), ((0, 0), (margin, margin), (margin, margin)))
    return ((padded - 0.1307) / 0.3081).reshape(len(images), -1)


def mnist(folder):
    def idx(name, header):
        return np.frombuffer(gzip.open(folder / "mnist" / name).read(), np.uint8, offset=header)

    x = idx("train-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28)
    return framed(x / np.float32(255), 2), idx("train-labels-idx1-ubyte.gz", 8)


def usps(folder):
    data = np.load(folder / "usps/usps-train.npz")
    return framed(data["X"], 8), data["y"]


def office(folder, source, target):
    """1,024 GoogLeNet features."""
    s, t = (np.load(folder / "office_caltech10" / f"{name}.npz") for name in (source, target))
    return Domains(s["X"], s["y"], t["X"], t["y"])


def office_components(folder, source, target):
    """100 principal components of the features of all three domains."""
    pca = PCA(100, random_state=0).fit(np.concatenate([office(folder, d, d).xs for d in OFFICE]))
    d = office(folder, source, target)
    return Domains(pca.transform(d.xs), d.ys, pca.transform(d.xt), d.yt)


def cytometry(folder, source, target):
    """Marker intensities, standardised by the source."""
    s, t = (np.load(folder / "hipc" / f"{name}.npz") for name in (source, target))
    scaler = StandardScaler().fit(s["X"])
    return Domains(scaler.transform(s["X"]), s["y"], scaler.transform(t["X"]), t["y"])


def table(path):
    """A split of a table, its gaps filled with the source's means and its columns standardised by the source."""
    with np.load(path) as file:
        mean = np.nan_to_num(np.nanmean(file["Xs"].astype(float), axis=0))
        xs, xt = (np.where(np.isnan(file[k]), mean, file[k]) for k in ("Xs", "Xt"))
        scaler = StandardScaler().fit(xs)
        return Domains(scaler.transform(xs), file["ys"], scaler.transform(xt), file["yt"])


def tables(folders, families, rows):
    """A split by a column of each of some families, all of which are drawn."""
    found = {}
    for folder in folders:
        with open(folder / "tasks.csv") as file:
            for task in csv.DictReader(file):
                if task["kind"] == "split":
                    found.setdefault(task["family"], folder / f"{task['name']}.npz")
    drawn = np.random.default_rng(0).permutation(sorted(found))[:families]
    return [Task(str(f), found[f].stem, 0, lambda a=found[f]: table(a), rows, suite="other tables") for f in drawn]


OFFICE = ("amazon", "dslr", "webcam")
OFFICE_PAIRS = [("amazon", "dslr"), ("webcam", "amazon"), ("dslr", "webcam"), ("amazon", "webcam"), ("dslr", "amazon"),
                ("webcam", "dslr")]
REAL = [  # family, loader, files that it needs, pairs, base classifier and SVC of SKADA-Bench
    ("Mushrooms", mushrooms, "skadabench/mushrooms.csv", [("e", "t"), ("t", "e")], ("LR", "SVC")),
    ("Phishing", phishing, "skadabench/phishing.csv", [(1, -1), (-1, 1)],
     ("XGB_subsample0.8_colsample0.65_maxdepth20", "SVC_C10.0_Gamma0.1")),
    ("digits", digits, "mnist usps", [("mnist", "usps"), ("usps", "mnist")], ("SVC_C10.0_Gamma0.01",) * 2),
    ("Office-Caltech10", office, "office_caltech10", OFFICE_PAIRS, None),
    ("Office-Caltech10, PCA", office_components, "office_caltech10", OFFICE_PAIRS, None),
    ("cytometry", cytometry, "hipc",
     [("FTV_1", "FTV_4"), ("FTV_1", "FTV_7"), ("FTV_1", "W2_1"), ("W2_1", "FTV_1")], None),
]


def every(a):
    """All tasks whose data are there, first one of each family; says which are not."""
    families = [[Task(shift, "simulated", seed, lambda a=(shift, seed): simulated(*a), a.rows, ("SVC", "SVC"))
                 for seed in range(a.first, a.first + a.seeds)] for shift in SHIFTS]
    folder = Path(os.environ.get("MARS_DATA", "no-such-folder"))
    for family, load, needs, of, base in REAL:
        absent = [name for name in needs.split() if not (folder / name).exists()]
        if absent:
            print(f"left out: {family}: no {' or '.join(absent)} in the folder $MARS_DATA", flush=True)
            continue
        families.append([Task(family, f"{s} to {t}", seed, lambda a=(load, folder, s, t): a[0](*a[1:]), a.rows, base)
                         for seed in range(a.first, a.first + a.real_seeds) for s, t in of[:a.pairs]])
    families += [[t] for t in tables(a.tables, a.families, a.rows)]
    return [task for turn in zip_longest(*families) for task in turn if task]
