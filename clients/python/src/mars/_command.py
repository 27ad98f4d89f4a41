"""Command lines, from what the functions of this package are given."""

from __future__ import annotations

import csv
import difflib
import io
import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from mars._frames import to_arrow


def flags(function: str, known: Mapping[str, str], options: Mapping[str, Any]) -> list[str]:
    """Turn keywords into flags: ``assume="move"`` into ``--assume=move``.

    Parameters
    ----------
    function : str
        Who has been called, for messages.
    known : mapping of str to str
        Options that there are.
    options : mapping of str to object
        Options that are set. None leaves the default, and ``random_state`` is ``seed``.

    Returns
    -------
    list of str
        Flags in the order of the options.
    """
    options = dict(options)
    if "random_state" in options and "seed" in known:
        if options.get("seed") is not None:
            raise TypeError(f"{function}(): seed and random_state are one and the same: give one")
        options["seed"] = options.pop("random_state")
    found: list[str] = []
    for name, value in options.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3)
            hint = f": did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
        if value is not None and name != "id":  # which Inputs looks after
            found += [f"--{name.replace('_', '-')}{text}" for text in _values(name, value)]
    return found


def finest(label: Hashable, options: Mapping[str, Any]) -> Hashable:
    """The column of labels: with levels of classes that of the finest, if no other is named."""
    levels = options.get("levels")
    if not levels or not isinstance(label, str) or label != "label":
        return label
    return levels.split(",")[-1] if isinstance(levels, str) else str(levels[-1])


def label_flag(label: Hashable) -> list[str]:
    """The flag that names the column of labels. None where it is as usual: the program says then which it could be."""
    try:
        hash(label)
    except TypeError:
        name = getattr(label, "name", None)
        hint = f"label={name!r}" if isinstance(name, str) else "as in label='celltype'"
        raise TypeError(
            f"label: is the name of a column, and no {type(label).__name__} of labels: give {hint}, or the features and the labels as the source: (X, y)"
        ) from None
    return [] if label == "label" else [f"--label={label}"]


def _values(name: str, value: Any) -> list[str]:
    """What follows a flag's name, once for each time that it is given."""
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):  # NumPy's
        return ["=true" if value else "=false"]
    if isinstance(value, Mapping):
        return ["=" + ",".join(f"{k}={v}" for k, v in value.items())]
    if isinstance(value, (str, os.PathLike)):
        return ["=" + os.fspath(value)]
    if isinstance(value, Sequence) or hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1:
        values = [os.fspath(v) if isinstance(v, os.PathLike) else str(v) for v in value]
        if name.endswith("_labels"):  # files, each a flag
            return ["=" + v for v in values]
        return ["=" + _joined(values)]
    return [f"={value}"]


def _joined(values: Sequence[str]) -> str:
    """Values with commas between, quoted where they have commas of their own."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()


def is_path(data: Any) -> bool:
    """Whether data are a file, or several."""
    if isinstance(data, (str, os.PathLike)):
        return True
    return isinstance(data, (list, tuple)) and len(data) > 0 and all(isinstance(d, (str, os.PathLike)) for d in data)


class Inputs:
    """Source and target of a command: files are flags, anything else is a table.

    Parameters
    ----------
    sides : mapping of str to object
        Tables, paths, or a pair of features and labels, by "source" and "target".
    label : hashable, optional
        The source's column of labels.
    options : mapping of str to object
        Keywords that the user has given.

    Attributes
    ----------
    flags : list of str
        Flags that name files.
    tables : dict of str to pyarrow.Table
        Tables to be written to pipes.
    originals : dict of str to pyarrow.Table
        The same with all columns, as they came in.
    labels : pyarrow.ChunkedArray or None
        The source's labels, if it is a table.
    numbered : bool
        Whether rows of tables come back with their number as id.
    """

    def __init__(self, sides: Mapping[str, Any], label: Hashable, options: Mapping[str, Any]) -> None:
        self.flags: list[str] = []
        self.tables: dict[str, pa.Table] = {}
        self.originals: dict[str, pa.Table] = {}
        self.labels: Any = None
        identity, columns = options.get("id"), options.get("columns") or []
        for name, data in sides.items():
            if is_path(data):
                paths = [data] if isinstance(data, (str, os.PathLike)) else data
                if "-" in paths:
                    raise ValueError(f"{name}: - is standard input, which is Python's: give a file or a table")
                self.flags += [f"--{name}={os.fspath(path)}" for path in paths]
            elif name == "source" and isinstance(data, (tuple, list)) and len(data) == 2:
                self.originals[name] = with_column(to_arrow(data[0], name=name), str(label), data[1], name)
            else:
                self.originals[name] = to_arrow(data, name=name)
        if "source" in self.originals and str(label) in self.originals["source"].column_names:
            self.labels = self.originals["source"][str(label)]
        # Rows come back in their order and by their number, so that names of rows of tables
        # are not sent. They need not be unique then.
        self.numbered = identity is None or not self.flags
        if not self.numbered:
            self.flags.append(f"--id={identity}")
        unsent = [] if not self.numbered or (identity or "id") in _names(columns) else [identity or "id"]
        for name, table in self.originals.items():
            if identity is not None and name == "target" and identity not in table.column_names:
                raise ValueError(f"{name}: has no column {identity!r} (its columns are {', '.join(table.column_names)})")
            self.tables[name] = _decoded(table.select([c for c in table.column_names if c not in unsent]))


def _names(columns: Any) -> Sequence[str]:
    return [columns] if isinstance(columns, str) else columns


def _decoded(table: pa.Table) -> pa.Table:
    """A table whose categories, where they are no text, are the values that they stand for."""
    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type) and not _is_text(field.type.value_type):
            table = table.set_column(i, field.name, pa.chunked_array([c.dictionary_decode() for c in table.column(i).chunks], field.type.value_type))
    return table


def _is_text(kind: Any) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view"


def with_column(table: pa.Table, column: str, values: Any, name: str) -> pa.Table:
    """A table with a column of its own, such as labels that are apart from the features."""
    if hasattr(values, "detach"):  # a tensor
        values = values.detach().cpu().numpy()
    if getattr(values, "ndim", 1) != 1 or hasattr(values, "columns"):
        raise ValueError(f"{name}: labels are one column: give an array of one dimension")
    if not isinstance(values, (pa.Array, pa.ChunkedArray)):
        try:
            values = values.to_arrow() if hasattr(values, "to_arrow") else pa.array(values, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as e:
            raise TypeError(f"{name}: its labels are of several types: {e}") from e
    if len(values) != table.num_rows:
        raise ValueError(f"{name}: there are {table.num_rows} rows, but {len(values)} labels")
    if column in table.column_names:
        raise ValueError(f"{name}: the features have a column {column!r}, as the labels are called: name these by label=")
    return table.append_column(column, values)
