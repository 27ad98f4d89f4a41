"""Cells of one side: AnnData in memory, in a file, or what Cell Ranger writes, by blocks of rows."""

from __future__ import annotations

import gzip
import os
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mars._cells import MATRIX, is_cells

T = TypeVar("T")

_BLOCK, _STORED = 1 << 26, 1 << 23  # the most values of a block: with all zeros, and as stored, if rows store equally many
_SOME, _SLICES = 2_000, 8  # cells that are looked at first, and in how many places


class Cells:
    """Cells of one side, with what is known of them.

    Parameters
    ----------
    data : AnnData or path
        What `is_cells` recognises.
    role : str
        What messages call it: source or target.

    Attributes
    ----------
    obs : pandas.DataFrame
        A row a cell, with its name as index.
    path : pathlib.Path or None
        The file, if it is one of AnnData.
    object : AnnData or None
        The object, if it is in memory.
    """

    def __init__(self, data: Any, role: str) -> None:
        if not is_cells(data):
            raise TypeError(f"{role}: is no AnnData, and the other side is: give two AnnData objects or .h5ad files, as in adata[adata.obs['donor'] == 'd1']")
        self.role = role
        self.path: Path | None = None
        self.object: Any = None
        self._file: Any = None
        if isinstance(data, (str, os.PathLike)):
            self._open(Path(data))
        elif data.isbacked:
            raise ValueError(f"{role}: is backed by a file: give its name, {role}={str(data.filename)!r}, or {role}.to_memory()")
        else:
            self.object, self.obs = data, data.obs
        if not len(self.obs):
            raise ValueError(f"{role}: has no cells")

    def _open(self, path: Path) -> None:
        if not path.exists():
            raise FileNotFoundError(f"{self.role}: there is no file {os.fspath(path)!r}")
        if path.suffix != ".h5ad":
            self.object = _ten_x(path, self.role)
            self.obs = self.object.obs
            return
        import h5py

        try:
            self._file = h5py.File(path, "r")
        except OSError as e:
            raise ValueError(f"{self.role}: {path}: cannot be read as HDF5, which .h5ad files are: {e}") from e
        self.path = path
        if not isinstance(self._file.get("obs"), h5py.Group) or not isinstance(self._file.get("var"), h5py.Group):
            raise ValueError(f"{self.role}: {path}: has no tables obs and var as anndata 0.7 and later write them: read it and write it again with anndata")
        self.obs = _element(self._file["obs"])

    def __enter__(self) -> Cells:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def column(self, name: str) -> Any:
        """A column of .obs."""
        if name not in self.obs.columns:
            raise ValueError(f"{self.role}: .obs has no column {name!r} (its columns are {', '.join(map(str, self.obs.columns))})")
        return self.obs[name]

    @property
    def matrices(self) -> list[str]:
        """Names of the matrices that there are: X, layers, and raw."""
        if self.object is not None:
            there = [*(["X"] if self.object.X is not None else []), *self.object.layers]
            return [*there, *(["raw"] if self.object.raw is not None else [])]
        f = self._file
        return [*(["X"] if "X" in f else []), *f.get("layers", ()), *(["raw"] if "raw" in f and "X" in f["raw"] else [])]

    def matrix(self, name: str) -> tuple[Any, Any]:
        """A matrix by its name, and the table .var of its genes."""
        if name not in self.matrices:
            raise ValueError(f"{self.role}: has no layer {name!r} (it has {', '.join(self.matrices) or 'no matrix'})")
        if self.object is not None:
            a = self.object
            of = a.raw if name == "raw" and name not in a.layers else a
            x = a.layers[name] if name in a.layers else of.X
            return _InMemory(x, f"{self.role}: {name}"), of.var
        f = self._file
        layered = name in f.get("layers", ())
        of = f["raw"] if name == "raw" and not layered else f
        return _on_disk(f["layers"][name] if layered else of["X"], f"{self.role}: {name}"), _element(of["var"])

    def embedding(self, name: str) -> Any:
        """A matrix of .obsm, of n×k."""
        there = list(self.object.obsm) if self.object is not None else list(self._file.get("obsm", ()))
        if name not in there:
            raise ValueError(f"{self.role}: .obsm has no {name!r} (it has {', '.join(there) or 'nothing'})")
        x = self.object.obsm[name] if self.object is not None else _element(self._file["obsm"][name])
        return np.asarray(x.toarray() if hasattr(x, "toarray") else x, np.float32)

    def loadings(self) -> Any:
        """What scanpy keeps of its principal components, as a frame by gene; None if there is nothing."""
        import pandas as pd

        varm = self.object.varm if self.object is not None else self._file.get("varm", {})
        if "PCs" not in varm:
            return None
        x, var = (varm["PCs"], self.object.var) if self.object is not None else (_element(varm["PCs"]), _element(self._file["var"]))
        return pd.DataFrame(np.asarray(x), index=var.index)

    def colours(self, label: str) -> Any:
        """The colours that scanpy keeps for the categories of a column; None if there are none."""
        name = f"{label}_colors"
        if self.object is not None:
            return self.object.uns.get(name)
        uns = self._file.get("uns", {})
        return _element(uns[name]) if name in uns else None


def _element(stored: Any) -> Any:
    """Something that anndata has written."""
    try:
        from anndata.io import read_elem
    except ImportError:  # before 0.11
        from anndata.experimental import read_elem
    return read_elem(stored)


class _Rows:
    """A matrix of n×G by blocks of rows."""

    shape: tuple[int, int]
    stored: int  # values; a dense matrix stores its zeros too
    where: str

    def rows(self, start: int, stop: int) -> Any:
        """Rows as a scipy.sparse.csr_array of floats."""
        raise NotImplementedError

    def blocks(self) -> Iterator[Any]:
        """All rows in order."""
        step = max(1, min(_BLOCK // max(1, self.shape[1]), _STORED * self.shape[0] // max(1, self.stored)))
        for start in range(0, self.shape[0], step):
            yield self.rows(start, min(start + step, self.shape[0]))

    def some(self) -> Any:
        """Rows from several places."""
        from scipy.sparse import vstack

        n, size = self.shape[0], _SOME // _SLICES
        if n <= _SOME:
            return self.rows(0, n)
        return vstack([self.rows(at, at + size) for at in np.linspace(0, n - size, _SLICES).astype(int).tolist()], format="csr")


class _InMemory(_Rows):
    def __init__(self, x: Any, where: str) -> None:
        from scipy.sparse import issparse

        if not issparse(x) and not isinstance(x, np.ndarray):
            raise TypeError(f"{where}: is a {type(x).__module__}.{type(x).__qualname__}: give a NumPy array or a sparse matrix of SciPy")
        self._x, self.shape, self.where = x.tocsr() if issparse(x) else x, x.shape, where
        self.stored = x.nnz if issparse(x) else x.size

    def rows(self, start: int, stop: int) -> Any:
        return _sparse(self._x[start:stop])


class _Sparse(_Rows):
    """A matrix in a file, whose rows lie behind one another."""

    def __init__(self, group: Any, where: str) -> None:
        self._data, self._indices, self._starts = group["data"], group["indices"], group["indptr"][:]
        self.shape, self.stored, self.where = (len(self._starts) - 1, int(group.attrs["shape"][1])), len(self._data), where

    def rows(self, start: int, stop: int) -> Any:
        from scipy.sparse import csr_array

        a, b = int(self._starts[start]), int(self._starts[stop])
        data = self._data[a:b]
        part = (data.astype(np.float32) if data.dtype == np.float16 else data, self._indices[a:b], self._starts[start : stop + 1] - a)
        return _sparse(csr_array(part, shape=(stop - start, self.shape[1])))


class _Dense(_Rows):
    """A matrix in a file with all its values."""

    def __init__(self, dataset: Any, where: str) -> None:
        self._x, self.shape, self.stored, self.where = dataset, dataset.shape, dataset.size, where

    def rows(self, start: int, stop: int) -> Any:
        return _sparse(self._x[start:stop])


def _on_disk(stored: Any, where: str) -> _Rows:
    kind = stored.attrs.get("encoding-type", "array")
    if kind == "csr_matrix":
        return _Sparse(stored, where)
    if kind == "csc_matrix":  # its rows are all over the file: it is read whole, as it is there
        return _InMemory(_element(stored), where)
    if kind == "array" and getattr(stored, "ndim", 0) == 2:
        return _Dense(stored, where)
    raise ValueError(f"{where}: is no matrix ({kind}): read the file and write it again with anndata")


def _sparse(x: Any) -> Any:
    """Rows as floats, whose zeros are left out."""
    from scipy.sparse import csr_array

    if x.dtype not in (np.float32, np.float64):
        x = x.astype(np.float32 if x.dtype.itemsize <= 2 or x.dtype == np.int32 else np.float64)
    x = csr_array(x)
    x.sum_duplicates()
    x.eliminate_zeros()
    return x


def _ten_x(path: Path, role: str) -> Any:
    """What Cell Ranger writes, a folder or a file .h5, as AnnData of its genes."""
    import anndata
    import pandas as pd

    x, cells, ids, names, kinds = _folder(path) if path.is_dir() else _feature_file(path, role)
    genes = np.array([k in ("", "Gene Expression") for k in kinds])
    if x.shape != (len(cells), len(genes)):
        raise ValueError(
            f"{role}: {path}: the matrix has {x.shape[0]:,} cells and {x.shape[1]:,} features, and the names are of {len(cells):,} and {len(genes):,}: "
            "the files are not of one run"
        )
    var = pd.DataFrame({"gene_ids": ids}, index=names)[genes]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a = anndata.AnnData(x[:, genes], obs=pd.DataFrame(index=cells), var=var)
        a.var_names_make_unique()
    return a


def _folder(path: Path) -> tuple[Any, list[str], list[str], list[str], list[str]]:
    from scipy.io import mmread

    matrix = next(path / name for name in MATRIX if (path / name).is_file())
    features = [line.split("\t") for line in _lines(path, "features.tsv", "genes.tsv")]
    x = _whole(matrix, lambda: mmread(matrix).T.tocsr())
    column = [[f[min(i, len(f) - 1)] if i < 2 else f[2] if len(f) > 2 else "" for f in features] for i in range(3)]
    return x, [line.split("\t")[0] for line in _lines(path, "barcodes.tsv")], column[0], column[1], column[2]


def _whole(path: Path, read: Callable[[], T]) -> T:
    """What is read of a file, or an error that names it: copies of such folders are often cut off."""
    try:
        return read()
    except (EOFError, OSError, ValueError, zlib.error) as e:
        raise ValueError(f"{path}: is cut off or damaged: {e}: copy or download it again") from e


def _lines(folder: Path, *names: str) -> list[str]:
    for name in names:
        for path, opened in ((folder / f"{name}.gz", gzip.open), (folder / name, open)):
            if path.is_file():
                with opened(path, "rt", encoding="utf-8") as file:
                    return _whole(path, lambda: file.read().splitlines())
    raise FileNotFoundError(f"{folder}: has a matrix, but no {names[0]}.gz beside it")


def _feature_file(path: Path, role: str) -> tuple[Any, list[str], list[str], list[str], list[str]]:
    import h5py
    from scipy.sparse import csr_matrix

    with h5py.File(path, "r") as file:
        m = file.get("matrix")
        if m is None or "features" not in m:
            raise ValueError(f"{role}: {path}: is HDF5, but no feature-barcode matrix of Cell Ranger 3 or later: give a .h5ad file")
        features, cells = int(m["shape"][0]), int(m["shape"][1])  # columns are cells
        x = csr_matrix((m["data"][:], m["indices"][:], m["indptr"][:]), shape=(cells, features))
        texts = [m["barcodes"], m["features/id"], m["features/name"], m["features/feature_type"]]
        barcodes, ids, names, kinds = ([t.decode() for t in text[:]] for text in texts)
    return x, barcodes, ids, names, kinds
