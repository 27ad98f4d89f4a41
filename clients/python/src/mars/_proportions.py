"""Class proportions of a target."""

from __future__ import annotations

import html
import json
import os
import tempfile
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from mars import _cells
from mars._ask import filled
from mars._axes import axes
from mars._classes import restore
from mars._command import Inputs, finest, flags, label_flag
from mars._docs import documents
from mars._frames import same_kind
from mars._options import PROPORTIONS, ProportionsOptions
from mars._process import run
from mars._progress import Progress
from mars._words import spoken

if TYPE_CHECKING:
    from typing_extensions import Unpack


# What the report's levels have of each class, and what tables call it.
_LEVEL_COLUMNS = {"source": "source", "estimated": "target", "lower": "lower", "upper": "upper", "rows": "rows"}
_LEVEL_COLUMNS |= {n: n for n in ("holds_lower", "holds_upper", "before", "true")}


class ProportionsKeywords(ProportionsOptions, _cells.CellOptions, total=False):
    """Options of `proportions`."""


class Proportions:
    """The class proportions of a target, with intervals and whether to believe them.

    Attributes
    ----------
    table : table
        A row for each class, with its share of the ``source`` and of the ``target``, and
        the bounds ``lower`` and ``upper`` of an interval, and the ``rows`` of the target
        that this makes; ``true`` too, if the option `truth` was set, and with `labels`
        ``holds_lower`` and ``holds_upper``, which hold whatever has changed, and ``before``,
        the share without the labels. A pandas or polars frame or a DuckDB relation if the target is
        one, else a pyarrow table.
    levels : table or None
        With the option `levels`, or `tree`, the same of the classes of all levels: a row for each class, after
        that of the class ``parent`` of which it is a part, and its ``level``. Shares add up.
    classes : list
        The classes, as the source's labels write them.
    estimators : dict
        What assumptions or estimators give, by their names: a dict from class to share.
    expected_error : float
        How far off the shares are expected to be in L1, 0 to 2; above 0.2 they are not to
        be believed.
    verdict : str
        Whether to believe them, in words.
    grounds : str
        Why.
    advice : str
        What to do next.
    next : str
        The call of `mars.ask` that would settle it; "" where that is not needed.
    labelled : dict or None
        What labels of some rows of the target say, if they were given as `labels`: how many
        there are, both intervals of each class, the accuracy of the program's labels, and
        which assumptions they refute.
    rows : dict
        How many rows of the target the shares make of each class.
    warnings : list of str
        What the program warns about.

    Examples
    --------
    >>> import mars, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, y = np.r_[rng.normal(0, 0.4, (200, 2)), rng.normal(2, 0.4, (200, 2))], np.repeat([0, 1], 200)
    >>> shares = mars.proportions((X, y), X[:250] + 0.5)
    >>> [round(share, 1) for share in shares.table["target"].to_pylist()]
    [0.8, 0.2]
    """

    def __init__(self, report: Mapping[str, Any], text: str = "", labels: Any = None, target: Any = None) -> None:
        self._report = dict(report)
        self._text = spoken(text)
        self._target = same_kind(target)
        self._labels = labels
        classes = restore(pa.array(report["classes"], pa.string()), labels)
        self.classes: list[Any] = classes.to_pylist()
        shares = report["proportions"]
        columns = {"class": classes, "source": shares["source"], "target": shares["estimated"]}
        columns |= {"lower": report["interval"]["lower"], "upper": report["interval"]["upper"]}
        columns["rows"] = pa.array(report["rows"], pa.float64()).cast(pa.int64())
        if "labelled" in report:
            columns |= {f"holds_{end}": report["labelled"]["holds"][end] for end in ("lower", "upper")}
            columns["before"] = report["labelled"]["before"]
        if "true" in shares:
            columns["true"] = shares["true"]
        self._table = pa.table(columns)

    @property
    def table(self) -> Any:
        return self._target(self._table)

    @property
    def levels(self) -> Any:
        rows: list[dict[str, Any]] = []
        levels = self._report.get("levels") or []
        columns = [n for n in _LEVEL_COLUMNS if levels and n in levels[0]]

        def under(depth: int, parent: str | None) -> None:
            for i, name in enumerate(levels[depth]["classes"]) if depth < len(levels) else ():
                if depth == 0 or levels[depth]["parents"][i] == parent:
                    of = {_LEVEL_COLUMNS[n]: levels[depth][n][i] for n in columns}
                    rows.append({"class": name, "level": levels[depth]["level"], "parent": parent, **of})
                    under(depth + 1, name)

        under(0, None)
        return self._target(pa.Table.from_pylist(rows)) if rows else None

    @property
    def estimators(self) -> dict[str, dict[Any, float]]:
        return {name: dict(zip(self.classes, shares)) for name, shares in self._report["estimators"].items()}

    @property
    def expected_error(self) -> float:
        return float(self._report["expected_error"])

    @property
    def verdict(self) -> str:
        return self._words("verdict")

    @property
    def grounds(self) -> str:
        return self._words("grounds")

    @property
    def advice(self) -> str:
        return self._words("advice")

    @property
    def next(self) -> str:
        # The report for people has it on a line of its own: it is of the call, not of the answer.
        return next((line.strip() for line in self._text.splitlines() if line.strip().startswith("mars.ask(")), "")

    @property
    def labelled(self) -> dict[str, Any] | None:
        said = self._report.get("labelled")
        return None if said is None else json.loads(json.dumps(said))

    @property
    def rows(self) -> dict[Any, int]:
        return dict(zip(self.classes, self._table["rows"].to_pylist()))

    @property
    def warnings(self) -> list[str]:
        return [spoken(w) for w in self._report["warnings"] or []]

    def _words(self, key: str) -> str:
        return spoken(self._report.get(key) or "")

    def to_dict(self) -> dict[str, Any]:
        """Give the whole report, as ``mars proportions --json`` has it."""
        return json.loads(json.dumps(self._report))  # type: ignore[no-any-return]

    def plot(self, ax: Any = None) -> Any:
        """Draw the shares with their intervals, and those of the source.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. A new figure if it is left out.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        ax = axes("Proportions", ax, figsize=(6, 1 + 0.4 * len(self.classes)))
        names = [str(c) for c in self.classes]
        places = range(len(names))
        t = self._table.to_pydict()
        ax.barh(places, t["target"], color="C0", alpha=0.8, label="target")
        ax.hlines(places, t["lower"], t["upper"], color="black", label=f"{self._report['interval']['level']:.0%} interval")
        ax.plot(t["source"], places, "D", color="C1", label="source")
        if "true" in t:
            ax.plot(t["true"], places, "x", color="black", label="truth")
        ax.set_yticks(places, names)
        ax.invert_yaxis()
        ax.set_xlim(left=0)
        ax.set_xlabel("share")
        ax.legend()
        return ax

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text or f"Proportions({dict(zip(self.classes, self._table['target'].to_pylist()))})"

    def _repr_html_(self) -> str:
        t = self._table.to_pydict()
        names = [n for n in t if n != "class"]
        head = "".join(f"<th>{html.escape(n)}</th>" for n in ("class", *names))
        rows = []
        for i, name in enumerate(self.classes):
            cells = "".join(f"<td>{t[n][i]:,}</td>" if n == "rows" else f"<td>{t[n][i]:.1%}</td>" for n in names)
            bar = f'<div style="background:#4c78a8;height:0.8em;width:{100 * t["target"][i]:.0f}px"></div>'
            rows.append(f"<tr><th>{html.escape(str(name))}</th>{cells}<td>{bar}</td></tr>")
        notes = [self.verdict, *self.warnings]
        return (
            f"<table><thead><tr>{head}<th></th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
            + "".join(f"<p>{html.escape(note)}</p>" for note in notes)
        )


@documents({**PROPORTIONS, **_cells.CELLS}, ProportionsKeywords)
def proportions(
    source: Any, target: Any = None, label: Hashable = "label", *, labels: Any = None, progress: Progress = None, **options: Unpack[ProportionsKeywords]
) -> Proportions:
    """Estimate the class proportions of a target, with intervals and whether to believe them.

    Parameters
    ----------
    source : table, pair or path
        Rows with labels: a pandas or polars frame, a pyarrow table, a DuckDB relation, or
        anything with ``__arrow_c_stream__``; or a pair ``(X, y)`` of features and labels,
        for NumPy arrays and torch tensors; or the name of a file, or of several, which
        the program reads itself; or AnnData, or the name of a file .h5ad.
    target : table or path
        Rows without labels. If one table holds both, leave it out and give
        `domain_column`.
    label : hashable, default "label"
        The name of the source's column of labels.
    labels : table or path, optional
        What `mars.ask` gave, filled in as far as it goes: labels of some rows of the target,
        from which intervals follow that hold whatever has changed.
    progress : bool or callable, optional
        True shows the log as it comes, and how far the work is; a function is called
        with each line.
    **OPTIONS**

    Returns
    -------
    Proportions
        The shares, and whether to believe them.

    Raises
    ------
    MarsValueError
        With the program's message, if it refuses data or an option.
    MarsError
        With the program's message, if it fails otherwise.

    Warns
    -----
    MarsWarning
        Above all where the shares are not to be believed.

    Examples
    --------
    >>> import mars, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, y = np.r_[rng.normal(0, 0.4, (200, 2)), rng.normal(2, 0.4, (200, 2))], np.repeat(["a", "b"], 200)
    >>> shares = mars.proportions((X, y), X[:250] + 0.5, level=0.95)
    >>> shares.verdict.split(":")[0]
    'These proportions can be believed'
    """
    label = finest(label, options)
    with filled(labels, label) as flag:
        if _cells.given(source, target):
            own, rest = _cells.split(options)
            with _cells.work().inputs(source, target, str(label), own, _cells.beside(str(label), rest), progress) as (read, obs):
                command = ["proportions", f"--label={label}", *flags("proportions", PROPORTIONS, rest), *flag]
                report, text = _report(command, read.tables, progress)
                return Proportions(report, text, read.labels, obs)
        return fit(source, target, label, options, progress, flag)


def fit(source: Any, target: Any, label: Hashable, options: Any, progress: Progress = None, extra: Sequence[str] = ()) -> Proportions:
    """What `proportions` does, with extra flags."""
    label = finest(label, options)
    command = ["proportions", *label_flag(label), *flags("proportions", PROPORTIONS, options), *extra]
    inputs = Inputs({"source": source} if target is None else {"source": source, "target": target}, label, options)
    report, text = _report([*command, *inputs.flags], inputs.tables, progress)
    return Proportions(report, text, inputs.labels, source if target is None else target)


def of_sums(model: str, sums: str, like: Proportions) -> Proportions:
    """The answer from sums over all rows, in the types of another answer, by the model that they are of."""
    level = like.to_dict()["interval"]["level"]
    report, text = _report(["proportions", f"--model={model}", f"--sums={sums}", f"--level={level}"], {}, None)
    return Proportions(report, text, like._labels, like._target)


def _report(command: Sequence[str], tables: Mapping[str, Any], progress: Progress) -> tuple[dict[str, Any], str]:
    """The report, for this program and for a person."""
    with tempfile.TemporaryDirectory(prefix="mars-") as folder:
        path = os.path.join(folder, "report.json")
        text = run([*command, f"--output={path}"], tables, progress=progress).decode()
        with open(path, encoding="utf-8") as file:
            return json.load(file), text.rstrip("\n")
