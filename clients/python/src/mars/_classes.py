"""Names of classes as the labels that they were."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def restore(names: Any, labels: Any) -> Any:
    """Turn names of classes into values of the type of the labels that they come from.

    Parameters
    ----------
    names : pyarrow.Array or pyarrow.ChunkedArray
        Names as the program writes them.
    labels : pyarrow.ChunkedArray or None
        The source's labels. None leaves the names as they are.

    Returns
    -------
    pyarrow.Array or pyarrow.ChunkedArray
        Whole numbers, truth values or categories, if the labels are such, else text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from mars._classes import restore
    >>> restore(pa.array(["true", "false"]), pa.chunked_array([[True, False]])).to_pylist()
    [True, False]
    """
    if labels is None:
        return names
    kind = labels.type
    if pa.types.is_dictionary(kind):
        dictionary = labels.combine_chunks().dictionary if labels.num_chunks else pa.array([], kind.value_type)
        if isinstance(dictionary, pa.ChunkedArray):
            dictionary = dictionary.combine_chunks()
        if str(dictionary.type) == "string_view":  # which older versions of pyarrow cannot cast
            dictionary = pa.array(dictionary.to_pylist(), pa.string())
        codes = pc.index_in(_flat(names), value_set=dictionary.cast(pa.string()))
        if codes.null_count > names.null_count:  # such as "unknown", which is no category
            return names
        return pa.DictionaryArray.from_arrays(codes, dictionary, ordered=kind.ordered)
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        try:
            return names.cast(kind)
        except pa.ArrowInvalid:  # "unknown" again
            return names
    return names


def _flat(values: Any) -> Any:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
