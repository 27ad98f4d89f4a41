"""How right a model still is, by its predictions."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from mars._ask import filled
from mars._axes import axes
from mars._command import flags, is_path, label_flag
from mars._docs import documents
from mars._frames import same_kind, to_arrow
from mars._options import CHECK, CheckOptions
from mars._process import run
from mars._progress import Progress
from mars._words import spoken

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Check:
    """How right a model still is, window by window, and whether to believe that.

    Attributes
    ----------
    table : table
        A row for each window: ``accuracy`` with the bounds ``accuracy_lower`` and
        ``accuracy_upper`` of an interval and ``accuracy_change`` since the reference, the same
        of other figures, what they rest on, and a ``verdict``: believe, care, unjudged or
        doubt. A pandas or polars frame or a DuckDB relation if the predictions are one, else a
        pyarrow table.
    classes : list of str
        The classes.
    unseen : str
        What no rows without labels show.
    sentences : list of str
        Whether to believe each window, in words.

    Examples
    --------
    >>> import mars, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=2000)
    >>> rows = pd.DataFrame({"probability_no": 1 - p, "probability_yes": p, "y": np.where(rng.uniform(size=2000) < p, "yes", "no")})
    >>> found = mars.check(rows[1000:].drop(columns="y"), rows[:1000], "y", window="500")
    >>> found.table["verdict"].tolist()
    ['believe', 'believe']
    """

    def __init__(self, report: Mapping[str, Any], text: str = "", predictions: Any = None) -> None:
        self._report = dict(report)
        self._table = _table(report["windows"], report["classes"])
        self._text = spoken(text)
        self._kind = same_kind(predictions)
        self.classes: list[str] = list(report["classes"])

    @property
    def table(self) -> Any:
        return self._kind(self._table)

    @property
    def unseen(self) -> str:
        return spoken(self._report["unseen"])

    @property
    def sentences(self) -> list[str]:
        return [spoken(window["sentence"]) for window in self._report["windows"]]

    def to_dict(self) -> dict[str, Any]:
        """Give the whole report, as ``mars check --json`` has it."""
        return json.loads(json.dumps(self._report))  # type: ignore[no-any-return]

    def plot(self, ax: Any = None) -> Any:
        """Draw the accuracy of each window with its interval, and that of the reference.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. A new figure if it is left out.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        ax = axes("Check", ax)
        there = [row for row in self._table.to_pylist() if row["accuracy"] is not None]
        for colour, words, believed in (("C0", "expected", True), ("C3", "not to be believed", False)):
            some = [row for row in there if (row["verdict"] in ("believe", "care")) == believed]
            if some:
                at = [row["window"] for row in some]
                ax.vlines(at, [row["accuracy_lower"] for row in some], [row["accuracy_upper"] for row in some], color=colour)
                ax.plot(at, [row["accuracy"] for row in some], "o", color=colour, mfc=colour if believed else "white", label=words)
        ax.axhline(self._report["reference"][0]["value"], color="grey", linestyle="--", label="reference")
        ax.set_xlabel("window")
        ax.set_ylabel("accuracy")
        ax.legend()
        return ax

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text or f"Check({len(self._report['windows'])} windows)"


@documents(CHECK, CheckOptions)
def check(
    predictions: Any,
    reference: Any,
    label: Hashable = "label",
    *,
    prediction: str | None = None,
    probability: str | None = None,
    labels: Any = None,
    progress: Progress = None,
    **options: Unpack[CheckOptions],
) -> Check:
    """Say how right a model still is, without labels.

    Parameters
    ----------
    predictions : table or path
        What the model says of rows without labels: a column ``probability_CLASS`` for each
        class, or a `score` of one of two classes, or predicted classes alone.
    reference : table or path
        The same of rows that the model was not trained on, with their labels.
    label : hashable, default "label"
        The name of the reference's column of labels.
    prediction : str, optional
        The column of predicted classes. By default ``predicted_class``, if it is there, else
        the most probable class is predicted.
    probability : str, default "probability"
        What the columns of posteriors begin with.
    labels : table or path, optional
        What `mars.ask` gave for the same files, filled in as far as it goes. `predictions` is
        then a path.
    progress : bool or callable, optional
        True shows the log as it comes, and how far the work is; a function is called
        with each line.
    **OPTIONS**

    Returns
    -------
    Check
        The figures of each window, and whether to believe them.

    Raises
    ------
    MarsValueError
        With the program's message, if it refuses data or an option.
    MarsError
        With the program's message, if it fails otherwise.

    Examples
    --------
    >>> found = mars.check("today.parquet", "labelled.parquet", "y", window="1d", time="at")  # doctest: +SKIP
    >>> found.table[["end", "accuracy", "accuracy_lower", "accuracy_upper", "verdict"]]  # doctest: +SKIP
    """
    if labels is not None and not is_path(predictions):
        raise ValueError("labels: they are of rows of a file: give mars.ask and mars.check the path of one")
    command = ["check", *label_flag(label), *flags("check", CHECK, options)]
    command += [f"--{name}={value}" for name, value in (("prediction", prediction), ("probability", probability)) if value is not None]
    with tempfile.TemporaryDirectory(prefix="mars-") as folder, filled(labels, label) as given:
        report = os.path.join(folder, "report.json")
        sides = [_file(predictions, "predictions", folder), f"--reference={_file(reference, 'reference', folder)}"]
        text = run([*command, *given, f"--output={report}", *sides], progress=progress).decode()
        with open(report, encoding="utf-8") as file:
            return Check(json.load(file), text.rstrip("\n"), predictions)


def _file(data: Any, name: str, folder: str) -> str:
    """The path of a side, which is written to a file if it is a table: the program reads it twice."""
    if is_path(data):
        paths = [data] if isinstance(data, (str, os.PathLike)) else data
        return ",".join(os.fspath(path) for path in paths)
    path = os.path.join(folder, name + ".arrow")
    table = to_arrow(data, name=name)
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    return path


def _table(windows: list[dict[str, Any]], classes: list[str]) -> pa.Table:
    """A row for each window, as the program writes them in CSV."""
    columns = {name: pa.array([w[name] for w in windows]) for name in ("window", "start", "end", "complete")}
    counts = {"rows": "all", "used": "used", "empty": "empty", "unknown": "unknown"}
    columns |= {name: pa.array([w["rows"][key] for w in windows], pa.int64()) for name, key in counts.items()}

    def numbers(values: list[Any]) -> pa.Array:
        return pa.array(values, pa.float64())

    for i, figure in enumerate(windows[0]["figures"]):
        for end, key in (("", "value"), ("_lower", "lower"), ("_upper", "upper"), ("_change", "change")):
            columns[figure["name"] + end] = numbers([w["figures"][i].get(key) for w in windows])
    for k, name in enumerate(classes):
        columns[f"share_{name}"] = numbers([w["shares"][k] if w["shares"] else None for w in windows])
    columns |= {name: numbers([w[name] for w in windows]) for name in ("expected_error", "moved", "unexplained")}
    columns |= {name: pa.array([w[name] for w in windows], pa.string()) for name in ("rests_on", "verdict")}
    columns["warnings"] = pa.array(["; ".join(w["warnings"]) for w in windows], pa.string())
    return pa.table(columns)
