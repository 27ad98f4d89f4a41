"""What mars.check gives."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mars


def rows(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 0.7, n)
    y = np.where(rng.uniform(size=n) < p, "yes", "no")
    return pd.DataFrame({"probability_no": 1 - p, "probability_yes": p, "y": y})


def test_it_is_what_the_command_says(tmp_path: Path) -> None:
    reference, today = rows(2000, 1), rows(1000, 2)
    reference.to_parquet(tmp_path / "reference.parquet")
    today.drop(columns="y").to_parquet(tmp_path / "today.parquet")
    found = mars.check(today.drop(columns="y"), reference, "y", window="500")
    command = [mars.binary(), "check", "today.parquet", "--reference=reference.parquet", "--label=y", "--window=500", "-q"]
    said = json.loads(subprocess.run([*command, "--json"], cwd=tmp_path, check=True, stdout=subprocess.PIPE).stdout)
    assert found.to_dict() == said
    subprocess.run([*command, "-o", "windows.parquet"], cwd=tmp_path, check=True)
    written = pd.read_parquet(tmp_path / "windows.parquet").drop(columns="alarm")
    pd.testing.assert_frame_equal(found.table, written)
    assert mars.check(tmp_path / "today.parquet", tmp_path / "reference.parquet", "y", window="500").to_dict() == said
    right = ((today.probability_yes > 0.5) == (today.y == "yes")).to_numpy().reshape(2, 500).mean(axis=1)
    assert (found.table["accuracy_lower"] - 0.01 <= right).all() and (right <= found.table["accuracy_upper"] + 0.01).all()
    assert found.classes == ["no", "yes"] and all("can be believed" in s for s in found.sentences)
    assert "mars.ask" in found.unseen and "2 windows" in str(found)


def test_columns_of_the_rows() -> None:
    rng = np.random.default_rng(3)

    def table(n: int, moved: float) -> tuple[pd.DataFrame, np.ndarray]:
        yes = rng.uniform(size=n) < 0.5
        p = 1 / (1 + np.exp(-3 * (rng.normal(size=n) + 2.4 * yes - moved - 1.2)))
        frame = pd.DataFrame({"probability_no": 1 - p, "probability_yes": p, "y": np.where(yes, "yes", "no")})
        return frame.assign(a=rng.normal(size=n) + 4.0 * yes, colour=rng.choice(["red", "blue"], n)), yes == (p > 0.5)

    (reference, _), (today, right) = table(1000, 0), table(1000, 2.5)
    today = today.drop(columns="y")
    alone, both = mars.check(today, reference, "y"), mars.check(today, reference, "y", columns=["a", "colour"])
    off = [abs(found.table["accuracy"][0] - right.mean()) for found in (alone, both)]
    assert off[0] > 0.2 and off[1] < 0.05
    assert mars.check(pl.from_pandas(today), pl.from_pandas(reference), "y", columns=["*"]).to_dict() == both.to_dict()


def test_types_and_columns() -> None:
    reference, today = rows(1000, 3), rows(500, 4)
    assert isinstance(mars.check(pl.from_pandas(today), pl.from_pandas(reference), "y").table, pl.DataFrame)
    arrow = mars.check(pa.Table.from_pandas(today), reference, "y", score="probability_yes", positive="yes").table
    assert isinstance(arrow, pa.Table) and arrow["auc"][0].as_py() > 0.7
    hard = [f.assign(said=np.where(f.probability_yes > 0.5, "yes", "no"))[["said", "y"]] for f in (today, reference)]
    assert mars.check(*hard, "y", prediction="said").table["log_loss"].isna().all()
    with pytest.raises(mars.MarsValueError, match="name the column of labels"):
        mars.check(today, reference, "label")
    with pytest.raises(mars.MarsValueError, match=r"^predictions: row 1: .* is no probability"):  # by the argument, not the file that it goes by
        mars.check(today.assign(probability_no=5.0), reference, "y")
    with pytest.raises(mars.MarsValueError, match=r"^reference: has no column \"z\" .*: name the column of labels with label=, or the file that has it with reference_labels="):
        mars.check(today, reference, "z")
    with pytest.raises(ValueError, match="rows of a file"):
        mars.check(today, reference, "y", labels=today)


def test_plot() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    ax = mars.check(rows(500, 5), rows(1000, 6), "y", window="250").plot()
    assert ax.get_ylabel() == "accuracy" and len(ax.get_legend().get_texts()) >= 2
