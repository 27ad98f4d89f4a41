"""What is known of labels as a whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from mars._classes import restore
from mars._words import spoken


class LabelReport:
    """What is known of the labels of a target as a whole: above all, how many are expected to be right.

    Attributes
    ----------
    rows : int
        How many rows have a label.
    missing : int
        How many rows have no value in any column, and so no label.
    verdict : str
        Whether to believe the labels, in words. Empty where the method does not know it.
    counts : dict
        How many rows have each class, that of the most rows first.
    mean_confidence : dict
        The mean confidence of the labels of each class.
    expected_accuracy : float or None
        The share of the labels that is expected to be right; None where the method does
        not know it.
    proportions : dict
        The estimated shares of the classes, which are better than counts of labels. Empty
        where the method estimates none.
    expected_error : float or None
        How far off these are expected to be in L1, 0 to 2; above 0.2 they are not to be
        believed.
    assumptions : dict
        What has happened to the classes, in words, and how much it counted, from 0 to 1;
        the heaviest first. Empty where the method assumes nothing.
    untypical : float or None
        The share of the rows that are untypical of their class; 0.05 if nothing is new.
    warnings : list of str
        What the program warns about.

    Examples
    --------
    >>> import mars, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, y = np.r_[rng.normal(0, 0.4, (200, 2)), rng.normal(2, 0.4, (200, 2))], np.repeat([0, 1], 200)
    >>> labels, report = mars.label((X, y), X[:250] + 0.5, return_report=True)
    >>> report.counts
    {0: 200, 1: 50}
    >>> report.verdict.split(":")[0], report.expected_accuracy > 0.8, report.warnings
    ('These labels can be believed', True, [])
    """

    def __init__(self, known: Mapping[str, Any], labels: Any = None) -> None:
        self._known = dict(known)
        classes = known["classes"]
        names = restore(pa.array([c["class"] for c in classes], pa.string()), labels).to_pylist()
        shares = known["proportions"] or {}
        self.rows: int = known["rows"]
        self.missing: int = known["missing"]
        self.verdict: str = spoken(known["verdict"])
        self.counts: dict[Any, int] = {name: c["rows"] for name, c in zip(names, classes)}
        self.mean_confidence: dict[Any, float] = {name: c["mean_confidence"] for name, c in zip(names, classes)}
        self.expected_accuracy: float | None = known["expected_accuracy"]
        self.proportions: dict[Any, float] = dict(zip(restore(pa.array(shares, pa.string()), labels).to_pylist(), shares.values()))
        self.expected_error: float | None = known["expected_error"]
        self.assumptions: dict[str, float] = {a["assumption"]: a["weight"] for a in known["assumptions"]}
        self.untypical: float | None = known["untypical"]
        self.warnings: list[str] = [spoken(w) for w in known["warnings"]]

    def to_dict(self) -> dict[str, Any]:
        """Give all that the program says, as ``mars label --summary`` writes it."""
        return json.loads(json.dumps(self._known))  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        right = "" if self.expected_accuracy is None else f", {self.expected_accuracy:.0%} expected to be right"
        return f"LabelReport({self.rows} rows: {self.counts}{right}, {len(self.warnings)} warnings)"
