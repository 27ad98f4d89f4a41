"""Arrays as the rows that the program reads, for scikit-learn's kind of estimators."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Union

import numpy as np
import pyarrow as pa
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

# The shape of an image, as in (1, 28, 28) or "1x28x28".
Shape = Union[None, str, Sequence[int]]

# What validate_data lets through.
NUMBERS = [np.float64, np.float32]


def centres(x: Any) -> Any:
    """What is taken off the columns before they become float32, as the program does with tables.

    It is not 0 where values are so close together, and so far from 0, that float32 does not
    tell them apart, such as seconds since 1970.
    """
    if x.dtype == np.float32:
        return np.zeros(x.shape[1])
    some = x[:: max(len(x) // 512, 1)]
    low, middle, high = np.quantile(some, [0.25, 0.5, 0.75], axis=0, method="higher")
    spread = np.where(high > low, high - low, some.std(axis=0))
    size = abs(middle)
    far = np.where(spread > 0, size > 2**14 * spread, size >= 2**24)
    rounded = (0 < spread) & (spread < 2**-40 * size) & (some != np.trunc(some)).any(axis=0)
    return np.where(far & ~rounded, middle, 0.0)


def float32(x: Any, centre: Any) -> Any:
    """The matrix without its centres, as float32."""
    if x.size and abs(x).max() > np.finfo(np.float32).max:
        raise ValueError("Input X contains infinity or a value too large for dtype('float32').")
    return (x - centre).astype(np.float32) if centre.any() else x.astype(np.float32, copy=False)



def features(x: Any, names: Any, centre: Any) -> tuple[pa.Field, pa.Array]:
    """A matrix of float32, without its centres, as the column that models read.

    The names of its columns and the centres go with it, so that a model that was trained on
    them finds them in files too.
    """
    n, width = x.shape
    known = {} if names is None else {"columns": list(names)}
    if centre.any():
        known["centres"] = centre.tolist()
    note = {"mars.preparation": json.dumps({"version": 1, **known})} if known else {}
    kind = pa.list_(pa.field("item", pa.float32(), nullable=False), width)
    column = pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(x).reshape(n * width)), type=kind)
    return pa.field("features", kind, metadata=note or None), column


def unlabelled(x: Any, names: Any, centre: Any) -> pa.Table:
    """Rows to label."""
    field, column = features(float32(x, centre), names, centre)
    return pa.table([column], schema=pa.schema([field]))


def labelled(source: Any, codes: Any, target: Any, classes: Any, names: Any, centre: Any) -> pa.Table:
    """The rows of both domains; codes are the source's classes by their numbers."""
    n, m = len(source), len(target)
    source = float32(source, centre)
    field, column = features(np.concatenate([source, float32(target, centre)]) if m else source, names, centre)
    domain = pa.DictionaryArray.from_arrays(np.repeat(np.array([0, 1], np.int8), [n, m]), ["source", "target"])
    label = pa.array(np.concatenate([codes, np.zeros(m, codes.dtype)]), pa.int32(), mask=np.arange(n + m) >= n)
    schema = pa.schema(
        [pa.field("domain", domain.type), pa.field("label", label.type), field],
        metadata={"mars.classes": json.dumps(class_names(classes))},
    )
    return pa.table([domain, label, column], schema=schema)


def _no_label(label: Any) -> bool:
    return label is None or type(label).__name__ == "NAType" or bool(label != label)  # pandas' NA, and NaN


def classes(labels: Any) -> tuple[Any, Any]:
    """The classes, sorted, and their numbers by row. There have to be two."""
    if labels.dtype == object and len(missing := np.flatnonzero([_no_label(label) for label in labels])):
        raise ValueError(f"y: row {missing[0]} has no label ({len(missing)} of {len(labels)} rows have none): label or drop such rows")
    check_classification_targets(labels)
    found, codes = np.unique(labels, return_inverse=True)
    if len(found) < 2:
        raise ValueError(f"the labelled rows have one class ({found[0]!r}): give rows of two classes or more")
    return found, codes


def hedge(assume: str, classifier: str) -> list[str]:
    """The flags that only "hedge" knows, unless they say what it does anyway."""
    return _unless("--assume", assume, "auto") + _unless("--classifier", classifier, "ensemble")


def class_names(classes: Any) -> list[str]:
    """What the program calls the classes in what it says, all of them different."""
    names = [str(int(c)) if isinstance(c, float) and c.is_integer() else str(c) for c in classes.tolist()]
    return names if len(set(names)) == len(names) else [f"{name} ({k})" for k, name in enumerate(names)]


def vectors(column: pa.ChunkedArray) -> Any:
    """A column of vectors as a matrix."""
    whole = column.combine_chunks()
    return whole.flatten().to_numpy().reshape(len(whole), -1)


def seed(random_state: Any) -> str:
    """What ``--seed`` gets: an int as it is, else a draw from a generator."""
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return str(int(random_state))
    return str(int(check_random_state(random_state).randint(np.iinfo(np.int32).max)))


def jobs(n_jobs: int | None) -> list[str]:
    """The flag that says how many threads to take."""
    if n_jobs is None or n_jobs == -1:
        return []
    if n_jobs < 1:
        raise ValueError(f"n_jobs={n_jobs}: give a number of threads, or None or -1 for all")
    return ["--jobs", str(n_jobs)]


def shape_flag(shape: Shape, width: int) -> list[str]:
    """The flag that says that rows are images of a shape, or that they are none."""
    if shape is None:
        shape = [width]
    return ["--shape", shape if isinstance(shape, str) else "x".join(str(int(n)) for n in shape)]


def _unless(flag: str, value: str, default: str) -> list[str]:
    return [] if value == default else [flag, value]
