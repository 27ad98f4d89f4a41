"""Labels into AnnData, in memory and in files."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mars._cells._read import Cells

UNS = "mars"


@dataclass(frozen=True)
class Labels:
    """What is new of the target's cells.

    Attributes
    ----------
    obs : pandas.DataFrame
        Columns for .obs, a row a cell.
    obsm, uns : dict
        What to add to these.
    """

    obs: Any
    obsm: dict[str, Any]
    uns: dict[str, Any]


def labelled(target: Cells, labels: Labels) -> Any:
    """AnnData with labels, and with the target's own matrices, which are not copied."""
    import anndata

    a = target.object
    obs = a.obs.copy()
    for name in labels.obs.columns:
        obs[name] = labels.obs[name].array
    same = {name: dict(getattr(a, name)) for name in ("layers", "varm", "obsp", "varp")}
    new = anndata.AnnData(X=a.X, obs=obs, var=a.var, uns={**a.uns, **labels.uns}, obsm={**a.obsm, **labels.obsm}, **same)
    if a.raw is not None:
        new.raw = a.raw.to_adata()
    return new


def write(target: Cells, output: Path, labels: Labels) -> None:
    """Write the target with labels to a file: its own file, copied, with what is new added, so that all else stays as it was."""
    with _whole(output) as path:
        if target.path is None:
            labelled(target, labels).write_h5ad(path)
            return
        import h5py

        shutil.copyfile(target.path, path)
        with h5py.File(path, "r+") as file:
            obs = file["obs"]
            for name in labels.obs.columns:
                _put(obs, name, labels.obs[name].array)
            obs.attrs["column-order"] = [*obs.attrs["column-order"], *labels.obs.columns]
            for group, new in (("obsm", labels.obsm), ("uns", labels.uns)):
                if group not in file:
                    _put(file, group, {})
                for name, value in new.items():
                    _put(file[group], name, value)


def _put(group: Any, name: str, value: Any) -> None:
    try:
        from anndata.io import write_elem
    except ImportError:  # before 0.11
        from anndata.experimental import write_elem
    if hasattr(value, "dtype") and hasattr(value, "to_numpy") and value.dtype.kind == "f":
        value = value.to_numpy()
    write_elem(group, name, value)


@contextlib.contextmanager
def _whole(output: Path) -> Iterator[Path]:
    """A file that gets its name once it is whole."""
    handle, name = tempfile.mkstemp(prefix=f".{output.name}.", suffix=".part", dir=output.parent)
    os.close(handle)
    try:
        yield Path(name)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        with open(name, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(name, output)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
