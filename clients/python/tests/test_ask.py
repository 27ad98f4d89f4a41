"""Rows for a person to label, and their labels on the way back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mars

pytestmark = pytest.mark.filterwarnings("ignore::mars.MarsWarning")

SHEET = ["order", "id", "a", "b", "c", "y", "predicted_class", "confidence", "probability", "part", "drawn"]


def filled(rows: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    rows["y"] = truth.loc[rows.index, "y"]
    return rows


def test_the_loop(source: pd.DataFrame, truth: pd.DataFrame, target: pd.DataFrame) -> None:
    truth.index = target.index = pd.Index([f"cell {i}" for i in range(len(target))], name="cell")
    rows = mars.ask(source, target, "y", budget=20, seed=1)
    assert list(rows.columns) == SHEET and len(rows) == 20 and rows["y"].isna().all() and list(rows["order"]) == list(range(1, 21))
    assert rows.index.equals(target.index[rows["id"]])
    pd.testing.assert_frame_equal(rows[["a", "b", "c"]], target.loc[rows.index])
    filled(rows, truth)
    shares = mars.proportions(source, target, "y", labels=rows, bootstrap=20)
    assert shares.labelled is not None and shares.labelled["rows"] == 20
    table = shares.table.set_index("class")
    assert ((table["holds_lower"] <= table["target"]) & (table["target"] <= table["holds_upper"])).all()
    assert shares.next == "" and mars.proportions(source, target, "y", bootstrap=20).labelled is None
    labelled = mars.label(source, target, "y", labels=rows)
    assert (labelled.loc[rows.index, "predicted_class"] == truth.loc[rows.index, "y"]).all()
    assert (labelled.loc[rows.index, "confidence"] == 1).all()
    # Sorted, and only as far as it was filled in.
    some = mars.label(source, target, "y", labels=rows.where(rows["order"] <= 12).sort_values("confidence"))
    assert (some["confidence"] == 1).sum() >= 12


def test_other_tables(tmp_path: Path, source: pd.DataFrame, truth: pd.DataFrame, target: pd.DataFrame) -> None:
    frame = filled(mars.ask(source, target, "y", budget=10), truth)
    table = mars.ask(pl.from_pandas(source), pl.from_pandas(target), "y", budget=10)
    assert isinstance(table, pl.DataFrame) and table.columns == SHEET and table["drawn"].to_list() == list(frame["drawn"])
    arrow = mars.ask(pa.Table.from_pandas(source), pa.Table.from_pandas(target), "y", budget=10)
    assert isinstance(arrow, pa.Table) and arrow.column_names == SHEET
    array = mars.ask((source[["a", "b", "c"]].to_numpy(), source["y"].to_numpy()), target.to_numpy(), budget=10)
    assert array.dtype.names == ("order", "id", "label", *SHEET[6:])
    source.to_csv(tmp_path / "s.csv", index=False)
    target.to_csv(tmp_path / "t.csv", index=False)
    files = mars.ask(tmp_path / "s.csv", tmp_path / "t.csv", "y", budget=10)
    assert files.column_names == SHEET
    frame.to_csv(tmp_path / "rows.csv", index=False)
    by_file = mars.label(source, target, "y", labels=tmp_path / "rows.csv")
    pd.testing.assert_frame_equal(by_file, mars.label(source, target, "y", labels=frame))


def test_columns_to_show(source: pd.DataFrame, target: pd.DataFrame) -> None:
    named = mars.ask(source, target.assign(id=[f"p{i}" for i in range(len(target))], y=7), "y", budget=5, keep=["b", "id"])
    assert list(named.columns) == ["order", "b", "id", *SHEET[5:]] and named["y"].isna().all()
    assert list(mars.ask(source, target, "y", budget=5, keep="id").columns) == ["order", "id", *SHEET[5:]]
    one = mars.ask(source, target, "y", budget=5, for_class=2, uniform=False)
    assert len(one) == 5
    with pytest.raises(ValueError, match=r"target: has columns that the table to fill in has too \(part\)"):
        mars.ask(source, target.assign(part=1), "y", budget=5)
    with pytest.raises(ValueError, match="keep: the target has no column 'z'"):
        mars.ask(source, target, "y", budget=5, keep=["z"])


def test_what_is_no_table_of_ask(source: pd.DataFrame, truth: pd.DataFrame, target: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="labels: has no column 'drawn' .*: give the table of mars.ask, filled in"):
        mars.label(source, target, "y", labels=truth)
    rows = mars.ask(source, target, "y", budget=10)
    with pytest.raises(ValueError, match='^labels: no row has a label in the column "y": fill it in'):
        mars.proportions(source, target, "y", labels=rows)
    with pytest.raises(ValueError, match="^labels: has rows of another target than"):
        mars.label(source, target[:-1], "y", labels=filled(rows, truth))


def test_the_call_that_would_settle_it() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["p", "q"], 150)
    old = pd.DataFrame({"x": rng.normal(0, 1, 300) + 1.5 * (y == "q"), "kind": y})
    new = pd.DataFrame({"x": rng.normal(1, 1, 200)})
    shares = mars.proportions(old, new, label="kind", bootstrap=20)
    assert shares.next == 'mars.ask(source, target, label="kind")' and shares.next in str(shares)


def test_guesses_are_labels_of_the_source(source: pd.DataFrame, target: pd.DataFrame) -> None:
    rows = mars.ask(source, target, "y", budget=20)
    assert rows["predicted_class"].dtype == source["y"].dtype and set(rows["predicted_class"]) <= {0, 1, 2}
    flags = mars.ask(source.assign(y=source["y"] == 1), target, "y", budget=20)
    assert set(flags["predicted_class"]) == {True, False}


def test_rows_without_any_value_are_not_drawn_from(source: pd.DataFrame, target: pd.DataFrame) -> None:
    gaps = target[["a", "b", "c"]].copy()
    gaps.iloc[[3, 7]] = np.nan
    rows = mars.ask(source[["a", "b", "c", "y"]], gaps, "y", budget=20)
    assert not rows["a"].isna().any()
    rows["y"] = rows["predicted_class"]
    shares = mars.proportions(source[["a", "b", "c", "y"]], gaps, "y", labels=rows, bootstrap=20)
    assert shares.labelled is not None and shares.labelled["missing"] == 2 / len(gaps)


def test_a_row_that_is_there_twice(source: pd.DataFrame, truth: pd.DataFrame, target: pd.DataFrame) -> None:
    rows = filled(mars.ask(source, target, "y", budget=20), truth)
    with pytest.raises(mars.MarsValueError, match="^labels: the row with order 1 is there twice: leave one$"):
        mars.label(source, target, "y", labels=pd.concat([rows, rows]))
