"""What the values of a matrix are: counts, logarithms of them, or neither."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# Bases of logarithms that programs take: log1p (scanpy, Seurat), log2(1+x), log10(1+x).
_BASES = {"log(1+x)": np.e, "log2(1+x)": 2.0, "log10(1+x)": 10.0}

_MOST_LOG = 25.0  # no logarithm of a count is larger


@dataclass(frozen=True)
class Values:
    """What values are.

    Attributes
    ----------
    words : str
        What is said of them.
    base : float
        They are logarithms of 1+x to this base; 0: they are x.
    scaled : bool
        They are neither, as some are negative: the mean was taken off, or a batch's effect.
    guessed : bool
        Nothing shows that they are what they are taken for: scaled values, whose mean was not taken off, look so too.
    """

    words: str
    base: float = 0
    scaled: bool = False
    guessed: bool = False

    def linear(self, x: Any) -> Any:
        """Turn values into what is proportional to counts within each cell."""
        return x if self.base == 0 else np.expm1(x * np.log(self.base))


def look(rows: Any, where: str) -> Values:
    """Say what the values of some rows are.

    Counts are whole numbers. Where each cell was divided by its total, its values are
    still whole multiples of its smallest one, mostly that of a count of 1; that shows
    normalised counts, and to which base their logarithms were taken, also where genes were
    left out since. Else the totals say it, which normalisation makes alike.

    Parameters
    ----------
    rows : scipy.sparse.csr_array or csr_matrix
        Some cells.
    where : str
        What messages call them.
    """
    x = np.asarray(rows.data, np.float64)
    if not np.isfinite(x).all():
        raise ValueError(f"{where}: has values that are missing or infinite: leave such cells or genes out")
    if not x.any():
        raise ValueError(f"{where}: all values of the cells that were looked at are 0: name a layer with values, as in layer='counts'")
    if x.min() < 0:
        return Values("scaled values (some are negative)", scaled=True)
    if (x == np.rint(x)).all():
        return Values("raw counts")
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    known = {"": x} | {words: np.expm1(np.minimum(x, _MOST_LOG) * np.log(base)) for words, base in _BASES.items()}
    if x.max() > _MOST_LOG:
        known = {"": x}
    whole = {words: _whole(y, owner, rows.shape[0]) for words, y in known.items()}
    best = max(whole, key=lambda words: whole[words])
    if whole[best] < 0.9:
        even = {words: _evenness(y, owner, rows.shape[0]) for words, y in known.items()}
        best = min(even, key=lambda words: even[words])
        if even[best] > 0.01:
            if x.max() > _MOST_LOG:
                return Values("amounts that are no counts")
            return Values("small values of which nothing shows that they are logarithms of counts", _BASES["log(1+x)"], guessed=True)
    totals = np.bincount(owner, known[best])
    totals = totals[totals > 0]
    alike = totals.std() < 0.01 * totals.mean()
    of = f"counts normalised to {totals.mean():,.0f} a cell" if alike else "normalised counts"
    return Values(of if best == "" else f"{best} of {of}", _BASES.get(best, 0))


def _whole(y: Any, owner: Any, rows: int) -> float:
    """How many of the values are whole multiples of the smallest of their cell, of those that are not it: 0 to 1."""
    y, owner = y[y > 0], owner[y > 0]
    least = np.full(rows, np.inf)
    np.minimum.at(least, owner, y)
    ratio = y / least[owner]
    ratio = ratio[(ratio > 1.05) & (ratio < 20)]  # of larger ones rounding leaves nothing
    return float((abs(ratio - np.rint(ratio)) < 0.02).mean()) if len(ratio) >= 20 else 0.0


def _evenness(y: Any, owner: Any, rows: int) -> float:
    """How far the totals of cells differ, as a part of their mean."""
    totals = np.bincount(owner, y, rows)
    return float(totals.std() / totals.mean())
