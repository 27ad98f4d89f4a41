"""Writes tables of mixed columns, and what scikit-learn makes of them.

Needs numpy, pandas and scikit-learn. Run it in this folder: python generate.py
"""
import json

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

rng = np.random.default_rng(20261122)


def table(n, letters):
    x = pd.DataFrame({
        "size": rng.normal(3, 2, n).round(3),
        "color": rng.choice(list(letters), n, p=np.array([.4, .3, .2, .08, .02][: len(letters)]) / sum([.4, .3, .2, .08, .02][: len(letters)])),
        "level": rng.integers(0, 4, n),
        "width": rng.exponential(2, n).round(3),
        "shape": rng.choice(["round", "flat", "deep, and wide"], n),
    })
    x.loc[rng.random(n) < .02, "size"] = np.nan
    x.loc[rng.random(n) < .2, "width"] = np.nan
    x.loc[rng.random(n) < .1, "shape"] = np.nan
    return x


source, target = table(300, "pqrst"), table(120, "pqrsx")
source["label"] = rng.choice(["a", "b"], len(source))
source["color"] = source["color"].replace("t", "p")
source.loc[:1, "color"] = "t"
numbers, categories = ["size", "width"], ["color", "level", "shape"]


def encoder(rows):
    return OneHotEncoder(min_frequency=max(2, min(5, rows // 100)), handle_unknown="infrequent_if_exist", sparse_output=False)


made = ColumnTransformer([
    ("size", SimpleImputer(strategy="median", add_indicator=False), ["size"]),
    ("color", encoder(len(source)), ["color"]),
    ("level", encoder(len(source)), ["level"]),
    ("width", SimpleImputer(strategy="median", add_indicator=True), ["width"]),
    ("shape", make_pipeline(SimpleImputer(strategy="most_frequent"), encoder(len(source))), ["shape"]),
])
made.fit(source)
features = {}
for name, rows in {"source": source, "target": target}.items():
    x = made.transform(rows)
    shape_missing = rows["shape"].isna().to_numpy(float)[:, None]
    features[name] = np.hstack([x, shape_missing]).round(6).tolist()
    rows.to_csv(f"{name}.csv", index=False)
    rows.assign(color=rows["color"].astype("category")).to_parquet(f"{name}.parquet", index=False)

with open("features.json", "w") as f:
    json.dump(features, f)
