"""Cells: AnnData objects, .h5ad files and what Cell Ranger writes, on their way to the program and back.

A matrix of cells is read by blocks of rows and stays sparse (`_read`). It is looked at what
its values are (`_values`), and which genes both sides share (`_genes`). Both sides are brought
to one state, and principal components of the source's most variable genes are made of both
(`_components`, `_prepare`): these are the columns that the program labels by. Labels go back
into the object or a copy of its file (`_write`). All of this needs anndata, and what it brings.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict, Union

MATRIX = ("matrix.mtx.gz", "matrix.mtx")  # in a folder of Cell Ranger

_MAGIC = b"\x89HDF\r\n\x1a\n"

# Options that are about columns and files of tables, which cells do not have.
_OF_TABLES = ("columns", "exclude", "categorical", "id", "domain_column", "source_labels", "target_labels", "file_column", "batch_files", "label_from_file")


class CellOptions(TypedDict, total=False):
    """Options for AnnData."""

    obsm: str
    layer: Union[str, tuple[str, str]]
    normalize: bool
    genes: int
    components: int


CELLS: Mapping[str, str] = {
    "obsm": "for AnnData: take the columns of this matrix of .obsm, which has to be of one space in both, instead of genes",
    "layer": "for AnnData: take this layer, 'raw' for .raw or 'X'; a pair: the source's and the target's (default: .X, or what else has counts if .X is scaled)",
    "normalize": "for AnnData: bring both to 10,000 counts a cell and log(1+x), whatever they are; False takes values as they are, such as proteins (default True)",
    "genes": "for AnnData: how many of the genes that vary most in the source to look at (default 2000)",
    "components": "for AnnData: how many principal components of them to make (default 50)",
}


def is_anndata(data: Any) -> bool:
    """Whether data are an AnnData object, without importing its package."""
    loaded = sys.modules.get("anndata")
    return loaded is not None and isinstance(data, getattr(loaded, "AnnData", ()))


def is_cells(data: Any) -> bool:
    """Whether data are AnnData, or the name of a file or folder of cells."""
    if not isinstance(data, (str, os.PathLike)):
        return is_anndata(data)
    path = Path(data)
    if path.suffix == ".h5":
        with contextlib.suppress(OSError), open(path, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    return path.suffix == ".h5ad" or path.is_dir() and any((path / name).is_file() for name in MATRIX)


def given(*sides: Any) -> bool:
    """Whether a source or target are cells."""
    return any(is_cells(side) for side in sides)


def split(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options for cells, and those for the program."""
    for name in _OF_TABLES:
        if options.get(name) is not None:
            raise ValueError(f"{name}: is for tables; of AnnData all genes that both share are looked at, or what obsm= names")
    if options.get("save") is not None or options.get("save_model") is not None:
        raise ValueError("save: a model would know components, and not the genes that they were made of: label all cells in one call")
    rest = {name: value for name, value in options.items() if name not in CELLS}
    own = {name: value for name, value in options.items() if name in CELLS}
    if rest.get("method") == "unmix":
        if own.get("components") is not None:
            raise ValueError("components: with method='unmix' genes are looked at, as components of logarithms do not add up where cells are mixed: leave it out, or give genes=")
        own["mixed"] = True
    return own, rest


def beside(label: str, options: Mapping[str, Any]) -> list[str]:
    """The source's columns of .obs that the program reads beside the labels: of batches, and of levels of classes."""
    levels = options.get("levels") or []
    names = [options.get("batch_column"), *(levels.split(",") if isinstance(levels, str) else levels)]
    return [str(name) for name in names if name is not None and str(name) != label]


def work() -> Any:
    """The module that does the work, which needs anndata."""
    try:
        import anndata  # noqa: F401
    except ImportError as e:
        raise ImportError("AnnData and .h5ad files need the package anndata: pip install anndata") from e
    from mars._cells import _work

    return _work
