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
        if value is not None:
            found += [f"--{name.replace('_', '-')}{text}" for text in _values(name, value)]
    return found


def _values(name: str, value: Any) -> list[str]:
    """What follows a flag's name, once for each time that it is given."""
    if isinstance(value, (bool,)) or type(value).__name__ == "bool":
        if name == "cached":
            return [""] if value else []
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
    """

    def __init__(self, identity: str | None = None, columns: Any = None) -> None:
        self.flags: list[str] = []
        self.tables: dict[str, pa.Table] = {}
        self.originals: dict[str, pa.Table] = {}
        self.labels: Any = None
        self._identity = identity
        self._columns = [columns] if isinstance(columns, str) else list(columns or [])

    def add(self, name: str, data: Any, label: Hashable = None) -> None:
        """Add a source or a target; a source may be a pair of features and labels."""
        if is_path(data):
            paths = [data] if isinstance(data, (str, os.PathLike)) else data
            self.flags += [f"--{name}={os.fspath(path)}" for path in paths]
            return
        if label is not None and isinstance(data, (tuple, list)) and len(data) == 2:
            table = with_column(to_arrow(data[0], name=name), str(label), data[1], name)
        else:
            table = to_arrow(data, name=name)
        self.originals[name] = table
        if label is not None and str(label) in table.column_names:
            self.labels = table[str(label)]
        self.tables[name] = _decoded(self._without_identity(table, name))

    def _without_identity(self, table: pa.Table, name: str) -> pa.Table:
        """A table without names of its rows: they come back in their order and by their number, and need not be unique."""
        identity = self._identity or "id"
        if identity in self._columns:
            return table
        if identity in table.column_names:
            return table.drop_columns([identity])
        if self._identity is not None and name == "target":
            raise ValueError(f"{name}: has no column {identity!r} (its columns are {', '.join(table.column_names)})")
        return table


def _decoded(table: pa.Table) -> pa.Table:
    """A table whose categories, where they are no text, are the values that they stand for."""
    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type) and not _is_text(field.type.value_type):
            table = table.set_column(i, field.name, table.column(i).cast(field.type.value_type))
    return table


def _is_text(kind: Any) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view"


def with_column(table: pa.Table, column: str, values: Any, name: str) -> pa.Table:
    """A table with a column of its own, such as labels that are apart from the features."""
    if hasattr(values, "detach"):  # a tensor
        values = values.detach().cpu().numpy()
    if not isinstance(values, (pa.Array, pa.ChunkedArray)):
        values = values.to_arrow() if hasattr(values, "to_arrow") else pa.array(values, from_pandas=True)
    if len(values) != table.num_rows:
        raise ValueError(f"{name}: there are {table.num_rows} rows, but {len(values)} labels")
    if column in table.column_names:
        raise ValueError(f"{name}: the features have a column {column!r}, as the labels are called: name these by label=")
    return table.append_column(column, values)
