"""Labels for the rows of a target."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import pyarrow as pa
import pyarrow.compute as pc

from mars import _cells
from mars._ask import filled
from mars._classes import restore
from mars._command import Inputs, finest, flags, label_flag
from mars._docs import documents
from mars._frames import is_array, like, take
from mars._options import LABEL, PREDICT, LabelOptions, Paths, PredictOptions
from mars._process import run
from mars._progress import Progress
from mars._report import LabelReport

if TYPE_CHECKING:
    from typing_extensions import Unpack


T = TypeVar("T")


class LabelKeywords(LabelOptions, _cells.CellOptions, total=False):
    """Options of `label`."""


# A table comes back in the type of the target, and a pair with what is known of the labels where that is asked for.
@overload
def label(
    source: Any,
    target: Paths | None = None,
    label: Hashable = "label",
    *,
    labels: Any = None,
    posteriors: bool = False,
    prefix: str = "",
    return_report: Literal[False] = False,
    output: str | os.PathLike[str] | None = None,
    progress: Progress = None,
    **options: Unpack[LabelKeywords],
) -> pa.Table: ...


@overload
def label(
    source: Any,
    target: T,
    label: Hashable = "label",
    *,
    labels: Any = None,
    posteriors: bool = False,
    prefix: str = "",
    return_report: Literal[False] = False,
    output: str | os.PathLike[str] | None = None,
    progress: Progress = None,
    **options: Unpack[LabelKeywords],
) -> T: ...


@overload
def label(
    source: Any,
    target: Paths | None = None,
    label: Hashable = "label",
    *,
    labels: Any = None,
    posteriors: bool = False,
    prefix: str = "",
    return_report: Literal[True],
    output: str | os.PathLike[str] | None = None,
    progress: Progress = None,
    **options: Unpack[LabelKeywords],
) -> tuple[pa.Table, LabelReport]: ...


@overload
def label(
    source: Any,
    target: T,
    label: Hashable = "label",
    *,
    labels: Any = None,
    posteriors: bool = False,
    prefix: str = "",
    return_report: Literal[True],
    output: str | os.PathLike[str] | None = None,
    progress: Progress = None,
    **options: Unpack[LabelKeywords],
) -> tuple[T, LabelReport]: ...


@documents({**LABEL, **_cells.CELLS}, LabelKeywords)
def label(
    source: Any,
    target: Any = None,
    label: Hashable = "label",
    *,
    labels: Any = None,
    posteriors: bool = False,
    prefix: str = "",
    return_report: bool = False,
    output: str | os.PathLike[str] | None = None,
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
        the program reads itself; or AnnData, or the name of a file .h5ad.
    target : table or path
        Rows to label. If one table holds both, leave it out and give `domain_column`.
    label : hashable, default "label"
        The name of the source's column of labels.
    labels : table or path, optional
        What `mars.ask` gave, filled in as far as it goes: labels of some rows of the target,
        which decide what has changed.
    posteriors : bool, default False
        Whether to add a column ``probability_CLASS`` for each class.
    prefix : str, default ""
        What the names of the added columns begin with.
    return_report : bool, default False
        Whether to give what is known of the labels as a whole too: the share that is
        expected to be right, counts, assumptions and warnings.
    output : path, optional
        For AnnData: write the target with its labels to this file .h5ad too. What the target's own
        file holds besides stays as it is.
    progress : bool or callable, optional
        True shows the log as it comes, and how far the work is; a function is called
        with each line.
    **OPTIONS**

    Returns
    -------
    table
        The target with columns added, in the type that came in, with its index:
        ``predicted_class``, ``confidence`` (the posterior of that class) and
        ``typicality`` (how usual the row is for its class, a p-value); with `levels`
        ``predicted_LEVEL`` and ``confidence_LEVEL`` of each, and with `confidence` the
        ``predicted_level`` of ``predicted_class``. A row without any
        value has no class and no typicality, but a null; its posteriors are the shares of
        the classes. NumPy arrays give
        a structured array of these columns and torch tensors a dict of them, with the
        posteriors as a matrix ``probability``. Files give a pyarrow table with ``id``.
        AnnData is given back as a new object with the same matrices, with ``mars_label``,
        ``mars_confidence`` and ``mars_typicality`` in .obs, posteriors in .obsm and the
        shares with their intervals in .uns["mars"]; `prefix` stands for ``mars_``.
    LabelReport
        If `return_report` is set: then a pair comes back.

    Raises
    ------
    ValueError
        If the target has a column of the name of one to add, and with the program's
        message if it refuses data or an option (`MarsValueError`).
    MarsError
        With the program's message, if it fails otherwise.

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
    ...     return pd.DataFrame(x, columns=["CD4", "CD8"]).assign(state=["sick"] * sick + ["well"] * well)
    >>> new = mars.label(cells(200, 200, 0), cells(300, 100, 0.5).drop(columns="state"), label="state")
    >>> new["predicted_class"].value_counts().to_dict()
    {'sick': 300, 'well': 100}
    """
    label = finest(label, options)
    if _cells.given(source, target):
        own, options = _cells.split(options)
        with filled(labels, label) as flag:
            found, known = _cells.work().label(
                source, target, str(label), [*flag, *flags("label", LABEL, options)], own, _cells.beside(str(label), options),
                posteriors=posteriors, prefix=prefix, output=output, progress=progress,
            )  # fmt: skip
        return (found, LabelReport(known)) if return_report else found
    if output is not None:
        raise ValueError("output: is for AnnData: what comes back of other tables has functions that write it")
    command = ["label", *label_flag(label), *flags("label", LABEL, options)]
    inputs = Inputs({"source": source} if target is None else {"source": source, "target": target}, label, options)
    # Rows that are unlike any class are of none, and those of a coarser class are of that, whatever the type.
    kind = None if options.get("unknown") or options.get("confidence") else inputs.labels
    name, data = ("source", source) if target is None else ("target", target)
    with filled(labels, label) as flag, tempfile.TemporaryDirectory(prefix="mars-") as folder:
        summary = os.path.join(folder, "summary.json")
        command += [*flag, f"--summary={summary}"]
        labelled = _joined(name, data, command, inputs, kind, posteriors, prefix, progress)
        if not return_report:
            return labelled
        with open(summary, encoding="utf-8") as file:
            return labelled, LabelReport(json.load(file), kind)


@overload
def predict(
    model: str | os.PathLike[str], target: Paths, *, posteriors: bool = False, prefix: str = "", progress: Progress = None, **options: Unpack[PredictOptions]
) -> pa.Table: ...


@overload
def predict(
    model: str | os.PathLike[str], target: T, *, posteriors: bool = False, prefix: str = "", progress: Progress = None, **options: Unpack[PredictOptions]
) -> T: ...


@documents(PREDICT, PredictOptions)
def predict(
    model: str | os.PathLike[str], target: Any, *, posteriors: bool = False, prefix: str = "", progress: Progress = None, **options: Any
) -> Any:
    """Label more rows of a target with a model that `label` has saved.

    Parameters
    ----------
    model : path
        What ``label(…, save=model)`` has written.
    target : table or path
        Rows to label, with the columns of the model in any order.
    posteriors : bool, default False
        Whether to add a column ``probability_CLASS`` for each class.
    prefix : str, default ""
        What the names of the added columns begin with.
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
    if _cells.given(target):
        raise ValueError("target: a model does not know how columns are made of AnnData: mars.label(atlas, target) labels it")
    command = ["predict", f"--model={os.fspath(model)}", *flags("predict", PREDICT, options)]
    inputs = Inputs({"target": target}, None, options)
    return _joined("target", target, command, inputs, None, posteriors, prefix, progress)


def _joined(name: str, data: Any, command: list[str], inputs: Inputs, labels: Any, posteriors: bool, prefix: str, progress: Progress) -> Any:
    """Rows of data with the labels that a command gives them."""
    if name in inputs.originals and not is_array(data):
        _refuse_names(name, inputs.originals[name].column_names, prefix, posteriors)
    output = run([*command, "--format=arrow", *inputs.flags], inputs.tables, progress=progress)
    answer = pa.ipc.open_stream(output).read_all()
    columns = _columns(answer, labels, posteriors, is_array(data))
    columns = columns.rename_columns([n if n == "id" else prefix + n for n in columns.column_names])
    if name not in inputs.tables:
        return columns
    table = inputs.originals[name]
    columns = columns.drop_columns(["id"])
    taken = [] if is_array(data) else [n for n in columns.column_names if n in table.column_names]
    if taken:
        raise ValueError(f"{name}: has columns that labels of levels are called by ({', '.join(taken)}): rename or drop them, or give the labels other names, as in prefix='new_'")
    if inputs.numbered:
        rows = answer["id"].cast(pa.int64())
        if not rows.equals(pa.chunked_array([pa.array(range(table.num_rows), pa.int64())])):
            data, table = take(data, table, rows)  # only some rows were labelled
    elif len(answer) != table.num_rows:
        raise ValueError("id: only some rows of the target were labelled, and their names cannot be found again: give both tables, or both files")
    return like(data, columns, table)


def _refuse_names(name: str, there: Sequence[str], prefix: str, posteriors: bool) -> None:
    """Refuse a table that has columns of the names of those to add, before the work."""
    new = [f"{prefix}{n}" for n in ("predicted_class", "confidence", "typicality")]
    taken = [n for n in there if n in new or posteriors and n.startswith(f"{prefix}probability_")]
    if taken:
        raise ValueError(
            f"{name}: has columns that labels are called by ({', '.join(taken)}): rename or drop them, or give the labels other names, as in prefix='new_'"
        )


def _columns(answer: pa.Table, labels: Any, posteriors: bool, matrix: bool) -> pa.Table:
    """Columns that users see of those that a command writes."""
    names = [n for n in answer.column_names if n != "probability"]
    levels = json.loads((answer.schema.metadata or {}).get(b"mars.levels", b"[]"))
    finest = ["predicted_class", *(f"predicted_{level['name']}" for level in levels[-1:])]
    columns = {n: restore(answer[n], labels) if n in finest else answer[n] for n in names}
    if posteriors:
        probability = answer["probability"].combine_chunks()
        if matrix:
            columns["probability"] = probability
        else:
            classes = json.loads(answer.schema.metadata[b"mars.classes"])
            columns |= {f"probability_{c}": pc.list_element(probability, i) for i, c in enumerate(classes)}
    return pa.table(columns, metadata=answer.schema.metadata)
