"""What mars.proportions gives."""

from __future__ import annotations

import json
import pickle
import subprocess
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mars


@pytest.fixture
def shares(source: pd.DataFrame, target: pd.DataFrame) -> mars.Proportions:
    return mars.proportions(source, target, "y", bootstrap=20, seed=1)


def test_it_is_what_the_command_says(tmp_path: Path, source: pd.DataFrame, target: pd.DataFrame, shares: mars.Proportions) -> None:
    for name, frame in (("source", source), ("target", target)):
        frame.to_parquet(tmp_path / f"{name}.parquet")
    command = [mars.binary(), "proportions", "--label=y", "--bootstrap=20", "--seed=1", "-q", "--source=source.parquet", "--target=target.parquet"]

    def said(*flags: str) -> str:
        return subprocess.run([*command, *flags], cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8").stdout

    report = json.loads(said("--json"))
    assert shares.to_dict() == report
    details = ("(--details)", "(the attribute estimators)")
    settle = "\nTo settle it, label a few rows"
    before, after = str(shares).split(settle)
    assert before == said().split(settle)[0].replace(*details) and "--" not in str(shares)
    assert after == ':\n  mars.ask(source, target, label="y", seed=1)'
    assert shares.table["target"].tolist() == report["proportions"]["estimated"]
    assert shares.expected_error == report["expected_error"] and shares.verdict == report["verdict"]
    assert shares.estimators["same"] == dict(zip([0, 1, 2], report["estimators"]["same"]))
    assert shares.warnings == (report["warnings"] or [])
    assert shares.rows == dict(zip([0, 1, 2], report["rows"])) and sum(shares.rows.values()) == len(target)
    assert shares.grounds == report["grounds"] and shares.advice.split(" (")[0] == report["advice"].split(" (")[0].replace("mars label", "mars.label")


def test_table(source: pd.DataFrame, truth: pd.DataFrame, shares: mars.Proportions) -> None:
    assert list(shares.table.columns) == ["class", "source", "target", "lower", "upper", "rows"]
    assert shares.table["class"].tolist() == shares.classes == [0, 1, 2]
    assert (shares.table["target"] - truth["y"].value_counts(normalize=True).sort_index().to_numpy()).abs().max() < 0.1
    compared = mars.proportions(pl.from_pandas(source), pl.from_pandas(truth), "y", truth=True, bootstrap=20, assume="same")
    assert isinstance(compared.table, pl.DataFrame)
    assert compared.table["true"].to_list() == [90 / 140, 30 / 140, 20 / 140]
    arrow = mars.proportions(pa.Table.from_pandas(source), pa.Table.from_pandas(truth), "y", bootstrap=20, assume="same")
    assert isinstance(arrow.table, pa.Table)


def test_html_escapes_names(source: pd.DataFrame, target: pd.DataFrame, shares: mars.Proportions) -> None:
    named = mars.proportions(source.assign(y=source["y"].map({0: "<b>", 1: "CD4+ & CD8+", 2: "c"})), target, "y", bootstrap=20, assume="same")
    html = named._repr_html_()
    assert "<b>" not in html and "&lt;b&gt;" in html and "CD4+ &amp; CD8+" in html and named.verdict.split(":")[0] in html
    assert html.count("<tr>") == 4


def test_it_can_be_pickled(shares: mars.Proportions) -> None:
    again = pickle.loads(pickle.dumps(shares))
    assert again.to_dict() == shares.to_dict() and again.table.equals(shares.table)


def test_plot(shares: mars.Proportions) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    ax = shares.plot()
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0", "1", "2"]
    assert [b.get_width() for b in ax.patches] == shares.table["target"].tolist()
    assert shares.plot(ax=ax) is ax
    ax.figure.canvas.draw()


def test_plot_says_what_it_needs(shares: mars.Proportions, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        shares.plot()
