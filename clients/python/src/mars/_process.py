"""Running the program, with tables as Arrow over pipes."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import IO, Any

import pyarrow as pa

from mars._binary import binary
from mars._progress import Display, Progress, Steps
from mars._words import spoken

_log = logging.getLogger("mars")
_log.addHandler(logging.NullHandler())  # who wants the log says so; warnings are Python's

_BATCH_ROWS = 1 << 16

# What is said of files of who runs us, not of the program's.
_OF_PARENTS = ("MARS_PROGRESS_FD", "MARS_PARENT_FD")


class MarsError(RuntimeError):
    """What the program says is wrong. Where data or an argument are, it is a `MarsValueError`.

    Attributes
    ----------
    message : str
        The program's own message.
    status : int
        The program's exit status: 1 bad input or failure, 2 wrong use, 3 training
        diverged; negative: the signal that ended it.
    """

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message, status)
        self.message = message
        self.status = status

    def __str__(self) -> str:
        return self.message


class MarsValueError(MarsError, ValueError):
    """Data or an argument that the program refuses: a `MarsError` that is a `ValueError` too."""


class MarsWarning(UserWarning):
    """What the program warns about: above all, results that are not to be believed."""


def run(
    command: Sequence[str],
    tables: Mapping[str, Any] = {},
    *,
    progress: Progress = None,
    text: bool = False,
    shown: Mapping[str, str] | None = None,
) -> bytes:
    """Run ``mars COMMAND``, and give it tables as Arrow over pipes.

    Parameters
    ----------
    command : sequence of str
        The command and its flags, such as ``["label", "--label", "y"]``.
    tables : mapping of str to pyarrow.Table or pyarrow.RecordBatchReader
        Tables by the name of their flag: ``{"source": table}`` becomes
        ``--source=/dev/fd/N``; ``rows`` is what the command reads as its FILE. On Windows,
        which has no such pipes, a table is written to a temporary Arrow file, which is
        removed at the end.
    progress : bool or callable, optional
        True shows the log's lines on standard error as they come, and how far the work
        is; a function is called with each. The lines go to ``logging.getLogger("mars")``
        in any case.
    text : bool
        Whether what the command writes is for a person (``--help``): its log is not
        asked for as JSON then.
    shown : mapping of str to str, optional
        For a command line: what messages call the tables. The log goes to standard error
        as the program writes it, and what it answers to standard output.

    Returns
    -------
    bytes
        What the command wrote to its standard output.

    Raises
    ------
    MarsValueError
        If the command refuses data or an argument, with its own message in Python's words.
    MarsError
        If it fails otherwise.

    Examples
    --------
    >>> from mars._process import run
    >>> run(["version"], text=True).startswith(b"mars")
    True
    """
    child = _Child([*command, *([] if text or shown is not None else ["--log-format=json"])], tables, progress, shown)
    try:
        child.start()
        while not child.ended.wait(1):  # in parts, as Windows does not interrupt it
            pass
    except BaseException:  # Ctrl-C above all: leave no process behind
        child.stop()
        raise
    return child.answer()


class _Child(threading.Thread):
    """A thread that runs the program. Python gives signals to the main thread alone, so none comes between a start and its end."""

    def __init__(self, command: Sequence[str], tables: Mapping[str, Any], progress: Progress, shown: Mapping[str, str] | None) -> None:
        super().__init__(name="mars", daemon=True)
        self._shown = shown
        self._command, self._display = [binary(), *command], Display(progress)
        self._inputs = [_Input(name, table) for name, table in tables.items()]
        self._messages: _Messages | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = threading.Event()
        self.ended = threading.Event()  # an interrupted join takes a thread for ended that is not
        self._failure: BaseException | None = None
        self._output = b""

    def run(self) -> None:
        try:
            with contextlib.ExitStack() as stack:
                for i in self._inputs:
                    stack.enter_context(i)
                self._work()
        except BaseException as e:
            self._failure = e
        finally:
            self.ended.set()

    def _work(self) -> None:
        steps, fds, environment = self._steps()
        try:
            process = subprocess.Popen(
                [*self._command, *(i.flag for i in self._inputs)],
                stdin=subprocess.PIPE,  # nothing is written to it: it ends when Python does, however that ends, and so does the program
                stdout=subprocess.PIPE if self._shown is None else None,
                stderr=subprocess.PIPE,
                pass_fds=[i.read for i in self._inputs if i.read is not None] + fds,
                env={k: v for k, v in os.environ.items() if k not in _OF_PARENTS} | environment,
            )
        finally:
            for fd in fds:
                os.close(fd)
        with process:
            self._process = process
            assert process.stderr is not None
            names = {i.path: i.name if self._shown is None else self._shown[i.name] for i in self._inputs}
            self._messages = _Messages(process.stderr, names, self._display, direct=self._shown is not None)
            threads = [self._messages, *self._inputs, *steps]
            for thread in threads:
                thread.start()
            if self._stopped.is_set():
                process.terminate()
            self._output = process.stdout.read() if process.stdout is not None else b""
            for thread in threads:
                thread.join()
            process.wait()  # before its standard input is closed
        self._display.clear()

    def _steps(self) -> tuple[list[Steps], list[int], dict[str, str]]:
        """What reads how far the program is, if anybody wants to know; the program's file for it; and how it is told of its files."""
        environment = {"MARS_PARENT_FD": "0"}
        if not self._display.wanted or sys.platform == "win32":
            return [], [], environment
        read, write = os.pipe()
        return [Steps(open(read), self._display)], [write], environment | {"MARS_PROGRESS_FD": str(write)}

    def stop(self) -> None:
        """End a program that is no longer wanted: kindly, so that it cleans up, then at once."""
        self._stopped.set()
        try:
            if self._process is not None:
                self._process.terminate()
            self.ended.wait(5)
        finally:
            if self._process is not None:
                self._process.kill()
        self.ended.wait(5)

    def answer(self) -> bytes:
        """What the program has written, once it has ended."""
        for failure in (self._failure, *(i.failure for i in self._inputs)):
            if failure is not None:
                raise failure
        assert self._process is not None and self._messages is not None
        self._messages.warn()
        if status := self._process.returncode:
            if self._shown is not None and status > 0:
                raise MarsError("", status)  # what it said has been shown
            raise (MarsValueError if status in (1, 2) and self._messages.said else MarsError)(self._messages.error(status), status)
        return self._output


class _Input(threading.Thread):
    """A table that a child reads, and the thread that writes it."""

    def __init__(self, name: str, table: Any) -> None:
        super().__init__(name=f"mars-{name}", daemon=True)
        self.name, self._table = name, table
        self.failure: BaseException | None = None
        self.read: int | None = None
        self._write: int | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> _Input:
        if sys.platform != "win32":
            self.read, self._write = os.pipe()
            self.path = f"/dev/fd/{self.read}"
        else:
            self._folder = tempfile.TemporaryDirectory(prefix="mars-")
            self.path = os.path.join(self._folder.name, f"{self.name}.arrow")
            with open(self.path, "wb") as file:
                _write(self._table, pa.ipc.new_file(file, self._table.schema))
        self.flag = self.path if self.name == "rows" else f"--{self.name}={self.path}"
        return self

    def __exit__(self, *_: object) -> None:
        for fd in (self.read, self._write):
            if fd is not None:
                os.close(fd)
        self.read = self._write = None
        if self._folder is not None:
            self._folder.cleanup()

    def start(self) -> None:
        """Begin to write. The child's end of the pipe is then the only one, so that its death is noticed."""
        if self.read is not None:
            os.close(self.read)
            self.read = None
        super().start()

    def run(self) -> None:
        if self._write is None:
            return
        fd, self._write = self._write, None
        try:
            with open(fd, "wb") as file:
                _widen(fd)
                _write(self._table, pa.ipc.new_stream(file, self._table.schema))
        except BrokenPipeError:
            pass  # the child has ended, and says why
        except BaseException as e:
            self.failure = e


def _widen(fd: int) -> None:
    """Make a pipe hold a MB, where that can be done: fewer switches between the processes."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 1 << 20)


def _write(table: Any, writer: Any) -> None:
    """Write a table or a reader. Where that fails the end is not marked, so that nobody takes it for whole."""
    if isinstance(table, pa.Table):
        writer.write_table(table, max_chunksize=_BATCH_ROWS)
    else:
        for batch in table:
            writer.write_batch(batch)
    writer.close()


class _Messages(threading.Thread):
    """Reads what a child writes to standard error: its log, and why it failed."""

    def __init__(self, stream: IO[bytes], names: Mapping[str, str], display: Display, direct: bool = False) -> None:
        super().__init__(name="mars-log", daemon=True)
        self._names = sorted(names.items(), reverse=True)  # of the inputs, by path: /dev/fd/31 before /dev/fd/3
        self._stream, self._display, self._direct = stream, display, direct
        self._warnings: list[str] = []
        self._lines: list[str] = []

    def run(self) -> None:
        for raw in self._stream:
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            if self._direct:
                print(self._named(line), file=sys.stderr, flush=True)
                continue
            record = _record(line)
            if record is None:
                self._lines.append(self._named(line))
                continue
            level, message = record[0], self._named(record[1])
            _log.log(level, "%s", message)
            if level >= logging.WARNING:
                self._warnings.append(message)
            self._display.line(message)

    def _named(self, text: str) -> str:
        """A message with names of inputs in place of their paths, in Python's words unless the program's are shown."""
        for path, name in self._names:
            text = text.replace(path, name)
        return text if self._direct else spoken(text)

    @property
    def said(self) -> bool:
        """Whether the child said more than its log."""
        return bool("".join(self._lines).strip())

    def warn(self) -> None:
        """Warn in the caller's thread, with the caller's place."""
        for message in self._warnings:
            warnings.warn(message, MarsWarning, stacklevel=caller_depth())

    def error(self, status: int) -> str:
        """Why the child failed."""
        text = "\n".join(filter(None, self._lines)).strip()
        if not text:
            return f"mars ended {f'with status {status}' if status > 0 else f'by signal {-status}'} and said nothing"
        return text


def _record(line: str) -> tuple[int, str] | None:
    """Level and text of a line of the log; nothing if it is none."""
    if not line.startswith("{"):
        return None
    try:
        record = json.loads(line)
        level = {"WARN": logging.WARNING, "ERROR": logging.ERROR, "DEBUG": logging.DEBUG}.get(record["level"], logging.INFO)
        message = record["msg"]
    except (ValueError, KeyError, TypeError):
        return None
    details = [f"{k} {v}" for k, v in record.items() if k not in ("time", "level", "msg", "command")]
    return level, f"{message} ({', '.join(details)})" if details else message


def caller_depth() -> int:
    """How far up the caller outside this package is."""
    frame: Any = sys._getframe(1)
    depth = 1
    here = os.path.dirname(__file__) + os.sep
    while frame is not None and frame.f_code.co_filename.startswith(here):
        frame, depth = frame.f_back, depth + 1
    return depth
