"""Which genes two objects share, and which of them vary most."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

# Columns of .var that programs keep other names of genes in.
_OTHER_NAMES = (
    *("gene_ids", "gene_id", "ensembl_id", "ensembl", "feature_id", "id"),
    *("feature_name", "gene_symbols", "gene_symbol", "gene_name", "gene_names", "gene_short_name", "symbol", "name"),
)

_VERSION = re.compile(r"^(ENS[A-Z]*[GTP]\d{6,})\.\d+$")

_FEWEST_PART, _FEWEST = 0.1, 50

_CHANCE, _MOST_TELLING = 0.01, 5


def names_of(var: Any) -> dict[str, list[str]]:
    """The names of genes that an object has: those of .var_names first, then columns of .var."""
    found = {"var_names": [str(n) for n in var.index]}
    for column in _OTHER_NAMES:
        if column in var.columns:
            found[f"var[{column!r}]"] = [str(n) for n in var[column]]
    return found


def match(source: Mapping[str, list[str]], target: Mapping[str, list[str]]) -> tuple[Any, Any, str]:
    """Find the genes that two objects share.

    Names match as they are, without the version of an Ensembl identifier, and then in upper
    or lower case where that is unambiguous. Names that a side has more than once match
    nothing. Of several kinds of names the pair with the most shared genes is taken.

    Parameters
    ----------
    source, target : mapping of str to list of str
        Names of all genes in order, by where they are from.

    Returns
    -------
    array, array
        The places of the shared genes in the source, in order, and in the target.
    str
        What was found, in words.
    """
    pairs = [(s, t, *_match(source[s], target[t])) for s in source for t in target]
    s, t, left, right, cased = max(pairs, key=lambda pair: len(pair[2]))  # the first of equals
    n, m = len(source[s]), len(target[t])
    if len(left) < min(_FEWEST_PART * min(n, m), _FEWEST) or not len(left):
        raise ValueError(
            f"target: has {len(left):,} of the source's {n:,} genes: the source's are called {_some(source['var_names'])}, the target's {_some(target['var_names'])}: "
            "give both names of one kind (.var_names), of one species"
        )
    by = "" if s == t == "var_names" else f", by the source's {s} and the target's {t}"
    case = f", {cased:,} of them in other upper or lower case" if cased else ""
    return left, right, f"the target has {len(left):,} of the source's {n:,} genes{case}, and {m - len(left):,} others{by}"


def _match(source: list[str], target: list[str]) -> tuple[Any, Any, int]:
    there, mine = (_places([_VERSION.sub(r"\1", n) for n in names]) for names in (target, source))
    found = {i: there[n] for n, i in mine.items() if n in there}
    exact, taken = len(found), set(found.values())
    folded = _places([n.casefold() for n in there])
    places, others = list(mine.values()), list(there.values())
    for n, k in _places([n.casefold() for n in mine]).items():
        if places[k] not in found and n in folded and others[folded[n]] not in taken:
            found[places[k]] = others[folded[n]]
    left = np.array(sorted(found), np.int64)
    return left, np.array([found[i] for i in left.tolist()], np.int64), len(found) - exact


def _places(names: list[str]) -> dict[str, int]:
    """The places of names that are there once."""
    often = Counter(names)
    return {n: i for i, n in enumerate(names) if often[n] == 1}


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + ("" if len(names) <= 3 else ", …")


def most_variable(sums: Any, squares: Any, cells: int, n: int) -> Any:
    """Choose genes whose dispersion is high for their mean.

    This is the flavour "seurat" of scanpy's highly_variable_genes (Satija et al. 2015): the
    logarithm of variance over mean, standardised within 20 bins of the mean's logarithm.

    Parameters
    ----------
    sums, squares : array of G
        Sums over the cells of each gene's normalised counts, and of their squares.
    cells : int
        How many cells there are.
    n : int
        How many genes to choose.

    Returns
    -------
    array of int
        The places of the chosen genes, in order.
    """
    import pandas as pd

    mean = sums / cells
    variance = np.maximum(squares / cells - mean**2, 0) * (cells / max(cells - 1, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = variance / np.where(mean == 0, 1e-12, mean)
        dispersion = np.log(np.where(ratio == 0, np.nan, ratio))
    bins = pd.Series(dispersion).groupby(pd.cut(np.log1p(mean), 20), observed=True)
    centre, spread = bins.transform("mean"), bins.transform("std")
    alone = spread.isna()  # a bin of one gene: scanpy gives it 1
    spread, centre = spread.where(~alone, centre), centre.where(~alone, 0)
    score = ((dispersion - centre) / spread).to_numpy()
    order = np.argsort(-np.where(np.isnan(score), -np.inf, score), kind="stable")
    return np.sort(order[: min(n, int((mean > 0).sum()))])


def of_most_variance(sums: Any, squares: Any, cells: int, n: int) -> Any:
    """Choose the columns of the largest variance, for values that are no counts."""
    variance = squares / cells - (sums / cells) ** 2
    return np.sort(np.argsort(-variance, kind="stable")[:n])


def telling(names: list[str], blocks: Iterable[Any], these: Any, others: Any) -> tuple[list[str], list[str]]:
    """Choose the genes that are higher, and those that are lower, in some cells than in others.

    They are at most five each, by the t of Welch, which has to be larger than chance makes that of any gene.

    Parameters
    ----------
    names : list of str
        The G genes.
    blocks : iterable of scipy.sparse.csr_array of n×G
        Values of all cells.
    these, others : array of bool
        Which cells are compared.
    """
    sums, squares = np.zeros((2, len(names))), np.zeros((2, len(names)))
    at = 0
    for x in blocks:
        for k, cells in enumerate((these, others)):
            part = x[np.flatnonzero(cells[at : at + x.shape[0]])]
            sums[k] += np.asarray(part.sum(axis=0)).ravel()
            squares[k] += np.bincount(part.indices, part.data.astype(np.float64) ** 2, len(names))
        at += x.shape[0]
    n = np.array([[these.sum()], [others.sum()]])
    if n.min() < 3:
        return [], []
    mean = sums / n
    variance = np.maximum(squares / n - mean**2, 0).T @ (1 / (n - 1)).ravel()
    t = np.divide(mean[0] - mean[1], np.sqrt(variance), out=np.zeros(len(names)), where=variance > 0)
    order = np.argsort(-t, kind="stable")
    least = np.sqrt(2 * np.log(2 * len(names) / _CHANCE))
    higher, lower = ([names[j] for j in way[:_MOST_TELLING] if abs(t[j]) > least and (t[j] > 0) == up] for way, up in ((order, True), (order[::-1], False)))
    return higher, lower
