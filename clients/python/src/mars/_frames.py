"""Tables of other packages to Arrow, and columns back to them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

TAKEN = "pandas, polars, pyarrow, DuckDB, NumPy, torch, or anything with __arrow_c_stream__"


def to_arrow(data: Any, *, name: str = "data") -> pa.Table:
    """Turn a table of any package into an Arrow table.

    Parameters
    ----------
    data : table
        A pandas or polars frame, a pyarrow Table, RecordBatch or RecordBatchReader, a
        DuckDB relation, a NumPy array or torch tensor of one or two dimensions, whose
        columns are called x0, x1, …, or anything with ``__arrow_c_stream__``.
    name : str
        What messages call it.

    Returns
    -------
    pyarrow.Table
        Without the index of a pandas frame.

    Examples
    --------
    >>> import numpy as np
    >>> from mars._frames import to_arrow
    >>> to_arrow(np.zeros((2, 3))).column_names
    ['x0', 'x1', 'x2']
    """
    try:
        table = _convert(data, name)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as e:
        why = ": ".join(map(str, reversed(e.args)))  # pyarrow adds the column's name behind
        raise TypeError(f"{name}: no Arrow table can be made of it: {why}: give the column values of one type, or leave it out") from e
    twice = [column for column, n in Counter(table.column_names).items() if n > 1]
    if twice:
        raise ValueError(f"{name}: several columns are called {', '.join(map(repr, twice))}: give them names of their own")
    return table


def like(data: Any, columns: pa.Table, table: pa.Table | None = None) -> Any:
    """Join columns to a table, in the table's own type.

    Parameters
    ----------
    data : table
        What `to_arrow` takes.
    columns : pyarrow.Table
        Columns to add, a row for each of `data`. One that `data` has is replaced.
    table : pyarrow.Table, optional
        What `to_arrow` gave for `data`. Readers can be read only once, so they need it.

    Returns
    -------
    table
        Of the type of `data`, with the index of a pandas frame. Arrays have no columns of
        text: for NumPy it is a structured array of the new columns alone, for torch a
        dict of them, with tensors where they are numbers. What is not known by its type
        comes back as a pyarrow Table.

    Examples
    --------
    >>> import pandas as pd, pyarrow as pa
    >>> from mars._frames import like
    >>> like(pd.DataFrame({"a": [1, 2]}, index=["r", "s"]), pa.table({"b": [3, 4]}))
       a  b
    r  1  3
    s  2  4
    """
    if _is(data, "pandas", "DataFrame"):
        return _like_pandas(data, columns)
    if _is(data, "numpy", "ndarray"):
        return _structured(columns)
    if _is(data, "torch", "Tensor"):
        return _tensors(columns)
    if _is(data, "polars", "DataFrame", "LazyFrame"):
        import polars

        # The program has read all of a lazy frame, so it comes back as a frame.
        return _collected(data).with_columns(polars.DataFrame(columns).get_columns())
    joined = _join(to_arrow(data) if table is None else table, columns)
    if isinstance(data, pa.RecordBatchReader):
        return joined.to_reader()
    if isinstance(data, pa.RecordBatch):
        return joined.combine_chunks().to_batches()[0] if joined.num_rows else pa.RecordBatch.from_pylist([], joined.schema)
    return same_kind(data)(joined)


def take(data: Any, table: pa.Table, rows: Any) -> tuple[Any, pa.Table]:
    """Some rows of what `to_arrow` takes, by their numbers, and of the Arrow table that it gave."""
    table = table.take(rows)
    if _is(data, "pandas", "DataFrame"):
        return data.iloc[rows.to_pylist()], table
    if _is(data, "polars", "DataFrame", "LazyFrame"):
        return _collected(data)[rows.to_pylist()], table
    return data, table


def is_array(data: Any) -> bool:
    """Whether data are an array without names of its columns."""
    return _is(data, "numpy", "ndarray") or _is(data, "torch", "Tensor")


def is_pandas(data: Any) -> bool:
    """Whether data are a frame of pandas."""
    return _is(data, "pandas", "DataFrame")


def same_kind(data: Any) -> Callable[[pa.Table], Any]:
    """What turns an Arrow table into one of the type of data."""
    if _is(data, "pandas", "DataFrame"):
        return _to_pandas
    if _is(data, "polars", "DataFrame", "LazyFrame"):
        import polars

        return polars.DataFrame
    if _is(data, "duckdb", "DuckDBPyRelation"):
        import duckdb

        return duckdb.from_arrow
    return _itself


def _to_pandas(table: pa.Table) -> Any:
    return table.to_pandas()


def _itself(table: pa.Table) -> pa.Table:
    return table


def _collected(data: Any) -> Any:
    return data.collect() if _is(data, "polars", "LazyFrame") else data


def _is(data: Any, module: str, *names: str) -> bool:
    """Whether data are of a type of a module, or one made from it, without importing it."""
    loaded = sys.modules.get(module)
    return loaded is not None and any(isinstance(data, getattr(loaded, n)) for n in names if hasattr(loaded, n))


def _convert(data: Any, name: str) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if _is(data, "pandas", "DataFrame"):
        return _from_pandas(data, name)
    data = _collected(data)
    if _is(data, "torch", "Tensor"):
        data = data.detach().cpu().numpy()
    if _is(data, "numpy", "ndarray"):
        return _from_array(data, name)
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    if hasattr(data, "__arrow_c_array__"):
        return pa.Table.from_batches([pa.record_batch(data)])
    raise TypeError(f"{name}: {type(data).__module__}.{type(data).__qualname__} is no table: give {TAKEN}")


def _from_pandas(frame: Any, name: str) -> pa.Table:
    if not frame.columns.is_unique:  # pandas numbers them itself otherwise
        twice = [str(c) for c, n in Counter(frame.columns).items() if n > 1]
        raise ValueError(f"{name}: several columns are called {', '.join(map(repr, twice))}: give them names of their own")
    sparse = [str(c) for c, kind in frame.dtypes.items() if str(kind).startswith("Sparse")]
    if sparse:
        raise TypeError(f"{name}: Arrow has no sparse columns, as {', '.join(map(repr, sparse[:3]))}: give frame.sparse.to_dense()")
    return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)


def _from_array(array: Any, name: str) -> pa.Table:
    if array.dtype.names is not None:  # a structured array has names of its own
        return pa.table({n: array[n] for n in array.dtype.names})
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise ValueError(
            f"{name}: an array of {array.ndim} dimensions is no table: give one of two, a row for each object; "
            "images as X.reshape(len(X), -1), with shape='1x28x28'"
        )
    # Columns that are not contiguous are copied by Arrow, one after another: turning all is faster.
    columns = array.T if array.flags.f_contiguous else array.T.copy()
    return pa.table({f"x{i}": column for i, column in enumerate(columns)})


def _join(table: pa.Table, columns: pa.Table) -> pa.Table:
    for column, values in zip(columns.schema, columns.columns):
        at = table.schema.get_field_index(column.name)
        table = table.append_column(column, values) if at < 0 else table.set_column(at, column, values)
    return table


def _like_pandas(frame: Any, columns: pa.Table) -> Any:
    import pandas

    # Whole numbers stay such where some are missing.
    new = columns.to_pandas(integer_object_nulls=True).set_axis(frame.index)
    frame = frame.copy(deep=False)
    if frame.columns.nlevels > 1:
        new.columns = pandas.MultiIndex.from_tuples([(n, *[""] * (frame.columns.nlevels - 1)) for n in new.columns])
    for name in [n for n in new.columns if n in frame.columns]:
        frame[name] = new.pop(name)
    joined = pandas.concat([frame, new], axis=1)
    joined.attrs = frame.attrs
    return joined


def _plain(columns: pa.Table) -> Iterable[tuple[str, Any]]:
    return zip(columns.column_names, columns.columns)


def _structured(columns: pa.Table) -> Any:
    import numpy

    arrays = {name: _array(values) for name, values in _plain(columns)}
    records = numpy.empty(columns.num_rows, [(n, a.dtype, a.shape[1:]) for n, a in arrays.items()])
    for n, a in arrays.items():
        records[n] = a
    return records


def _tensors(columns: pa.Table) -> Any:
    import torch

    arrays = {name: _array(values) for name, values in _plain(columns)}
    return {n: a if a.dtype.kind in "OUSM" else torch.from_numpy(a.copy()) for n, a in arrays.items()}


def _array(values: Any) -> Any:
    """A column as a NumPy array: text of a fixed width, lists of one length as rows."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_fixed_size_list(values.type):
        return _array(values.flatten()).reshape(len(values), values.type.list_size)
    array = values.to_numpy(zero_copy_only=False)
    text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    return array.astype(str) if text and values.null_count == 0 else array
