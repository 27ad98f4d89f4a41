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


def features(x: Any, names: Any) -> tuple[pa.Field, pa.Array]:
    """A matrix of float32 as the column that models read.

    The names of its columns go with it, so that a model that was trained on them finds
    them in files too.
    """
    n, width = x.shape
    note = {} if names is None else {"mars.preparation": json.dumps({"version": 1, "columns": list(names)})}
    kind = pa.list_(pa.field("item", pa.float32(), nullable=False), width)
    column = pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(x).reshape(n * width)), type=kind)
    return pa.field("features", kind, metadata=note or None), column


def unlabelled(x: Any, names: Any) -> pa.Table:
    """Rows to label."""
    field, column = features(x, names)
    return pa.table([column], schema=pa.schema([field]))


def labelled(source: Any, codes: Any, target: Any, classes: Any, names: Any) -> pa.Table:
    """The rows of both domains; codes are the source's classes by their numbers."""
    n, m = len(source), len(target)
    field, column = features(np.concatenate([source, target]) if m else source, names)
    domain = pa.DictionaryArray.from_arrays(np.repeat(np.array([0, 1], np.int8), [n, m]), ["source", "target"])
    label = pa.array(np.concatenate([codes, np.zeros(m, codes.dtype)]), pa.int32(), mask=np.arange(n + m) >= n)
    schema = pa.schema(
        [pa.field("domain", domain.type), pa.field("label", label.type), field],
        metadata={"mars.classes": json.dumps(class_names(classes))},
    )
    return pa.table([domain, label, column], schema=schema)


def classes(labels: Any) -> tuple[Any, Any]:
    """The classes, sorted, and their numbers by row. There have to be two."""
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
