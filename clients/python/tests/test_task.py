"""Partitions of an engine through the program: batches, failures, and what is left behind."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import mars
from mars._task import TaskError, label_batches, sendable

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs of Unix")

NEW: dict[str, str | int] = {"predicted_class": "predicted_class", "confidence": "confidence", "p1": 1}


@pytest.fixture
def model(tmp_path: Path, source: pd.DataFrame, target: pd.DataFrame) -> str:
    path = str(tmp_path / "model.safetensors")
    mars.label(source, target, "y", assume="same", save=path)
    return path


def command(model: str) -> list[str]:
    return [mars.binary(), "predict", f"--model={model}", "--target=-", "--format=arrow", "--quiet"]


def rows(n: int) -> pa.Table:
    rng = np.random.default_rng(5)
    return pa.table({"c": rng.normal(1, 1, n), "name": [f"r{i}" for i in range(n)], "a": rng.normal(1, 1, n), "b": rng.normal(1, 1, n)})


SEND = {"a": "a", "b": "b", "c": "c"}


@pytest.mark.parametrize("size", [1, 7, 1000, 100_000])
def test_batches_of_any_size(model: str, size: int) -> None:
    table = rows(5000 if size > 1 else 40)
    want = mars.predict(model, table.select(["a", "b", "c"]), posteriors=True)
    empty = table.slice(0, 0).to_batches(1)[:1] or [pa.RecordBatch.from_pylist([], table.schema)]
    batches = [*empty, *table.to_batches(size), *empty]
    got = pa.Table.from_batches(list(label_batches(batches, command(model), send=SEND, new=NEW, drop={"c"})))
    assert got.column_names == ["name", "a", "b", *NEW]
    assert got.select(["name", "a", "b"]).equals(table.select(["name", "a", "b"]))
    for ours, theirs in {"predicted_class": "predicted_class", "confidence": "confidence", "p1": "probability_1"}.items():
        assert got[ours].combine_chunks().equals(want[theirs].combine_chunks()), ours


def test_no_rows_start_nothing() -> None:
    assert list(label_batches([], ["/no/such/program"], new=NEW)) == []
    assert list(label_batches([pa.RecordBatch.from_pylist([], pa.schema({"a": pa.int8()}))], ["/no/such/program"], new=NEW)) == []


def test_rows_come_back_before_all_are_sent(model: str) -> None:
    batches = rows(100_000).to_batches(20_000) * 5
    sent = 0

    def slowly() -> Iterator[Any]:
        nonlocal sent
        for batch in batches:
            sent += 1
            yield batch
            time.sleep(0.1)

    labelled = label_batches(slowly(), command(model), send=SEND, new=NEW)
    next(labelled)
    assert sent < len(batches)
    labelled.close()


def test_nothing_is_left(model: str, opened: Callable[[], set[object]]) -> None:
    def endless() -> Iterator[Any]:
        while True:
            yield from rows(20_000).to_batches(1000)

    before = opened()
    labelled = label_batches(endless(), command(model), send=SEND, new=NEW)
    for _ in range(30):
        next(labelled)
    labelled.close()
    for _ in range(50):  # the thread that writes ends by itself
        if opened() <= before:
            break
        time.sleep(0.1)
    assert not opened() - before
    assert not [p for p in Path("/proc").glob("[0-9]*") if b"predict" in _line(p) and model.encode() in _line(p)]


def _line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def test_a_bad_row_is_named(model: str) -> None:
    table = rows(3000)
    table = table.set_column(2, "a", pa.array([float("inf") if i == 2345 else 0.5 for i in range(3000)]))
    with pytest.raises(TaskError, match=r"^partition 3: mars predict: its rows: .*row 2346.*"):
        list(label_batches(table.to_batches(500), command(model), send=SEND, new=NEW, where="partition 3"))


def test_rows_that_cannot_be_had_are_the_cause(model: str) -> None:
    def broken() -> Iterator[Any]:
        yield from rows(5000).to_batches(1000)
        raise KeyError("the disk is gone")

    with pytest.raises(KeyError, match="the disk is gone"):
        list(label_batches(broken(), command(model), send=SEND, new=NEW))


def program(folder: Path, text: str) -> str:
    path = folder / "mars"
    path.write_text(f"#!{sys.executable}\n" + textwrap.dedent(text))
    path.chmod(0o755)
    return str(path)


def test_programs_that_fail(tmp_path: Path) -> None:
    batches = rows(200_000).to_batches(10_000)
    for text, message in {
        "import sys; sys.exit(7)": "^mars ended with status 7 and said nothing$",
        "import os; os.kill(os.getpid(), 9)": "^mars ended by signal 9 and said nothing: if it was killed for want of memory",
        "import sys; sys.exit('mars predict: standard input: is wrong')": "^mars predict: its rows: is wrong$",
        "print('hello'); import sys; sys.stdin.buffer.read()": "^what mars wrote is no Arrow stream",
        "import sys; sys.stdin.buffer.read()": "^what mars wrote is no Arrow stream",
        """
        import sys, pyarrow as pa
        first = next(iter(pa.ipc.open_stream(sys.stdin.buffer)))
        sys.stdin.buffer.read()
        table = pa.table({"predicted_class": ["a"], "confidence": [1.0], "probability": [[1.0, 0.0]]})
        with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as writer:
            writer.write_table(table)
        """: "^200000 rows were sent to mars, and 1 came back$",
    }.items():
        with pytest.raises(TaskError, match=message):
            list(label_batches(batches, [program(tmp_path, text)], new=NEW))
    with pytest.raises(TaskError, match="cannot be started"):
        list(label_batches(batches, [str(tmp_path / "absent")], new=NEW))


def test_warnings_go_to_the_log(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = """
        import sys, pyarrow as pa
        n = sum(b.num_rows for b in pa.ipc.open_stream(sys.stdin.buffer))
        print('{"level": "WARN", "msg": "a new value"}', file=sys.stderr)
        table = pa.table({"predicted_class": ["a"] * n})
        with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as writer:
            writer.write_table(table)
        """
    got = list(label_batches(rows(10).to_batches(), [program(tmp_path, text)], new={"k": "predicted_class"}, where="partition 0"))
    assert got[0].column("k").to_pylist() == ["a"] * 10
    assert "mars: partition 0: a new value" in capfd.readouterr().err


def test_times_go_by_utc() -> None:
    there = pa.array([0], pa.timestamp("us", "Asia/Tokyo"))
    sent = sendable(pa.record_batch({"t": there, "u": pa.array([0], pa.timestamp("us"))}), {"t": "time", "u": "u"})
    assert sent.schema == pa.schema({"time": pa.timestamp("us", "UTC"), "u": pa.timestamp("us")})
    assert sent.column("time").cast(pa.int64()).to_pylist() == [0]
