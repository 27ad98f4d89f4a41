"""Principal components of the genes that vary most, learnt on the source by blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

TOTAL = 1e4  # what each cell's counts are brought to


def normalised(block: Any, places: Any) -> Any:
    """Bring each cell's values of some genes to one total.

    Parameters
    ----------
    block : scipy.sparse.csr_array of n×G
        Values that are proportional to counts.
    places : array of g
        The genes.

    Returns
    -------
    scipy.sparse.csr_array of n×g
    """
    x = block[:, places] if len(places) < block.shape[1] or (places != np.arange(len(places))).any() else block.copy()
    totals = np.asarray(x.sum(axis=1)).ravel()
    factors = np.divide(TOTAL, totals, out=np.zeros_like(totals), where=totals > 0)
    x.data *= np.repeat(factors, np.diff(x.indptr))
    return x


class Moments(NamedTuple):
    """Sums of each gene's values (G) and of their squares, the number of cells, and of those without any value."""

    sums: Any
    squares: Any
    cells: int
    empty: int


def moments(blocks: Iterable[Any], genes: int) -> Moments:
    """Add them up over blocks of n×G."""
    sums, squares, cells, empty = np.zeros(genes), np.zeros(genes), 0, 0
    for x in blocks:
        sums += np.bincount(x.indices, x.data, genes)
        squares += np.bincount(x.indices, x.data.astype(np.float64) ** 2, genes)
        cells += x.shape[0]
        empty += int((np.diff(x.indptr) == 0).sum())
    return Moments(sums, squares, cells, empty)


@dataclass(frozen=True)
class Components:
    """Directions in which a source's cells vary most.

    Attributes
    ----------
    loadings : array of g×k
        A direction a column, over the genes.
    mean : array of k
        The mean of the source's cells along them.
    """

    loadings: Any
    mean: Any

    def of(self, x: Any) -> Any:
        """The coordinates of cells (n×g), as n×k of float32."""
        return np.asarray(x @ self.loadings, np.float32) - self.mean


def learn(blocks: Iterable[Any], genes: int, components: int) -> Components:
    """Learn principal components from blocks of cells.

    They are exact: eigenvectors of the covariance, of which blocks are a sum, so that no
    more than a block and a matrix of g×g are in memory.

    Parameters
    ----------
    blocks : iterable of n×g
        Cells, in blocks.
    genes, components : int
        Their g, and how many directions to find.
    """
    from scipy.linalg import eigh

    products, sums, cells = np.zeros((genes, genes)), np.zeros(genes), 0
    for x in blocks:
        dense = np.ascontiguousarray(x.toarray() if hasattr(x, "toarray") else x, np.float32)
        products += dense.T @ dense
        sums += dense.sum(axis=0, dtype=np.float64)
        cells += len(dense)
    mean = sums / cells
    covariance = products / cells - np.outer(mean, mean)
    k = min(components, genes, cells)
    _, vectors = eigh(covariance, subset_by_index=[genes - k, genes - 1])
    vectors = vectors[:, ::-1]
    # The sign of an eigenvector says nothing: the largest loading is positive, so that all machines agree.
    vectors = vectors * np.sign(vectors[abs(vectors).argmax(axis=0), np.arange(k)])
    return Components(np.ascontiguousarray(vectors, np.float32), (mean @ vectors).astype(np.float32))
