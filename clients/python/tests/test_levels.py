"""Classes of several levels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mars

KIND = {0: "left", 1: "right", 2: "left"}


@pytest.fixture
def levelled(source: pd.DataFrame) -> pd.DataFrame:
    return source.assign(kind=source["y"].map(KIND))


def test_labels_agree_at_each_level(tmp_path: Path, levelled: pd.DataFrame, target: pd.DataFrame, truth: pd.DataFrame) -> None:
    model = tmp_path / "model.safetensors"
    new = mars.label(levelled, target, levels=["kind", "y"], posteriors=True, save=model)
    assert list(new.columns[3:9]) == ["predicted_class", "confidence", "predicted_kind", "confidence_kind", "predicted_y", "confidence_y"]
    assert new["predicted_y"].dtype == new["predicted_class"].dtype == levelled["y"].dtype
    assert (new["predicted_y"].map(KIND) == new["predicted_kind"]).all()
    assert (new["predicted_y"] == truth["y"]).mean() > 0.9
    assert np.allclose(new["confidence_kind"], new[["probability_0", "probability_2"]].sum(axis=1).where(new["predicted_kind"] == "left", new["probability_1"]), atol=1e-6)
    again = mars.predict(model, target)
    assert again["predicted_kind"].equals(new["predicted_kind"]) and again["confidence_y"].equals(new["confidence_y"])


def test_the_deepest_level_that_is_sure_enough(levelled: pd.DataFrame, target: pd.DataFrame) -> None:
    new, report = mars.label(pl.from_pandas(levelled), pl.from_pandas(target), levels="kind,y", confidence=0.999, return_report=True)
    for row in new.iter_rows(named=True):
        sure = next((level for level in ("y", "kind") if row[f"confidence_{level}"] >= np.float32(0.999)), None)
        assert row["predicted_level"] == sure
        assert row["predicted_class"] == (row[f"predicted_{sure}"] if sure else "unknown")


def test_shares_of_all_levels(levelled: pd.DataFrame, target: pd.DataFrame, tmp_path: Path) -> None:
    shares = mars.proportions(levelled, target, levels=["kind", "y"], bootstrap=20)
    assert shares.classes == [0, 1, 2] and len(shares.table) == 3
    table = shares.levels
    assert table["class"].tolist() == ["left", "0", "2", "right", "1"]
    assert table["level"].tolist() == ["kind", "y", "y", "kind", "y"] and table["parent"].tolist()[1:3] == ["left", "left"]
    of = table.set_index(["level", "class"])
    assert of.loc[("kind", "left"), "target"] == of.loc[("y", "0"), "target"] + of.loc[("y", "2"), "target"]
    assert of.loc[("kind", "left"), "rows"] == of.loc[("y", "0"), "rows"] + of.loc[("y", "2"), "rows"]
    assert "\n  left " in str(shares) and "\n    0 " in str(shares)

    # A table says the same where the source has the finest labels alone.
    levelled[["kind", "y"]].drop_duplicates().to_csv(tmp_path / "tree.csv", index=False)
    same = mars.proportions(levelled.drop(columns="kind"), target, "y", tree=tmp_path / "tree.csv", bootstrap=20)
    assert same.levels.equals(table)
    assert mars.proportions(levelled.drop(columns="kind"), target, "y", bootstrap=20).levels is None


def test_asked_labels_are_of_the_finest_level(levelled: pd.DataFrame, target: pd.DataFrame, truth: pd.DataFrame) -> None:
    rows = mars.ask(levelled, target, levels=["kind", "y"], budget=20)
    rows["y"] = truth["y"].iloc[rows["id"]].to_numpy() if "id" in rows else truth.loc[rows.index, "y"]
    shares = mars.proportions(levelled, target, levels=["kind", "y"], labels=rows)
    assert (shares.levels["holds_lower"] <= shares.levels["target"] + 1e-9).all()
    assert shares.levels["before"].notna().all()


def test_what_is_refused(levelled: pd.DataFrame, target: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="last level, y, is what is learnt"):
        mars.label(levelled, target, "kind", levels=["kind", "y"])
    with pytest.raises(ValueError, match="columns that labels of levels are called by"):
        mars.label(levelled, target.assign(predicted_kind="left"), levels=["kind", "y"])
    wrong = levelled.assign(kind=["left", *levelled["kind"][1:]])
    wrong.loc[0, "kind"] = "middle"
    with pytest.raises(ValueError, match="is part of"):
        mars.label(wrong, target, levels=["kind", "y"])
