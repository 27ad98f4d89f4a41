"""A partition of an engine's rows through the program, as a child over pipes.

This runs on machines where the package need not be installed: it is sent there as it
stands, so it imports nothing of the package, and beside Python's own only pyarrow.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc


class TaskError(RuntimeError):
    """Why the rows of a partition could not be labelled: the program's own message, and where."""


def label_batches(
    batches: Iterable[Any],
    command: Sequence[str],
    *,
    send: Mapping[str, str] | None = None,
    new: Mapping[str, str | int],
    drop: Collection[str] = (),
    where: str = "",
    threads: int = 1,
) -> Iterator[Any]:
    """Give record batches with the columns that the program adds to them.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Rows, in batches of any size. Without any row nothing is started.
    command : sequence of str
        The program and its arguments. It reads an Arrow stream from its standard input,
        and writes one of as many rows in the same order.
    send : mapping of str to str, optional
        Columns to send to the program, with the names that they have there; all if it is
        left out.
    new : mapping of str to str or int
        Columns to add, with their names in what the program writes. A number is an element
        of its column ``probability``.
    drop : collection of str
        Columns of the batches that are not passed on.
    where : str
        What messages call these rows.
    threads : int
        How many processors the program may use.

    Yields
    ------
    pyarrow.RecordBatch
        The rows in their order, with all their columns, as soon as they are known.

    Raises
    ------
    TaskError
        If the program fails, ends early, or writes another number of rows.
    """
    batches = iter(batches)
    first = next((b for b in batches if b.num_rows), None)
    if first is None:
        return
    child = _Child(first, batches, command, send, where, threads)
    try:
        yield from child.rows(new, drop)
    finally:  # a reader that wants no more rows closes the generator
        child.end()


def left_file(
    batches: Iterable[Any], command: Sequence[str], *, send: Mapping[str, str] | None = None, where: str = "", threads: int = 1
) -> Iterator[Any]:
    """Give the file that the program leaves of record batches, as one value.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Rows, in batches of any size. Without any row nothing is started.
    command : sequence of str
        The program and its arguments. It reads an Arrow stream from its standard input, and
        writes the file that ``--output`` names, which is added.
    send, where, threads
        As of `label_batches`.

    Yields
    ------
    pyarrow.RecordBatch
        One row with the content of the file, in a column ``file``.

    Raises
    ------
    TaskError
        If the program fails.
    """
    batches = iter(batches)
    first = next((b for b in batches if b.num_rows), None)
    if first is None:
        return
    with tempfile.TemporaryDirectory(prefix="mars-") as folder:
        path = os.path.join(folder, "left.arrow")
        child = _Child(first, batches, [*command, f"--output={path}"], send, where, threads, keep=False)
        try:
            child.wait()
        finally:
            child.end()
        yield file_batch(path)


def merged_files(batches: Iterable[Any], program: str, where: str = "") -> Iterator[Any]:
    """Merge files that came as values of a column ``file``, and give the result in the same way."""
    with tempfile.TemporaryDirectory(prefix="mars-") as folder:
        paths: list[str] = []
        for batch in batches:
            for value in batch.column("file"):
                paths.append(os.path.join(folder, f"{len(paths)}.arrow"))
                with open(paths[-1], "wb") as file:
                    file.write(value.as_buffer())
        if not paths:
            return
        whole = os.path.join(folder, "merged.arrow")
        merged = subprocess.run([program, "merge", "--quiet", f"--output={whole}", *paths], capture_output=True, text=True)
        if merged.returncode != 0:
            raise TaskError(f"{where}: {merged.stderr.strip()}" if where else merged.stderr.strip())
        yield file_batch(whole)


def file_batch(path: str) -> Any:
    """A record batch with the content of a file."""
    with open(path, "rb") as file:
        return pa.RecordBatch.from_arrays([pa.array([file.read()], pa.binary())], names=["file"])


class _Child:
    """The program, a thread that writes rows to it, and one that reads what it says."""

    def __init__(
        self, first: Any, rest: Iterator[Any], command: Sequence[str], send: Mapping[str, str] | None, where: str, threads: int, keep: bool = True
    ) -> None:
        self._where = where
        self._keep = keep  # batches until their labels have come back
        self._waiting: deque[Any] = deque()  # batches that were sent, whose labels have not come back
        self._sent = 0
        self._failure: BaseException | None = None
        self._stopped = threading.Event()
        environment = {k: v for k, v in os.environ.items() if k != "MARS_PROGRESS_FD"}
        environment["GOMAXPROCS"] = str(threads)
        try:
            self._process = subprocess.Popen(
                [*command, "--log-format=json"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
            )
        except OSError as e:
            raise TaskError(f"{self._at()}{command[0]} cannot be started: {e}: is it a program for this system, and may programs be run from this folder?") from e
        assert self._process.stdin is not None and self._process.stdout is not None and self._process.stderr is not None
        for pipe in (self._process.stdin, self._process.stdout):
            _widen(pipe)
        self._said: list[str] = []
        self._threads = [
            threading.Thread(target=self._listen, args=(self._process.stderr,), name="mars-log", daemon=True),
            threading.Thread(target=self._write, args=(self._process.stdin, first, rest, send), name="mars-rows", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def rows(self, new: Mapping[str, str | int], drop: Collection[str]) -> Iterator[Any]:
        """The rows, joined with what the program writes of them."""
        assert self._process.stdout is not None
        read = 0
        try:
            for answer in pa.ipc.open_stream(self._process.stdout):
                read += answer.num_rows
                columns = {name: _column(answer, of) for name, of in new.items()}
                yield from self._joined(columns, answer.num_rows, drop)
        except (pa.ArrowInvalid, OSError) as e:  # no stream, or one that was broken off
            self._finish(e)
            raise
        self._finish(None)
        if read != self._sent:
            raise TaskError(f"{self._at()}{self._sent} rows were sent to mars, and {read} came back")

    def wait(self) -> None:
        """Wait until the program has read all rows and done its work."""
        assert self._process.stdout is not None
        self._process.stdout.read()  # nothing, until it ends
        self._finish(None)

    def _joined(self, columns: Mapping[str, Any], rows: int, drop: Collection[str]) -> Iterator[Any]:
        at = 0
        while at < rows:
            if not self._waiting:
                raise TaskError(f"{self._at()}mars wrote more rows than it was sent")
            batch = self._waiting[0]
            n = min(rows - at, batch.num_rows)
            if n == batch.num_rows:
                self._waiting.popleft()
            else:
                self._waiting[0] = batch.slice(n)  # only this thread takes from the left
            yield with_columns(batch.slice(0, n), {name: c.slice(at, n) for name, c in columns.items()}, drop)
            at += n

    def _finish(self, broken: BaseException | None) -> None:
        """Wait for the end, and raise what went wrong, the cause before its consequences."""
        status = self._wait(broken)
        if self._failure is not None:  # the rows could not be had: that is the cause
            raise self._failure
        if status != 0:
            raise TaskError(self._at() + self._message(status)) from broken
        if broken is not None:
            raise TaskError(f"{self._at()}what mars wrote is no Arrow stream: {broken}") from broken

    def _wait(self, broken: BaseException | None) -> int:
        if broken is not None:
            try:
                self._process.wait(5)  # it is about to say why
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
                return 0  # it did not fail by itself
        status = self._process.wait()
        for thread in self._threads[:1]:
            thread.join(5)
        if status == 0 and broken is None:
            self._threads[1].join()
        return status

    def _write(self, pipe: IO[bytes], first: Any, rest: Iterator[Any], send: Mapping[str, str] | None) -> None:
        batch, writer = first, None
        try:
            with pipe:
                while batch is not None and not self._stopped.is_set():
                    if batch.num_rows:
                        part = sendable(batch, send)
                        if writer is None:
                            writer = pa.ipc.new_stream(pipe, part.schema)
                        if self._keep:
                            self._waiting.append(batch)
                        self._sent += batch.num_rows
                        writer.write_batch(part)
                    batch = next(rest, None)
                if writer is not None and not self._stopped.is_set():
                    writer.close()  # otherwise the end is not marked, and nobody takes the rows for all
        except BrokenPipeError:
            pass  # the program has ended, and says why
        except BaseException as e:
            self._failure = e

    def _listen(self, stream: IO[bytes]) -> None:
        for raw in stream:
            line = raw.decode("utf-8", "replace").rstrip()
            try:
                record = json.loads(line) if line.startswith("{") else None
            except ValueError:
                record = None
            if not isinstance(record, dict) or "msg" not in record:
                self._said.append(line)
            elif record.get("level") in ("WARN", "ERROR"):
                print(f"mars: {self._at()}{record['msg']}", file=sys.stderr, flush=True)  # the executor's log
            del self._said[:-50]

    def _message(self, status: int) -> str:
        text = "\n".join(self._said).strip().replace("standard input", "its rows")
        if text:
            return text
        how = f"with status {status}" if status > 0 else f"by signal {-status}"
        return f"mars ended {how} and said nothing" + (": if it was killed for want of memory, give the executors more outside the JVM" if status == -9 else "")

    def _at(self) -> str:
        return f"{self._where}: " if self._where else ""

    def end(self) -> None:
        """Leave no process, thread or file behind."""
        self._stopped.set()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._threads[0].join(5)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()


def sendable(batch: Any, names: Mapping[str, str] | None) -> Any:
    """The columns of a batch that the program is to have, in types that it reads.

    Times go by UTC, so that the day and hour of a row are not those of a session's time zone.
    """
    fields, columns = [], []
    for field, column in zip(batch.schema, batch.columns):
        if names is not None and field.name not in names:
            continue
        kind = field.type
        if pa.types.is_timestamp(kind) and kind.tz not in (None, "UTC"):
            column = column.cast(pa.timestamp(kind.unit, "UTC"))
        fields.append(pa.field(field.name if names is None else names[field.name], column.type))
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def with_columns(batch: Any, new: Mapping[str, Any], drop: Collection[str]) -> Any:
    """A batch with columns added, and others dropped."""
    kept = [i for i, name in enumerate(batch.schema.names) if name not in drop]
    fields = [batch.schema.field(i) for i in kept] + [pa.field(n, c.type) for n, c in new.items()]
    return pa.RecordBatch.from_arrays([batch.column(i) for i in kept] + list(new.values()), schema=pa.schema(fields))


def _column(answer: Any, of: str | int) -> Any:
    """A column of the answer, or an element of its posteriors."""
    return pc.list_element(answer.column("probability"), of) if isinstance(of, int) else answer.column(of)


def _widen(pipe: IO[bytes]) -> None:
    """Make a pipe hold a MB, where that can be done: fewer switches between the processes."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, 1 << 20)


def spark_task(program: str, model: str, flags: Sequence[str], shipped: bool, **options: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What ``mapInArrow`` of Spark runs for each partition.

    The model, and the program if it was shipped, are files that Spark has brought.
    """

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import SparkFiles, TaskContext

        context = TaskContext.get()
        where = "" if context is None else f"partition {context.partitionId()}"
        path = SparkFiles.get(program) if shipped else program
        command = [path, "predict", f"--model={SparkFiles.get(model)}", "--target=-", "--format=arrow", "--quiet", *flags]
        return label_batches(batches, command, where=where, **options)

    return task


def spark_file_task(program: str, arguments: Sequence[str], files: Mapping[str, str], shipped: bool, part: str, **options: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What ``mapInArrow`` of Spark runs where each partition leaves a file.

    `files` are flags with files that Spark has brought.
    """

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import SparkFiles, TaskContext

        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        path = SparkFiles.get(program) if shipped else program
        named = [f"--{flag}={SparkFiles.get(file)}" for flag, file in files.items()]
        command = [path, *arguments, *named, f"--part={part}/{number}", "--quiet"]
        return left_file(batches, command, where=f"partition {number}", **options)

    return task


def spark_merge_task(program: str, shipped: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What ``mapInArrow`` of Spark runs to merge what partitions have left."""

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import SparkFiles

        return merged_files(batches, SparkFiles.get(program) if shipped else program)

    return task
