"""Labels for the rows of a target."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, TypeVar, overload

import pyarrow as pa
import pyarrow.compute as pc

from mars._classes import restore
from mars._command import Inputs, flags
from mars._docs import documents
from mars._frames import is_array, like, take
from mars._options import LABEL, PREDICT, LabelOptions, Paths, PredictOptions
from mars._process import run
from mars._progress import Progress

if TYPE_CHECKING:
    from typing_extensions import Unpack


T = TypeVar("T")


@overload
def label(
    source: Any,
    target: Paths | None = None,
    label: Hashable = "y",
    *,
    posteriors: bool = False,
    progress: Progress = None,
    **options: Unpack[LabelOptions],
) -> pa.Table: ...


@overload
def label(
    source: Any,
    target: T,
    label: Hashable = "y",
    *,
    posteriors: bool = False,
    progress: Progress = None,
    **options: Unpack[LabelOptions],
) -> T: ...


@documents(LABEL, LabelOptions)
def label(
    source: Any,
    target: Any = None,
    label: Hashable = "y",
    *,
    posteriors: bool = False,
    progress: Progress = None,
    **options: Any,
) -> Any:
    """Label the rows of a target whose class balance and looks differ from the source's.

    Parameters
    ----------
    source : table, pair or path
        Rows with labels: a pandas or polars frame, a pyarrow table, a DuckDB relation, or
        anything with ``__arrow_c_stream__``; or a pair ``(X, y)`` of features and labels,
        for NumPy arrays and torch tensors; or the name of a file, or of several, which
        the program reads itself.
    target : table or path
        Rows to label. If one table holds both, leave it out and give `domain_column`.
    label : hashable, default "y"
        The source's column of labels.
    posteriors : bool, default False
        Whether to add a column ``probability_CLASS`` for each class.
    progress : bool or callable, optional
        True shows the log as it comes, and how far the work is; a function is called
        with each line.
    **OPTIONS**

    Returns
    -------
    table
        The target with columns added, in the type that came in, with its index:
        ``predicted_class``, ``confidence`` (the posterior of that class) and
        ``typicality`` (how usual the row is for its class, a p-value). NumPy arrays give
        a structured array of these columns and torch tensors a dict of them, with the
        posteriors as a matrix ``probability``. Files give a pyarrow table with ``id``.

    Raises
    ------
    MarsError
        With the program's message, if it fails.

    Warns
    -----
    MarsWarning
        Above all where the labels are not to be believed.

    Examples
    --------
    >>> import mars, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> def cells(sick, well, moved):
    ...     x = np.r_[rng.normal(0, 0.4, (sick, 2)), rng.normal(2, 0.4, (well, 2))] + moved
    ...     return pd.DataFrame(x, columns=["CD4", "CD8"]).assign(y=["sick"] * sick + ["well"] * well)
    >>> new = mars.label(cells(200, 200, 0), cells(300, 100, 0.5).drop(columns="y"))
    >>> new["predicted_class"].value_counts().to_dict()
    {'sick': 300, 'well': 100}
    """
    command = ["label", f"--label={label}", *flags("label", LABEL, options)]
    inputs = Inputs({"source": source} if target is None else {"source": source, "target": target}, label, options)
    # Rows that are unlike any class are of none, whatever its type.
    labels = None if options.get("unknown") else inputs.labels
    if target is None:
        return _joined("source", source, command, inputs, labels, posteriors, progress)
    return _joined("target", target, command, inputs, labels, posteriors, progress)


@overload
def predict(
    model: str | os.PathLike[str], target: Paths, *, posteriors: bool = False, progress: Progress = None, **options: Unpack[PredictOptions]
) -> pa.Table: ...


@overload
def predict(
    model: str | os.PathLike[str], target: T, *, posteriors: bool = False, progress: Progress = None, **options: Unpack[PredictOptions]
) -> T: ...


@documents(PREDICT, PredictOptions)
def predict(model: str | os.PathLike[str], target: Any, *, posteriors: bool = False, progress: Progress = None, **options: Any) -> Any:
    """Label more rows of a target with a model that `label` has saved.

    Parameters
    ----------
    model : path
        What ``label(…, save=model)`` has written.
    target : table or path
        Rows to label, with the columns of the model in any order.
    posteriors : bool, default False
        Whether to add a column ``probability_CLASS`` for each class.
    progress : bool or callable, optional
        True shows the log as it comes, and how far the work is; a function is called
        with each line.
    **OPTIONS**

    Returns
    -------
    table
        As of `label`, but that classes are text: a model knows their names alone.

    Examples
    --------
    >>> import mars, numpy as np, os, tempfile
    >>> rng = np.random.default_rng(0)
    >>> X, y = np.r_[rng.normal(0, 0.4, (200, 2)), rng.normal(2, 0.4, (200, 2))], np.repeat([0, 1], 200)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = os.path.join(folder, "model.safetensors")
    ...     labelled = mars.label((X, y), X + 0.5, save=model)
    ...     again = mars.predict(model, X[:3] + 0.5)
    >>> again["predicted_class"].tolist()
    ['0', '0', '0']
    """
    command = ["predict", f"--model={os.fspath(model)}", *flags("predict", PREDICT, options)]
    inputs = Inputs({"target": target}, None, options)
    return _joined("target", target, command, inputs, None, posteriors, progress)


def _joined(name: str, data: Any, command: list[str], inputs: Inputs, labels: Any, posteriors: bool, progress: Progress) -> Any:
    """Rows of data with the labels that a command gives them."""
    output = run([*command, "--format=arrow", *inputs.flags], inputs.tables, progress=progress)
    answer = pa.ipc.open_stream(output).read_all()
    columns = _columns(answer, labels, posteriors, is_array(data))
    if name not in inputs.tables:
        return columns
    table = inputs.originals[name]
    columns = columns.drop_columns(["id"])
    if inputs.numbered:
        rows = answer["id"].cast(pa.int64())
        if not rows.equals(pa.chunked_array([pa.array(range(table.num_rows), pa.int64())])):
            data, table = take(data, table, rows)  # only some rows were labelled
    elif len(answer) != table.num_rows:
        raise ValueError("id: only some rows of the target were labelled, and their names cannot be found again: give both tables, or both files")
    return like(data, columns, table)


def _columns(answer: pa.Table, labels: Any, posteriors: bool, matrix: bool) -> pa.Table:
    """Columns that users see of those that a command writes."""
    names = [n for n in answer.column_names if n != "probability"]
    columns = {n: restore(answer[n], labels) if n == "predicted_class" else answer[n] for n in names}
    if posteriors:
        probability = answer["probability"].combine_chunks()
        if matrix:
            columns["probability"] = probability
        else:
            classes = json.loads(answer.schema.metadata[b"mars.classes"])
            columns |= {f"probability_{c}": pc.list_element(probability, i) for i, c in enumerate(classes)}
    return pa.table(columns, metadata=answer.schema.metadata)
