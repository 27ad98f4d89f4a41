"""Rows of a target for a person to label, and their labels on the way back."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from mars import _cells
from mars._classes import restore
from mars._command import Inputs, finest, flags, label_flag
from mars._docs import documents
from mars._frames import is_array, is_pandas, like, same_kind, to_arrow
from mars._options import ASK, AskOptions
from mars._process import run
from mars._progress import Progress

if TYPE_CHECKING:
    from typing_extensions import Unpack

# The most columns of a target that a person is shown if nothing is said of it.
_MOST_SHOWN = 12

# The column by which the program knows a row again.
_CODE = "drawn"


class AskKeywords(AskOptions, _cells.CellOptions, total=False):
    """Options of `ask`."""


@documents({**ASK, **_cells.CELLS}, AskKeywords)
def ask(
    source: Any,
    target: Any,
    label: Hashable = "label",
    *,
    for_class: Any = None,
    progress: Progress = None,
    **options: Unpack[AskKeywords],
) -> Any:
    """Choose rows of a target for a person to label, so that a few labels settle the answer.

    Parameters
    ----------
    source : table, pair or path
        Rows with labels, as of `mars.label`.
    target : table or path
        Rows without labels.
    label : hashable, default "label"
        The name of the source's column of labels, and of the column to fill in.
    for_class : label, optional
        Choose the rows that say most about the share of this class.
    progress : bool or callable, optional
        True shows the log as it comes, and how far the work is; a function is called
        with each line.
    **OPTIONS**

    Returns
    -------
    table
        The rows to label, in the order to look at them and in the type of the target, with
        its index: ``order``, ``id`` (the row's number, from 0, unless the target has such a
        column), columns of the target (`keep`), the column of labels, which is empty,
        ``predicted_class`` and ``confidence``, ``probability`` (of being drawn), ``part``
        and ``drawn``, a code by which the row is known again. Arrays give a structured
        array without columns of the target, and files a pyarrow table. Of AnnData it is a frame
        with rows of .obs. Fill the labels in
        from the first row on, stop when you like, and give the table as `labels` to
        `mars.proportions` and `mars.label`, with the same source, target and options.

    Raises
    ------
    MarsValueError
        With the program's message, if it refuses data or an option.
    MarsError
        With the program's message, if it fails otherwise.

    Examples
    --------
    >>> import mars, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, y = np.r_[rng.normal(0, 0.4, (200, 2)), rng.normal(2, 0.4, (200, 2))], np.repeat([0, 1], 200)
    >>> rows = mars.ask((X, y), X[:250] + 0.5, budget=20)
    >>> rows["label"] = y[rows["id"]]  # a person looks at them
    >>> labels = mars.label((X, y), X[:250] + 0.5, labels=rows)
    >>> bool((labels["predicted_class"] == y[:250]).all())
    True
    """
    options = dict(options)  # type: ignore[assignment]
    label = finest(label, options)
    if _cells.given(source, target):
        own, options = _cells.split(options)  # type: ignore[assignment]
        with _cells.work().inputs(source, target, str(label), own, _cells.beside(str(label), options), progress) as (read, obs):
            return _ask(read, obs, label, for_class, progress, options)
    return _ask(Inputs({"source": source, "target": target}, label, options), target, label, for_class, progress, options)


def _ask(inputs: Any, target: Any, label: Hashable, for_class: Any, progress: Progress, options: Any) -> Any:
    keep = options.pop("keep", None)
    command = ["ask", *label_flag(label), *flags("ask", ASK, options)]
    if "target" not in inputs.tables:
        keep, shown = [] if keep is None else ["--keep=" + (keep if isinstance(keep, str) else ",".join(keep))], []
    else:
        keep, shown = ["--keep=id"], _shown(inputs.originals["target"], keep, str(label), is_array(target))
    if for_class is not None:
        command.append(f"--for={for_class}")
    answer = pa.ipc.open_stream(run([*command, *keep, "--format=arrow", *inputs.flags], inputs.tables, progress=progress)).read_all()
    answer = answer.replace_schema_metadata(None)
    if "target" not in inputs.tables:
        return answer
    table = inputs.originals["target"]
    answer = _empty(answer, str(label), inputs.labels)
    if is_array(target):
        return like(target, answer)
    return answer if not inputs.numbered else _joined(target, table, answer, shown)


def _shown(table: pa.Table, keep: Any, label: str, array: bool) -> list[str]:
    """The columns of a target that a person is to see."""
    there = [n for n in table.column_names if n != label]
    if array or keep == "id" or keep in (None, "auto") and len(there) > _MOST_SHOWN:
        return ["id"] if "id" in there else []
    if keep in (None, "auto", "all"):
        return there
    names = [keep] if isinstance(keep, str) else [str(n) for n in keep]
    if lacking := [n for n in names if n not in there]:
        raise ValueError(f"keep: the target has no column {lacking[0]!r} (its columns are {', '.join(there)})")
    return names


def _joined(target: Any, table: pa.Table, answer: pa.Table, shown: list[str]) -> Any:
    """The drawn rows of a target, with columns of theirs behind the order and the identity."""
    if taken := [n for n in shown if n in answer.column_names and n != "id"]:
        raise ValueError(f"target: has columns that the table to fill in has too ({', '.join(taken)}): rename them, or name the columns to show by keep=")
    rows = answer["id"].cast(pa.int64())
    new = answer.drop_columns(["id"]) if "id" in shown else answer
    first = 2 if new is answer else 1
    order = [*new.column_names[:first], *shown, *new.column_names[first:]]
    if is_pandas(target):
        at = [table.column_names.index(n) for n in shown]
        frame = like(target.iloc[rows.to_pylist(), at], new)
        names = [*shown, *new.column_names]
        return frame.iloc[:, [names.index(n) for n in order]]
    picked = table.take(rows)
    return same_kind(target)(pa.table({n: picked[n] if n in shown else new[n] for n in order}))


def _empty(answer: pa.Table, label: str, labels: Any) -> pa.Table:
    """The table with a column to fill in, and the program's guesses, of the type of the source's labels."""
    if labels is None:
        return answer
    guesses = restore(answer["predicted_class"], labels)
    answer = answer.set_column(answer.column_names.index("predicted_class"), "predicted_class", guesses)
    kind = labels.type.value_type if pa.types.is_dictionary(labels.type) else labels.type
    return answer.set_column(answer.column_names.index(label), label, pa.nulls(len(answer), kind))


@contextlib.contextmanager
def filled(labels: Any, label: Hashable) -> Iterator[list[str]]:
    """The flag for labels that a person has given: a file, or a table that is written to one."""
    if labels is None:
        yield []
    elif isinstance(labels, (str, os.PathLike)):
        yield [f"--labels={os.fspath(labels)}"]
    else:
        table = to_arrow(labels, name="labels")
        for name in (_CODE, str(label)):
            if name not in table.column_names:
                raise ValueError(f"labels: has no column {name!r} (its columns are {', '.join(table.column_names)}): give the table of mars.ask, filled in")
        with tempfile.TemporaryDirectory(prefix="mars-") as folder:
            path = os.path.join(folder, "labels.arrow")
            columns = table.select([_CODE, str(label)])
            with pa.ipc.new_file(path, columns.schema) as file:
                file.write_table(columns)
            yield [f"--labels={path}"]
