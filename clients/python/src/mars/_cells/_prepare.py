"""From cells to the columns that the program labels by."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from mars._cells import _components, _genes
from mars._cells._read import Cells
from mars._cells._values import Values, look
from mars._process import MarsWarning, caller_depth
from mars._progress import Display, Progress

_log = logging.getLogger("mars")

# Where counts may be, if .X has none that can be used.
_ELSEWHERE = ("counts", "raw_counts", "raw")


_DEFAULTS = {"genes": 2000, "components": 50}


class Inputs:
    """Source and target as the program reads them: what `mars._command.Inputs` is for tables.

    Parameters
    ----------
    source, target : Cells
        The two sides.
    label : str
        The source's column of labels.
    options : mapping of str to object
        Those of `CELLS`, and `mixed`: whether rows are mixtures, of which genes have to be seen as they add up.
    columns : sequence of str
        Further columns of the source's .obs that the program reads: see `beside`.
    progress : bool or callable, optional
        Who is told what was found.
    named : bool
        Whether rows have their cell's name as id.

    Attributes
    ----------
    said : list of str
        What was found.
    genes : callable or None
        What tells groups of the target's cells apart; None where no genes are looked at.
    """

    numbered = True

    def __init__(self, source: Cells, target: Cells, label: str, options: Mapping[str, Any], columns: Sequence[str], progress: Progress = None, named: bool = False) -> None:
        self.flags: list[str] = []
        self.said: list[str] = []
        self.genes: Callable[[Any, Any], tuple[list[str], list[str]]] | None = None
        self._display = Display(progress)
        labels = source.column(label)
        self.labels: Any = pa.chunked_array([_arrow(labels)])
        # No values of .obs are needed for what becomes of its rows.
        nothing = pa.nulls(len(target.obs))
        self.originals = {"target": pa.table({name: nothing for name in map(str, target.obs.columns)} or {label: nothing})}
        beside = {"source": {label: labels}, "target": {label: target.obs[label]} if label in target.obs.columns else {}}
        beside["source"] |= {name: source.column(name) for name in columns}
        if named:
            beside["source"]["id"], beside["target"]["id"] = source.obs.index, target.obs.index
        if options.get("obsm") is not None:
            sides = self._embedded(source, target, options["obsm"])
        else:
            sides = self._projected(source, target, {**_DEFAULTS, **{k: v for k, v in options.items() if v is not None}})
        self.tables: dict[str, Any] = {name: _reader(*sides[name], beside[name]) for name in ("source", "target")}

    def say(self, text: str) -> None:
        self.said.append(text)
        _log.info("%s", text)
        self._display.line(text)

    def warn(self, text: str) -> None:
        self.said.append(text)
        _log.warning("%s", text)
        warnings.warn(text, MarsWarning, stacklevel=caller_depth())

    def _embedded(self, source: Cells, target: Cells, name: str) -> dict[str, tuple[Iterator[Any], list[str]]]:
        x, y = source.embedding(name), target.embedding(name)
        if x.shape[1] != y.shape[1]:
            raise ValueError(
                f"obsm: {name} has {x.shape[1]} columns in the source and {y.shape[1]} in the target: they are of two spaces; "
                "leave obsm out, and components are made that both share"
            )
        if name == "X_pca":
            a, b = source.loadings(), target.loadings()
            if a is not None and b is not None and not _one_space(a, b):
                raise ValueError(
                    "obsm: X_pca was made of each object by itself (.varm['PCs'] differ), so that its columns mean other things in each: "
                    "leave obsm out, and components are made that both share, or project the target onto the source's"
                )
        self.say(f"the {x.shape[1]} columns of .obsm[{name!r}] are taken as they are: they have to be of one space")
        names = [f"{name}_{i + 1}" for i in range(x.shape[1])]
        return {"source": (iter([x]), names), "target": (iter([y]), names)}

    def _projected(self, source: Cells, target: Cells, options: Mapping[str, Any]) -> dict[str, tuple[Iterator[Any], list[str]]]:
        genes, components, normalize = int(options["genes"]), int(options["components"]), bool(options.get("normalize", True))
        if not 2 <= genes <= 10_000 or not 1 <= components <= genes:
            raise ValueError(f"genes={genes}, components={components}: give up to 10,000 genes, and no more components than genes")
        layers = options.get("layer")
        pair = layers if isinstance(layers, (tuple, list)) else (layers, layers)
        x, y = self._matrix(source, pair[0], normalize), self._matrix(target, pair[1], normalize)
        x.adding = y.adding = bool(options.get("mixed"))
        x.places, y.places, words = _genes.match(_genes.names_of(x.var), _genes.names_of(y.var))
        (self.warn if 2 * len(x.places) < min(len(x.var), len(y.var)) else self.say)(words)
        moments = _components.moments(x.blocks(), len(x.places))
        chosen = (_genes.most_variable if normalize else _genes.of_most_variance)(moments.sums, moments.squares, moments.cells, genes)
        if moments.empty:
            self.warn(f"{moments.empty:,} of the source's {moments.cells:,} cells have no count of a gene that both share")
        if normalize:
            self.say(f"both were brought to {_components.TOTAL:,.0f} counts a cell of the shared genes" + ("" if x.adding else ", and log(1+x)"))
        self.genes = lambda these, others: _genes.telling([str(n) for n in y.var.index[y.places[chosen]]], (part for part, _ in y.parts(chosen)), these, others)
        of = f"the {len(chosen):,} genes that vary most in the source" if len(chosen) < len(x.places) else f"all {len(chosen):,} genes"
        if len(chosen) <= components or x.adding:
            self.say(f"{of} are looked at")
            names = [str(n) for n in x.var.index[x.places[chosen]]]
            return {"source": (x.dense(chosen), names), "target": (y.dense(chosen), names)}
        learnt = _components.learn((part for part, _ in x.parts(chosen)), len(chosen), components)
        names = [f"PC{i + 1}" for i in range(learnt.loadings.shape[1])]
        self.say(f"{len(names)} principal components of {of} are looked at, learnt on the source")
        return {"source": (x.dense(chosen, learnt.of), names), "target": (y.dense(chosen, learnt.of), names)}

    def _matrix(self, cells: Cells, layer: str | None, normalize: bool) -> _Side:
        """The matrix of a side that can be used."""
        there = cells.matrices
        candidates = [layer] if layer is not None else [n for n in ("X", *_ELSEWHERE) if n in there] if normalize else ["X"]
        found: list[str] = []
        guess: tuple[_Side, str] | None = None
        for name in candidates:
            x, var = cells.matrix(name)
            called = {"X": ".X", "raw": ".raw"}.get(name, f"layer {name!r}")
            if not normalize:
                self.say(f"{cells.role}: {called} is taken as it is")
                return _Side(x, var, None)
            values = look(x.some(), f"{cells.role}: {called}")
            found.append(f"{called} has {values.words}")
            if values.guessed:
                guess = guess or (_Side(x, var, values), called)
            elif not values.scaled:
                self.say(f"{cells.role}: {', so that it is not taken; '.join(found)}")
                return _Side(x, var, values)
        if guess is not None:
            side, called = guess
            self.warn(f"{cells.role}: {'; '.join(found)}: {called} is taken for log(1+x): if it is not, name a layer with counts, as in layer='counts'")
            return side
        raise ValueError(
            f"{cells.role}: {'; '.join(found) or 'has no matrix'}, which cannot be brought to the other side's state (it has {', '.join(there) or 'no matrix'}): "
            "name a layer with counts, as in layer='counts', or values that both share, as in obsm='X_scVI'; "
            "normalize=False takes values as they are, if both were made in one go or are proteins"
        )


class _Side:
    """The matrix of a side, its genes, and what its values are; None: they are taken as they are."""

    def __init__(self, matrix: Any, var: Any, values: Values | None) -> None:
        self.matrix, self.var, self._values = matrix, var, values
        self.places: Any = None  # of the shared genes
        self.adding = False  # no logarithms are taken

    def blocks(self) -> Iterator[Any]:
        """Blocks of cells, with normalised counts of the shared genes."""
        for block in self.matrix.blocks():
            if self._values is None:
                yield block[:, self.places]
                continue
            block.data = self._values.linear(block.data)
            if not np.isfinite(block.data).all() or (block.data < 0).any():
                raise ValueError(f"{self.matrix.where}: has values that are negative, missing or infinite: leave such cells out, or name another layer by layer=")
            yield _components.normalised(block, self.places)

    def parts(self, chosen: Any) -> Iterator[tuple[Any, Any]]:
        """Blocks of chosen genes, as logarithms unless they have to add up, and in which cells nothing was counted."""
        for block in self.blocks():
            part = block[:, chosen]
            if self._values is not None and not self.adding:
                part.data = np.log1p(part.data)
            yield part, np.diff(block.indptr) == 0

    def dense(self, chosen: Any, project: Callable[[Any], Any] | None = None) -> Iterator[Any]:
        """Blocks of float32. A cell in which nothing was counted has no values, and gets no label."""
        for part, nothing in self.parts(chosen):
            x = project(part) if project is not None else np.asarray(part.toarray(), np.float32)
            if self._values is not None:
                x[nothing] = np.nan
            yield x


def _one_space(a: Any, b: Any) -> bool:
    """Whether loadings agree for the genes that both know."""
    both = a.index.intersection(b.index)
    if a.shape[1] != b.shape[1] or not len(both) or not (a.index.is_unique and b.index.is_unique):
        return False
    return bool(np.allclose(a.loc[both], b.loc[both], atol=1e-3))


def _reader(blocks: Iterator[Any], names: list[str], beside: Mapping[str, Any]) -> pa.RecordBatchReader:
    """Blocks of columns as Arrow, with other columns beside them."""
    columns = {name: _plain(_arrow(values)) for name, values in beside.items()}
    if taken := [n for n in names if n in columns]:
        raise ValueError(f".obs has a column that a gene or component is called by ({taken[0]}): rename it")
    schema = pa.schema([*((n, pa.float32()) for n in names), *((n, c.type) for n, c in columns.items())])

    def batches() -> Iterator[pa.RecordBatch]:
        at = 0
        for x in blocks:
            parts = [pa.array(np.ascontiguousarray(c), from_pandas=True) for c in x.T]
            yield pa.RecordBatch.from_arrays([*parts, *(c.slice(at, len(x)) for c in columns.values())], schema=schema)
            at += len(x)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _arrow(values: Any) -> Any:
    """A column of .obs as Arrow."""
    array = pa.array(values, from_pandas=True)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _plain(array: Any) -> Any:
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
