"""What comes in goes out: each type of table, of label and of column."""

from __future__ import annotations

import datetime
import pickle
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mars
from mars._frames import like, to_arrow

ADDED = ["predicted_class", "confidence", "typicality"]


def same(source: Any, target: Any, **options: Any) -> Any:
    """Labels by the fastest assumption: what is tested here is what goes in and out."""
    return mars.label(source, target, **{"label": "y", "assume": "same"} | options)


class Capsule:
    """A table that nobody knows but by Arrow's interface."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def relation(frame: pd.DataFrame) -> Any:
    return duckdb.from_arrow(pa.Table.from_pandas(frame, preserve_index=False))


KINDS: dict[str, tuple[Callable[[pd.DataFrame], Any], type]] = {
    "pandas": (lambda f: f, pd.DataFrame),
    "pandas with Arrow's types": (lambda f: f.convert_dtypes(dtype_backend="pyarrow"), pd.DataFrame),
    "polars": (pl.from_pandas, pl.DataFrame),
    "polars lazy": (lambda f: pl.from_pandas(f).lazy(), pl.DataFrame),
    "pyarrow table": (pa.Table.from_pandas, pa.Table),
    "pyarrow batch": (pa.RecordBatch.from_pandas, pa.RecordBatch),
    "pyarrow reader": (lambda f: pa.Table.from_pandas(f).to_reader(max_chunksize=50), pa.RecordBatchReader),
    "duckdb": (relation, duckdb.DuckDBPyRelation),
    "capsule": (lambda f: Capsule(pa.Table.from_pandas(f)), pa.Table),
}


@pytest.mark.parametrize("kind", KINDS)
def test_tables_keep_their_type_and_rows(kind: str, source: pd.DataFrame, truth: pd.DataFrame) -> None:
    convert, expected = KINDS[kind]
    bare = truth.drop(columns="y").assign(note=[f"row {i}" for i in range(len(truth))])
    got = same(convert(source), convert(bare), columns=["a", "b", "c"])
    assert isinstance(got, expected)
    table = to_arrow(got)
    assert table.column_names == ["a", "b", "c", "note", *ADDED]
    assert table["note"].to_pylist() == list(bare["note"])
    right = np.array(table["predicted_class"].to_pylist()) == truth["y"].to_numpy()
    assert right.mean() > 0.9


def test_arrays(source: pd.DataFrame, truth: pd.DataFrame) -> None:
    x, z = source[["a", "b", "c"]].to_numpy(), truth[["a", "b", "c"]].to_numpy()
    got = same((x, source["y"].to_numpy()), z, posteriors=True)
    assert got.dtype.names == (*ADDED, "probability")
    assert got["probability"].shape == (len(z), 3)
    assert np.allclose(got["probability"].sum(axis=1), 1, atol=1e-5)
    assert got["predicted_class"].dtype.kind == "i"
    assert (got["predicted_class"] == got["probability"].argmax(axis=1)).all()
    # However they lie in memory.
    again = same((np.asfortranarray(x)[:, ::1], list(source["y"])), np.repeat(z, 2, axis=0)[::2])
    assert (again["predicted_class"] == got["predicted_class"]).all()
    named = same((x, np.array(list("uvw"))[source["y"]]), z)
    assert set(named["predicted_class"]) == {"u", "v", "w"} and named["predicted_class"].dtype.kind == "U"


def test_real_tensors(source: pd.DataFrame, target: pd.DataFrame) -> None:
    torch = pytest.importorskip("torch")
    got = same((torch.tensor(source[["a", "b", "c"]].to_numpy()), torch.tensor(source["y"].to_numpy())), torch.tensor(target.to_numpy()))
    assert isinstance(got["confidence"], torch.Tensor) and got["predicted_class"].dtype == torch.int64


def test_tensors(monkeypatch: pytest.MonkeyPatch, source: pd.DataFrame, target: pd.DataFrame) -> None:
    class Tensor:
        """As much of torch's as the package uses: torch itself is large."""

        def __init__(self, array: Any) -> None:
            self.array = array

        def detach(self) -> Tensor:
            return self

        cpu = detach

        def numpy(self) -> Any:
            return self.array

    torch = types.ModuleType("torch")
    torch.Tensor, torch.from_numpy = Tensor, Tensor  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    got = same((Tensor(source[["a", "b", "c"]].to_numpy()), Tensor(source["y"].to_numpy())), Tensor(target.to_numpy()), posteriors=True)
    assert list(got) == [*ADDED, "probability"]
    assert got["probability"].array.shape == (len(target), 3)


LABELS: dict[str, Callable[[Any], Any]] = {
    "int64": lambda y: y,
    "uint8": lambda y: y.astype("uint8"),
    "bool": lambda y: y == 1,
    "float": lambda y: y.astype(float),
    "text": lambda y: np.array(["u", "v w", "x,\"é"])[y],
    "objects": lambda y: np.array(["u", "v", "w"])[y].astype(object),
    "nullable": lambda y: pd.array(y, dtype="Int64"),
    "category": lambda y: pd.Categorical.from_codes(y, ["u", "v", "w"], ordered=True),
    "category of numbers": lambda y: pd.Categorical(y * 10),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_classes_are_the_labels_that_they_were(kind: str, package: str, source: pd.DataFrame, truth: pd.DataFrame) -> None:
    make = LABELS[kind]
    labelled = source.assign(y=make(source["y"].to_numpy()))
    want = list(make(truth["y"].to_numpy()))
    bare = truth.drop(columns="y")
    if package == "polars":
        got = same(pl.from_pandas(labelled), pl.from_pandas(bare))["predicted_class"]
    else:
        got = same(labelled, bare)["predicted_class"]
        if kind.startswith("category"):
            assert got.dtype == labelled["y"].dtype
    assert np.mean([g == w for g, w in zip(got.to_list() if package == "polars" else got, want)]) > 0.9
    shares = mars.proportions(labelled, bare, "y", assume="same", bootstrap=10)
    assert set(shares.classes) == set(want)


def test_polars_categories(source: pd.DataFrame, target: pd.DataFrame) -> None:
    frame = pl.from_pandas(source)
    for kind in (pl.Categorical, pl.Enum(["u", "v", "w", "spare"])):
        named = frame.with_columns(pl.Series("y", np.array(["u", "v", "w"])[source["y"]]).cast(kind))
        got = same(named, pl.from_pandas(target))
        assert set(got["predicted_class"].cast(pl.String)) <= {"u", "v", "w"} and got["predicted_class"].dtype == pl.Categorical


def test_unknown_rows_are_of_no_type(source: pd.DataFrame, target: pd.DataFrame) -> None:
    far = pd.concat([target, pd.DataFrame({"a": [90.0], "b": [90.0], "c": [-90.0]})])
    got = same(source, far, unknown=0.05)
    assert got["predicted_class"].iloc[-1] == "unknown"
    assert set(got["predicted_class"]) <= {"0", "1", "2", "unknown"}


def test_the_index_is_kept(source: pd.DataFrame, target: pd.DataFrame) -> None:
    n = len(target)
    for index in (
        pd.MultiIndex.from_arrays([range(n), ["p", "q"] * (n // 2)], names=["cell", "plate"]),
        pd.Index([7] * n, name="a"),  # the same name as a column, and not unique
        pd.date_range("2000", periods=n, tz="Europe/Paris"),
    ):
        frame = target.set_index(index)
        frame.attrs["day"] = 3
        got = same(source.sample(frac=1, random_state=0), frame)
        assert got.index.equals(index) and got.index.names == index.names
        assert got.attrs == {"day": 3}
        pd.testing.assert_frame_equal(got[["a", "b", "c"]], frame)
    assert list(frame.columns) == ["a", "b", "c"]  # the user's own is as it was


def test_columns_of_other_names(source: pd.DataFrame, target: pd.DataFrame) -> None:
    numbered = same(source.set_axis([0, 1, 2, "truth"], axis=1), target.set_axis([0, 1, 2], axis=1), label="truth")
    assert list(numbered.columns) == [0, 1, 2, *ADDED]
    last = same(source.set_axis([0, 1, 2, 3], axis=1), target.set_axis([0, 1, 2], axis=1), label=3)
    assert list(last["predicted_class"]) == list(numbered["predicted_class"])
    deep = pd.concat({"cell": target}, axis=1)
    got = same(pd.concat({"cell": source}, axis=1), deep, label=("cell", "y"))
    assert list(got.columns[:4]) == [("cell", "a"), ("cell", "b"), ("cell", "c"), ("predicted_class", "")]


def test_columns_of_the_users_are_not_replaced(source: pd.DataFrame, target: pd.DataFrame) -> None:
    once = same(source, target)
    with pytest.raises(ValueError, match=r"^target: has columns that labels are called by \(predicted_class, confidence, typicality\): rename or drop them, or .* prefix='new_'"):
        same(source, once)
    with pytest.raises(ValueError, match="probability_of_rain"):
        same(source, target.assign(probability_of_rain=0.5), posteriors=True)
    twice = same(source, once, prefix="new_")
    assert list(twice.columns) == ["a", "b", "c", *ADDED, *(f"new_{name}" for name in ADDED)]
    assert list(twice["new_predicted_class"]) == list(once["predicted_class"])


def test_the_target_may_lack_text(source: pd.DataFrame, target: pd.DataFrame) -> None:
    notes = source.assign(note=["p", "q", "r"] * (len(source) // 3), site=["x", "y"] * (len(source) // 2))
    plain = same(source, target)
    with pytest.warns(mars.MarsWarning, match='^target has no columns "note", "site", which source has: they are left out$'):
        got = same(notes, target)
    pd.testing.assert_frame_equal(got, plain)
    levels = target.set_index([pd.Index(["p", "q"] * (len(target) // 2), name="note"), pd.Index(["x"] * len(target), name="site")])
    with pytest.warns(mars.MarsWarning, match="target has no columns"):
        deep = same(notes, levels)
    assert list(deep["confidence"]) == list(plain["confidence"]) and deep.index.equals(levels.index)


def test_what_is_known_of_the_labels(tmp_path: Path, source: pd.DataFrame, truth: pd.DataFrame, target: pd.DataFrame) -> None:
    plain = mars.label(source, target, "y")
    got, report = mars.label(source, target, "y", return_report=True)
    pd.testing.assert_frame_equal(got, plain)
    assert report.rows == len(target)
    assert report.counts == plain["predicted_class"].value_counts().to_dict()
    assert report.mean_confidence[0] == pytest.approx(plain.loc[plain["predicted_class"] == 0, "confidence"].mean(), abs=1e-6)
    right = (plain["predicted_class"] == truth["y"]).mean()
    assert report.expected_accuracy is not None and abs(report.expected_accuracy - right) < 0.1
    assert set(report.proportions) == {0, 1, 2} and sum(report.proportions.values()) == pytest.approx(1)
    assert report.expected_error is not None and "nothing has changed" in report.assumptions and sum(report.assumptions.values()) == pytest.approx(1)
    assert report.warnings == report.to_dict()["warnings"] and report.missing == 0
    assert report.verdict.startswith(("These labels can be believed: about ", "Believe these labels with care"))
    assert "expected to be right" in repr(report)
    assert pickle.loads(pickle.dumps(report)).to_dict() == report.to_dict()
    with pytest.warns(mars.MarsWarning):
        _, doubtful = mars.label(source, target[:30], "y", return_report=True)
    assert any("only 30 target rows" in w for w in doubtful.warnings) and "with care" in doubtful.verdict
    source.to_csv(tmp_path / "s.csv", index=False)
    table, of_files = mars.label(tmp_path / "s.csv", target, "y", return_report=True)
    assert of_files.counts == {str(k): n for k, n in report.counts.items()} and len(table) == len(target)


@pytest.mark.parametrize("kind", LABELS)
def test_a_row_without_any_value_has_no_label(kind: str, source: pd.DataFrame, truth: pd.DataFrame, target: pd.DataFrame) -> None:
    make = LABELS[kind]
    labelled = source[["a", "b", "c"]].assign(y=make(source["y"].to_numpy()))
    gaps = target[["a", "b", "c"]].copy()
    gaps.iloc[[1, 5]] = np.nan
    with pytest.warns(mars.MarsWarning, match="2 rows, .* have no value in any column"):
        got, report = mars.label(labelled, gaps, "y", posteriors=True, return_report=True)
        lazy = mars.label(pl.from_pandas(labelled), pl.from_pandas(gaps), "y")
        array = mars.label((labelled[["a", "b", "c"]].to_numpy(), labelled["y"].to_numpy()), gaps.to_numpy())
    without = [False, True, False, False, False, True]
    assert got["predicted_class"].isna()[:6].tolist() == without and got["typicality"].isna()[:6].tolist() == without
    assert lazy["predicted_class"].is_null()[:6].to_list() == without and pd.isna(array["predicted_class"])[:6].tolist() == without
    assert report.missing == 2 and report.rows == len(gaps) - 2 == sum(report.counts.values())
    of_gaps = got.filter(like="probability_").iloc[1]
    assert of_gaps.tolist() == pytest.approx(list(report.proportions.values()), abs=1e-4) and of_gaps.max() == pytest.approx(got["confidence"].iloc[1])
    known = got["predicted_class"].dropna()
    assert set(known) == set(labelled["y"]) and [type(v) for v in known[:3]] == [type(v) for v in lazy["predicted_class"].drop_nulls()[:3].to_list()]


def test_columns_of_other_types(source: pd.DataFrame, target: pd.DataFrame) -> None:
    def more(frame: pd.DataFrame) -> pd.DataFrame:
        n = len(frame)
        return frame.assign(
            day=pd.date_range("2000", periods=n),
            zoned=pd.date_range("2000", periods=n, tz="Europe/Paris"),
            date=datetime.date(2000, 1, 1),
            span=pd.to_timedelta(np.arange(n), "s"),
            month=pd.period_range("2000", periods=n, freq="M"),
            bin=pd.cut(frame["a"], 3),
            group=pd.Categorical(["p", "q"] * (n // 2)),
            text=pd.array(["p", None] * (n // 2), dtype="string"),
            count=pd.array([1, None] * (n // 2), dtype="Int64"),
            yes=pd.array([True, None] * (n // 2), dtype="boolean"),
            nothing=None,
            gap=[1.0, np.nan] * (n // 2),
        )

    got = same(more(source), more(target))
    pd.testing.assert_frame_equal(got.drop(columns=ADDED), more(target))


def test_rows_need_no_names(source: pd.DataFrame, target: pd.DataFrame) -> None:
    plain = same(source, target)
    named = same(source.assign(id=7), target.assign(id="p"))
    patient = same(source.assign(patient=1), target.assign(patient=2), id="patient")
    for got in (named, patient):
        assert list(got["predicted_class"]) == list(plain["predicted_class"])
        assert list(got["confidence"]) == list(plain["confidence"])
    with pytest.raises(ValueError, match=r"target: has no column 'patient' \(its columns are a, b, c\)"):
        same(source.assign(patient=1), target, id="patient")


def test_only_some_rows(source: pd.DataFrame, target: pd.DataFrame) -> None:
    frame = target.set_axis([f"r{i}" for i in range(len(target))])
    got = same(source, frame, target_rows=50)
    assert len(got) == 50
    pd.testing.assert_frame_equal(got[["a", "b", "c"]], frame.loc[got.index])
    assert same(pl.from_pandas(source), pl.from_pandas(target), target_rows=50).select("a", "b", "c").equals(
        pl.from_pandas(got[["a", "b", "c"]])
    )


def test_one_table_of_both(source: pd.DataFrame, target: pd.DataFrame) -> None:
    both = pd.concat([source.assign(day="old"), target.assign(day="new")], ignore_index=True).sample(frac=1, random_state=0)
    got = same(both, None, domain_column="day", source_domain="old", target_domain="new")
    assert got.index.equals(both.index[both["day"] == "new"])
    shares = mars.proportions(both, label="y", domain_column="day", source_domain="old", target_domain="new", assume="same", bootstrap=10)
    assert isinstance(shares.table, pd.DataFrame)


def test_files(tmp_path: Path, source: pd.DataFrame, target: pd.DataFrame) -> None:
    frame = same(source, target)
    source.to_csv(tmp_path / "s.csv", index=False)
    target[:70].to_parquet(tmp_path / "1.parquet")
    target[70:].to_csv(tmp_path / "2 the second.csv", index=False)
    parts = [tmp_path / "1.parquet", str(tmp_path / "2 the second.csv")]
    files = same(tmp_path / "s.csv", parts, posteriors=True)
    assert isinstance(files, pa.Table)
    assert files.column_names == ["id", *ADDED, "probability_0", "probability_1", "probability_2"]
    assert files["predicted_class"].to_pylist() == [str(y) for y in frame["predicted_class"]]
    kept = same(tmp_path / "s.csv", tmp_path / "2 the second.csv", keep=["a", "b"])
    assert kept.column_names == ["id", "a", "b", *ADDED]
    mixed = same(str(tmp_path / "s.csv"), target)
    assert isinstance(mixed, pd.DataFrame) and list(mixed["confidence"]) == list(frame["confidence"])
    other = same(source, parts)
    assert other["predicted_class"].to_pylist() == list(frame["predicted_class"])


def test_the_model_is_kept(tmp_path: Path, source: pd.DataFrame, target: pd.DataFrame) -> None:
    model = tmp_path / "model.safetensors"
    got = same(source, target, save=model)
    again = mars.predict(model, target.iloc[::-1, ::-1], posteriors=True)  # any order of rows and columns
    assert [int(y) for y in again["predicted_class"][::-1]] == list(got["predicted_class"])
    assert list(again.columns[-3:]) == ["probability_0", "probability_1", "probability_2"]
    assert again["confidence"].equals(again.filter(like="probability_").max(axis=1).rename("confidence"))


def test_many_classes_are_joined_at_once(recwarn: pytest.WarningsRecorder) -> None:
    columns = pa.table({f"p{i}": [0.5] for i in range(300)})
    assert like(pd.DataFrame({"a": [1]}), columns).shape == (1, 301)
    assert not [w for w in recwarn if "fragmented" in str(w.message)]


def test_a_very_wide_frame() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    x = rng.normal(0, 1, (120, 3000)) + y[:, None]
    got = same((x, y), x + 0.1)
    assert (got["predicted_class"] == y).mean() > 0.9


BAD: dict[str, tuple[Callable[[pd.DataFrame, pd.DataFrame], Any], type[Exception], str]] = {
    "no rows in the target": (lambda s, t: same(s, t[:0]), mars.MarsValueError, "^target: has no rows: give data with at least one"),
    "no rows in the source": (lambda s, t: same(s[:0], t), mars.MarsValueError, "^source: has no rows"),
    "no rows, and text": (lambda s, t: same(s.assign(site=["p", "q"] * 90), t.assign(site="p")[:0]), mars.MarsValueError, "^target: has no rows: give data with at least one"),
    "a label of values": (lambda s, t: same(s, t, label=s["y"]), TypeError, "^label: is the name of a column, and no Series of labels: give label='y', or"),
    "no label was named": (lambda s, t: same(s.rename(columns={"y": "celltype"}), t, label="label"), ValueError, "^source: has no labels: name the label column with label=, perhaps celltype"),
    "standard input": (lambda s, t: same(s, "-"), ValueError, "^target: - is standard input"),
    "no columns": (lambda s, t: same(s, t[[]]), mars.MarsValueError, '^target: has no column "a", "b", "c", which source has .* no feature column in common: rename columns, or name others with columns=$'),
    "no label": (lambda s, t: same(t, t), mars.MarsValueError, '^source: has no column "y" \\(its columns are a, b, c\\)'),
    "no column of the source": (lambda s, t: same(s, t[["a", "b"]]), mars.MarsError, 'target: has no column "c", which source has'),
    "text for numbers": (lambda s, t: same(s, t.assign(a=["x"] + ["1"] * (len(t) - 1))), mars.MarsError, 'target: column "a": row 1: "x" is not a number'),
    "lists where the source has numbers": (lambda s, t: same(s, t.assign(a=[[1.0, 2.0]] * len(t))), mars.MarsValueError, '^target: column a has lists of numbers, and the other rows have one value each in a, b, c: give it one number a row, as there, or leave it out \\(exclude="a"\\)$'),
    "lists in a column that the target lacks": (lambda s, t: same(s.assign(q=[[1.0, 2.0]] * len(s)), t), mars.MarsValueError, '^source: column q has lists of numbers, and .*\\(exclude="q"\\)$'),
    "a wrong value": (lambda s, t: same(s, t, decision="best"), ValueError, '^decision="best" is not one of accuracy, balanced, none'),
    "a wrong option": (lambda s, t: same(s, t, decison="none"), TypeError, r"label\(\) got an unexpected keyword argument 'decison': did you mean 'decision'"),
    "an option twice": (lambda s, t: same(s, t, seed=1, random_state=1), TypeError, "seed and random_state are one and the same"),
    "no table": (lambda s, t: same(None, t), TypeError, "source: builtins.NoneType is no table: give pandas, polars"),
    "lists": (lambda s, t: same(s, [[1, 2], [3, 4]]), TypeError, "target: builtins.list is no table"),
    "a name twice": (lambda s, t: same(pd.concat([s, s[["a"]]], axis=1), t), ValueError, "source: several columns are called 'a'"),
    "a name twice in Arrow": (lambda s, t: same(s, pa.table([[1], [2]], names=["a", "a"])), ValueError, "target: several columns are called 'a'"),
    "objects of any kind": (lambda s, t: same(s.assign(q=[1, "x"] * (len(s) // 2)), t), TypeError, "source: no Arrow table can be made of it: .*column q"),
    "complex numbers": (lambda s, t: same(s, t.assign(q=1j)), TypeError, "target: no Arrow table can be made of it: .*column q"),
    "sparse columns": (lambda s, t: same(s, t.astype(pd.SparseDtype(float))), TypeError, "target: Arrow has no sparse columns, as 'a'"),
    "labels too few": (lambda s, t: same((s[["a"]], [1, 2]), t), ValueError, "source: there are 180 rows, but 2 labels"),
    "labels of two dimensions": (lambda s, t: same((s[["a"]], s[["y"]]), t), ValueError, "source: labels are one column"),
    "labels of any kind": (lambda s, t: same((s[["a"]], [1, "x"] * 90), t), TypeError, "source: its labels are of several types"),
    "a source row without label": (lambda s, t: same((s[["a", "b", "c"]], [None, 1, 2] * 60), t), mars.MarsError, "source: row 1: the source row has no label"),
    "labels called as a feature": (lambda s, t: same((s, s["y"]), t), ValueError, "source: the features have a column 'y'"),
    "images": (lambda s, t: same((np.zeros((9, 2, 2)), [0] * 9), t), ValueError, "an array of 3 dimensions is no table"),
    "no file": (lambda s, t: same("none.csv", t), mars.MarsError, "open none.csv: no such file or directory"),
    "no target": (lambda s, t: same(s, None), ValueError, "^give source and target, or .*domain_column=$"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_told_by_name(what: str, source: pd.DataFrame, target: pd.DataFrame) -> None:
    call, error, message = BAD[what]
    with pytest.raises(error, match=message) as raised:
        call(source, target)
    assert "/dev/fd" not in str(raised.value)


def test_errors_can_be_pickled() -> None:
    e = pickle.loads(pickle.dumps(mars.MarsError("no", 2)))
    assert (str(e), e.message, e.status) == ("no", "no", 2)


def test_source_rows_without_a_label(source: pd.DataFrame, target: pd.DataFrame) -> None:
    gaps = source.assign(y=source["y"].astype("Int64").where(np.arange(len(source)) >= 9))
    with pytest.raises(ValueError, match=r"^source: .*no label.*missing_labels="):
        same(gaps, target)
    with pytest.warns(mars.MarsWarning, match="9 of 180 rows have no label"):
        got = same(gaps, target, missing_labels="drop")
    assert list(got["predicted_class"]) == list(same(source[9:], target)["predicted_class"])


def test_a_model_is_the_same_each_time(tmp_path: Path, source: pd.DataFrame, target: pd.DataFrame) -> None:
    for name in ("a", "b"):
        same(source, target, save=tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert b"/dev/fd" not in (tmp_path / "a").read_bytes()
