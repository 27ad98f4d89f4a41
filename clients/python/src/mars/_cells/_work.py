"""What becomes of cells: the program's input, its answer, and the target with labels."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from mars._cells import is_anndata
from mars._cells._prepare import Inputs
from mars._cells._read import Cells
from mars._cells._write import UNS, Labels, labelled, write
from mars._process import MarsWarning, run
from mars._progress import Progress

PREFIX = "mars_"


@contextlib.contextmanager
def _sides(source: Any, target: Any) -> Iterator[tuple[Cells, Cells]]:
    """Both sides, open."""
    if target is None:
        raise ValueError("target: is missing: give two AnnData objects or files, as in adata[adata.obs['donor'] == 'd1']")
    with Cells(source, "source") as s, Cells(target, "target") as t:
        yield s, t


@contextlib.contextmanager
def inputs(source: Any, target: Any, label: str, options: Mapping[str, Any], columns: Sequence[str], progress: Progress, named: bool = False) -> Iterator[tuple[Inputs, Any]]:
    """What the program is to read, and the target's .obs."""
    with _sides(source, target) as (s, t):
        yield Inputs(s, t, label, options, columns, progress, named), t.obs


def label(
    source: Any, target: Any, label: str, flags: Sequence[str], options: Mapping[str, Any], columns: Sequence[str],
    *, posteriors: bool, prefix: str, output: Any, progress: Progress, shown: Mapping[str, str] | None = None
) -> tuple[Any, dict[str, Any]]:  # fmt: skip
    """Label cells.

    Parameters
    ----------
    source, target : AnnData or path
        The two sides.
    label : str
        The source's column of labels.
    flags : sequence of str
        Flags of the program.
    options : mapping of str to object
        Those of `CELLS`.
    columns : sequence of str
        Further columns of the source's .obs that the program reads: see `beside`.
    posteriors, prefix, output, progress
        As of `mars.label`.
    shown
        As of `mars._process.run`.

    Returns
    -------
    AnnData or pyarrow.Table
        The target with labels; of a file a table of them.
    dict
        What is known of the labels, as ``mars label --summary`` writes it.
    """
    prefix = prefix or PREFIX
    names = {"predicted_class": f"{prefix}label", "confidence": f"{prefix}confidence", "typicality": f"{prefix}typicality"}
    with _sides(source, target) as (s, t), tempfile.TemporaryDirectory(prefix="mars-") as folder:
        _refuse_names(names.values(), t)
        _refuse_output(output, t)
        read = Inputs(s, t, label, options, columns, progress)
        summary, model, answer_file = (os.path.join(folder, name) for name in ("summary.json", "model.safetensors", "labels.arrow"))
        command = ["label", f"--label={label}", *flags, f"--summary={summary}", f"--save={model}", f"--output={answer_file}"]
        run(command, read.tables, progress=progress if shown is None else None, shown=shown)
        with pa.OSFile(answer_file) as file:
            answer = pa.ipc.open_file(file).read_all()
        with open(summary, encoding="utf-8") as file:
            known = json.load(file)
        levels = [level for level in _levels(answer) if f"{prefix}{level}" not in names.values()]  # one called label is the finest
        for level in levels:
            names |= {f"predicted_{level}": f"{prefix}{level}", f"confidence_{level}": f"{prefix}{level}_confidence"}
        if "typicality" not in answer.column_names:  # only hedge knows it
            del names["typicality"]
        if "predicted_level" in answer.column_names:
            names["predicted_level"] = f"{prefix}level"
        _refuse_names(names.values(), t)
        rows = answer["id"].cast(pa.int64()).to_numpy()
        obs = answer.select(list(names)).to_pandas().rename(columns=names).set_index(rows)
        for level in levels:
            obs[f"{prefix}{level}"] = _categories(obs[f"{prefix}{level}"], s.obs.get(level))
        obs[names["predicted_class"]] = _categories(obs[names["predicted_class"]], s.column(label))
        if "predicted_level" in names:
            obs[names["predicted_level"]] = pd.Categorical(obs[names["predicted_level"]], _levels(answer))
        about = {"label": names["predicted_class"], "values": read.said, **_about(known, model, flags)}
        rate = next((float(flag[len("--unknown=") :]) for flag in flags if flag.startswith("--unknown=")), 0.0)
        if rate > 0 and known.get("unlike"):
            about["unknown"] = _unlike(known["unlike"], answer, rate, read, len(t.obs))
        uns = {UNS: about, **_colours(s.colours(label), obs[names["predicted_class"]])}
        # Cells that were left out, as by target_rows=, have no label.
        everywhere = [t.obs.index, range(len(t.obs))]
        labels = Labels(_placed(obs, *everywhere), {}, uns)
        if posteriors:
            labels.obsm[f"{prefix}probability"] = _placed(_posteriors(answer), *everywhere)
        if output is not None:
            write(t, Path(output), labels)
        if is_anndata(target):
            return labelled(t, labels), known
        columns = [labels.obs, *(chances.add_prefix(f"{prefix}probability_") for chances in labels.obsm.values())]
        table = pd.concat(columns, axis=1).iloc[rows].rename_axis("id").reset_index()
        return pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None), known


def _levels(answer: pa.Table) -> list[str]:
    """The levels of classes that an answer has labels of."""
    return [name[len("confidence_") :] for name in answer.column_names if name.startswith("confidence_")]


def _refuse_names(names: Iterable[str], target: Cells) -> None:
    if taken := [n for n in names if n in target.obs.columns]:
        raise ValueError(
            f"target: .obs has columns that labels are called by ({', '.join(taken)}): rename or drop them, or give the labels other names, as in prefix='new_'"
        )


def _placed(frame: Any, names: Any, places: Any) -> Any:
    """A row for each cell, of rows by their places."""
    return frame.reindex(places).set_axis(names)


def _posteriors(answer: pa.Table) -> Any:
    """The posteriors of the classes, a column each, by the rows' places."""
    classes = json.loads(answer.schema.metadata[b"mars.classes"])
    values = answer["probability"].combine_chunks().flatten().to_numpy().reshape(-1, len(classes))
    return pd.DataFrame(values, answer["id"].cast(pa.int64()).to_numpy(), classes)


def _refuse_output(output: Any, target: Cells) -> None:
    """Refuse an output that cannot be written, before the work."""
    if output is None:
        return
    path = Path(output)
    if path.suffix != ".h5ad":
        raise ValueError(f"output: {os.fspath(output)}: AnnData is written to a file whose name ends in .h5ad")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"output: there is no folder {os.fspath(path.parent)!r}")
    if target.path is not None and path.exists() and path.samefile(target.path):
        raise ValueError(f"output: {os.fspath(output)} is the target itself: name another file")


def _categories(values: Any, labels: Any) -> Any:
    """Labels as categories: those of the source in their order, if it has any, and others behind, such as unknown."""
    there = [] if labels is None else labels.cat.categories if isinstance(labels.dtype, pd.CategoricalDtype) else sorted(labels.dropna().unique())
    known = pa.array(there).cast(pa.string()).to_pylist()  # as the program writes numbers and truth values
    return pd.Categorical(values, [*known, *sorted(set(values.dropna()) - set(known))])


def _colours(colours: Any, labels: Any) -> dict[str, Any]:
    """The source's colours for the labels, so that figures of both look alike."""
    return {} if colours is None or len(colours) != len(labels.cat.categories) else {f"{labels.name}_colors": colours}


def _unlike(kinds: list[dict[str, Any]], answer: pa.Table, rate: float, read: Inputs, cells: int) -> Any:
    """What cells that are like none of the atlas are nearest to, and the genes that make them new: a row a type.

    The report then has genes in place of components.
    """
    labelled = answer.filter(answer["predicted_class"].is_valid())
    chances, unlike = _posteriors(labelled), labelled["typicality"].to_numpy() < rate
    nearest, rows = chances.columns.to_numpy()[chances.to_numpy().argmax(axis=1)], chances.index.to_numpy()
    table = []
    for kind in kinds:
        if read.genes is not None:
            groups = np.zeros((2, cells), bool)
            for group, of in zip(groups, (unlike, ~unlike)):
                group[rows[(nearest == kind["class"]) & of]] = True
            kind["higher"], kind["lower"] = read.genes(*groups)
            del kind["columns"]
        else:
            kind["higher"], kind["lower"] = ([c["column"] for c in kind["columns"] if (c["by"] > 0) == up] for up in (True, False))
        differ = [", ".join(kind[way]) for way in ("higher", "lower")]
        read.say(
            f"{kind['rows']} cells that are like none of the atlas ({kind['chance']:.0f} by chance) are nearest to {kind['class']}: "
            f"higher in them are {differ[0] or 'no genes'}, lower {differ[1] or 'none'}"
        )
        table.append([kind["rows"], kind["chance"], *differ])
    return pd.DataFrame(table, pd.Index([kind["class"] for kind in kinds], name="nearest"), ["cells", "by_chance", "higher", "lower"])


def _about(known: Mapping[str, Any], model: str, flags: Sequence[str]) -> dict[str, Any]:
    """What .uns keeps: shares with intervals, the verdict, and what is expected."""
    about = {name: known[name] for name in ("verdict", "expected_accuracy", "expected_error", "warnings") if known[name]}
    if not known["assumptions"] or any(flag.startswith("--labels=") for flag in flags):  # then the model has no intervals
        return {**about, "shares": pd.DataFrame({"target": known["proportions"]})} if known["proportions"] else about
    with tempfile.TemporaryDirectory(prefix="mars-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", MarsWarning)  # they have been said
        path = os.path.join(folder, "report.json")
        run(["proportions", f"--model={model}", f"--output={path}"])
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    shares, bounds = report["proportions"], report["interval"]
    table = {"source": shares["source"], "target": shares["estimated"], "lower": bounds["lower"], "upper": bounds["upper"]}
    return {**about, "interval_level": bounds["level"], "shares": pd.DataFrame(table, index=report["classes"])}
