"""The program and its messages: logs, warnings, failures, interruption."""

from __future__ import annotations

import inspect
import io
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import mars
from mars._process import run

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and scripts of Unix")


def program(folder: Path, text: str) -> str:
    """A program that stands for mars."""
    path = folder / "mars"
    path.write_text("#!/bin/sh\n" + textwrap.dedent(text))
    path.chmod(0o755)
    return str(path)


def big(rows: int = 1_000_000) -> pa.Table:
    """More than any pipe holds."""
    return pa.table({"x": np.zeros(rows), "y": np.zeros(rows, int)})


def test_logs_and_warnings(caplog: pytest.LogCaptureFixture, source: pd.DataFrame, target: pd.DataFrame) -> None:
    lines: list[str] = []
    with caplog.at_level(logging.INFO, "mars"), pytest.warns(mars.MarsWarning, match="^there are only 40 target rows") as caught:
        mars.label(source, target[:40], "y", assume="same", progress=lines.append)
    assert any(r.name == "mars" and r.levelno == logging.INFO and r.message.startswith("labelled 40 rows") for r in caplog.records)
    assert any(r.levelno == logging.WARNING and r.message.startswith("there are only 40") for r in caplog.records)
    assert any(line.startswith("labelled 40 rows") for line in lines)
    assert not any("{" in line or "/dev/fd" in line for line in lines)
    assert {w.filename for w in caught} == {__file__}  # not a line of the package


def test_warnings_can_be_errors(source: pd.DataFrame, target: pd.DataFrame) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", mars.MarsWarning)
        with pytest.raises(mars.MarsWarning, match="only 40 target rows"):
            mars.label(source, target[:40], "y", assume="same")


def test_progress_is_shown(capfd: pytest.CaptureFixture[str], source: pd.DataFrame, target: pd.DataFrame) -> None:
    mars.label(source, target, "y", assume="same")
    assert "labelled" not in capfd.readouterr().err
    mars.label(source, target, "y", assume="same", progress=True)
    assert "labelled 140 rows" in capfd.readouterr().err


def test_steps_are_shown(monkeypatch: pytest.MonkeyPatch, source: pd.DataFrame, target: pd.DataFrame) -> None:
    lines: list[str] = []
    mars.label(source, target, "y", method="source", epochs=3, progress=lines.append)
    assert "epochs 3 of 3" in lines and any(line.startswith("labelled 140 rows") for line in lines)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    mars.label(source, target, "y", method="source", epochs=3, progress=True)
    text = sys.stderr.getvalue()  # type: ignore[attr-defined]
    drawn = re.split("[\r\n]", text)  # a step comes after a line of the log or after another step
    assert "epochs 3 of 3" in drawn and any(line.startswith("labelled 140 rows") for line in drawn)
    assert text.endswith(("\n", "\r"))


def test_progress_that_fails_is_no_failure(caplog: pytest.LogCaptureFixture, source: pd.DataFrame, target: pd.DataFrame) -> None:
    def broken(line: str) -> None:
        raise KeyError(line)

    assert len(mars.label(source, target, "y", assume="same", progress=broken)) == len(target)
    assert "progress failed" in caplog.text


def test_status_of_wrong_use() -> None:
    with pytest.raises(mars.MarsError) as raised:
        run(["label", "--assume=perhaps"])
    assert raised.value.status == 2 and raised.value.message.startswith('assume="perhaps" is not one of')
    assert isinstance(raised.value, mars.MarsValueError) and isinstance(raised.value, ValueError)


@posix
def test_a_program_that_ends_early_or_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARS_BINARY", program(tmp_path, "exit 7"))
    begun = time.monotonic()
    with pytest.raises(mars.MarsError, match="^mars ended with status 7 and said nothing$"):
        run(["label"], {"source": big(), "target": big()})
    monkeypatch.setenv("MARS_BINARY", program(tmp_path, "kill -9 $$"))
    with pytest.raises(mars.MarsError, match="by signal 9") as raised:
        run(["label"], {"source": big()})
    assert raised.value.status == -9
    assert time.monotonic() - begun < 20


@posix
def test_a_program_that_reads_nothing_and_writes_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARS_BINARY", program(tmp_path, "head -c 5000000 /dev/zero; yes $(printf %0500d 0) | head -c 5000000 >&2"))
    assert len(run(["label"], {"source": big()})) == 5_000_000


@posix
def test_a_reader_that_fails_is_no_whole_table(tmp_path: Path, source: pd.DataFrame, target: pd.DataFrame) -> None:
    schema = pa.schema({"x": pa.float64()})

    def batches() -> object:
        yield pa.record_batch({"x": [1.0]}, schema)
        raise KeyError("the disk is gone")

    with pytest.raises(KeyError, match="the disk is gone"):
        run(["label", "--label=y", f"--save={tmp_path / 'm'}"], {"source": pa.RecordBatchReader.from_batches(schema, batches())})
    assert not list(tmp_path.iterdir())


@posix
def test_no_file_or_thread_is_left(source: pd.DataFrame, target: pd.DataFrame, opened: Callable[[], set[object]]) -> None:
    mars.label(source, target, "y", assume="same")
    before = opened()
    for _ in range(3):
        mars.label(source, target, "y", assume="same")
        with pytest.raises(mars.MarsError):
            mars.label(source, target, "y", decision="best")
    assert not opened() - before


def test_no_file_is_left_without_a_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, opened: Callable[[], set[object]]) -> None:
    broken = tmp_path / "mars"
    broken.write_bytes(b"\x7fELF no program")
    broken.chmod(0o755)
    monkeypatch.setenv("MARS_BINARY", str(broken))
    before = opened()
    for _ in range(3):
        with pytest.raises(OSError):
            run(["label"], {"source": big(10)})
    assert not opened() - before


@posix
@pytest.mark.parametrize("delay", [0, 0.001, 0.01, 0.3])
def test_an_interrupt_ends_the_program(delay: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a notebook does it: the signal comes to Python alone."""
    mark = tmp_path / "pid"
    monkeypatch.setenv("MARS_BINARY", program(tmp_path, f"echo $$ > {mark}.new; mv {mark}.new {mark}; exec sleep 600"))

    def interrupt() -> None:
        while not mark.exists():
            time.sleep(0.001)
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(["label"], {"source": big()})
    assert time.monotonic() - begun < 20
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


@posix
def test_ctrl_c_in_a_terminal(tmp_path: Path) -> None:
    """The signal comes to Python and the program: no traceback but KeyboardInterrupt, and nothing left."""
    script = tmp_path / "long.py"
    script.write_text(
        textwrap.dedent("""
            import numpy as np, mars
            rng = np.random.default_rng(0)
            X, y = rng.normal(0, 1, (20000, 50)), rng.integers(0, 4, 20000)
            mars.label((X, y), X, method="marsc", epochs=5000, progress=lambda line: print(line, flush=True), save="model")
        """)
    )
    child = subprocess.Popen(
        [sys.executable, str(script)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True,
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(mars.__file__))},
    )
    time.sleep(4)
    assert child.poll() is None, child.communicate()
    os.killpg(child.pid, signal.SIGINT)
    _, errors = child.communicate(timeout=30)
    assert child.returncode in (130, -signal.SIGINT) and errors.rstrip().endswith("KeyboardInterrupt"), errors
    assert [p.name for p in tmp_path.iterdir()] == ["long.py"]
    with pytest.raises(ProcessLookupError):  # of the whole session
        os.killpg(child.pid, 0)


@posix
def test_the_program_ends_with_a_python_that_is_killed(tmp_path: Path) -> None:
    """As a notebook's kernel is restarted, and a job cancelled."""
    script = tmp_path / "long.py"
    script.write_text(
        textwrap.dedent("""
            import numpy as np, mars
            from mars import _process
            start = _process.subprocess.Popen
            def told(*a, **k):
                child = start(*a, **k)
                print(child.pid, flush=True)
                return child
            _process.subprocess.Popen = told
            rng = np.random.default_rng(0)
            X, y = rng.normal(0, 1, (20000, 50)), rng.integers(0, 4, 20000)
            mars.label((X, y), X, method="marsc", epochs=5000)
        """)
    )
    python = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(mars.__file__))})
    assert python.stdout is not None
    pid = int(python.stdout.readline())
    time.sleep(2)
    os.kill(pid, 0)  # it works
    python.kill()
    python.wait()
    python.stdout.close()
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the program computes on")


def test_threads_can_run_side_by_side(source: pd.DataFrame, target: pd.DataFrame) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: mars.label(source, target, "y", assume="same", jobs=1), range(8)))
    for answer in answers[1:]:
        pd.testing.assert_frame_equal(answer, answers[0])


def test_where_the_program_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = mars.binary()
    monkeypatch.setenv("MARS_BINARY", "/nowhere/mars")
    with pytest.raises(FileNotFoundError, match="MARS_BINARY=/nowhere/mars: there is no such program"):
        mars.binary()
    monkeypatch.delenv("MARS_BINARY")
    if (Path(mars.__file__).parent / "bin").exists():
        return  # a wheel has its own
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="the program mars is not installed"):
        mars.binary()
    shutil.copy(found, tmp_path)
    assert mars.binary() == str(tmp_path / os.path.basename(found))


def test_keywords_are_documented_and_completed() -> None:
    for function, some in ((mars.label, ["assume", "seed", "random_state"]), (mars.proportions, ["level", "bootstrap"]), (mars.predict, ["decision"])):
        signature = inspect.signature(function)
        for name in some:
            assert signature.parameters[name].default is None
        text = inspect.getdoc(function) or ""
        assert "**OPTIONS**" not in text and f"\n{some[0]} : " in text and " --" not in text


def test_names_of_the_package() -> None:
    assert "MarsClassifier" in dir(mars)
    with pytest.raises(AttributeError, match="module 'mars' has no attribute 'nothing'"):
        mars.nothing  # noqa: B018


def test_tables_as_files_where_pipes_have_no_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: pd.DataFrame, target: pd.DataFrame
) -> None:
    piped = mars.label(source, target, "y", assume="same")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pd.testing.assert_frame_equal(mars.label(source, target, "y", assume="same"), piped)
    with pytest.raises(mars.MarsError, match='^source: has no column "y"') as raised:
        mars.label(target, target, "y")
    assert str(tmp_path) not in str(raised.value)
    assert not list(tmp_path.iterdir())
