"""Spark data frames, on a real cluster of two workers on this machine.

Without pyspark or Java this is skipped. All tests share one session, as its start is slow. With
MARS_SPARK_TESTS=connect it is one of Spark Connect.
"""

from __future__ import annotations

import datetime
import decimal
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mars

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install -r clients/python/requirements-spark.txt")
try:
    subprocess.run(["java", "-version"], capture_output=True, check=True)
except (OSError, subprocess.CalledProcessError):
    pytest.skip("Spark needs Java 17 or later", allow_module_level=True)

import mars.spark  # noqa: E402

ROWS = 3000
CONNECT = os.environ.get("MARS_SPARK_TESTS") == "connect"
# What these tests start, however deep, has this in its environment, and nothing else on the machine has.
OURS = f"MARS_SPARK_TESTS_OF={os.getpid()}"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["MARS_SPARK_TESTS_OF"] = str(os.getpid())
    # The workers are to have no mars of their own: what they run is sent to them.
    os.environ.pop("PYTHONPATH", None)
    cluster, begin = "local-cluster[2,1,1024]", SparkSession.builder
    if CONNECT:
        begin = begin.remote(cluster)
    else:
        begin = begin.master(cluster).config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    session = (
        begin.config("spark.sql.shuffle.partitions", "3")
        .config("spark.sql.session.timeZone", "Asia/Tokyo")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "500")
        .getOrCreate()
    )
    assert type(session).__module__.startswith("pyspark.sql.connect") == CONNECT
    yield session
    session.stop()


def cells(counts: tuple[int, int, int], moved: float, seed: int) -> pa.Table:
    """Columns of many types; b has gaps."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], counts))
    n = len(y)
    x = np.array([[0, 0, 1], [2, 0, 0], [0, 2, 2]])[y] + rng.normal(moved, 0.35, (n, 3))
    start = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    return pa.table(
        {
            "id": [f"r{i:06}" for i in range(n)],
            "a": x[:, 0],
            "b": pa.array(x[:, 1], mask=rng.random(n) < 0.03),
            "c": x[:, 2].astype(np.float32),
            "city": np.array(["Rome", "Oslo", "Lima"])[(y + rng.integers(0, 2, n)) % 3],
            "day": [start.date() + datetime.timedelta(days=int(d)) for d in rng.integers(0, 300, n)],
            "at": pa.array([start + datetime.timedelta(seconds=int(s)) for s in rng.integers(0, 30_000_000, n)], pa.timestamp("us", "UTC")),
            "price": pa.array([decimal.Decimal(int(v * 100)) / 100 for v in rng.random(n) * 50 + y * 10], pa.decimal128(10, 2)),
            "n": rng.integers(0, 9, n),
            "ok": rng.random(n) < 0.3,
            "kind": pa.array(y, pa.int16()),
        }
    )


class Data:
    """Files, a model, and what the shell gives."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source, self.target = str(folder / "source.parquet"), str(folder / "target.parquet")
        self.model = str(folder / "model.safetensors")
        pq.write_table(cells((200, 200, 200), 0, 0), self.source)
        rows = cells((ROWS * 6 // 10, ROWS * 3 // 10, ROWS // 10), 0.3, 1).drop_columns("kind")
        pq.write_table(rows, self.target)
        self.shell("label", "--source", self.source, "--target", self.target, "--label", "kind", "--assume", "move", "--save", self.model, "-o", "fit.csv")
        self.shell("predict", "--model", self.model, "--target", self.target, "-o", "labels.arrow")
        labels = pa.ipc.open_file(str(folder / "labels.arrow")).read_all()
        self.want = {row["id"]: row for row in labels.to_pylist()}

    def shell(self, *arguments: str) -> None:
        subprocess.run([mars.binary(), *arguments, "-q"], cwd=self.folder, check=True)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return Data(tmp_path_factory.mktemp("spark"))


def check(got: pa.Table, data: Data) -> None:
    """The shell's labels, to the bit."""
    assert got.num_rows == ROWS
    for row in got.to_pylist():
        want = data.want[row["id"]]
        assert (row["predicted_class"], row["confidence"], row["typicality"]) == (want["predicted_class"], want["confidence"], want["typicality"])
        for k, name in enumerate("012"):
            if f"probability_{name}" in row:
                assert row[f"probability_{name}"] == want["probability"][k]


def children(words: bytes) -> dict[int, int]:
    """Processes of these tests with some words in their command line, and the processes that began them."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if words in (folder / "cmdline").read_bytes() and OURS.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            pass
    return found


def programs() -> dict[int, int]:
    """The programs that tasks of this session run."""
    return children(b"--target=-\0--format=arrow")


def nothing_is_left() -> bool:
    until = time.monotonic() + 20
    while programs() and time.monotonic() < until:
        time.sleep(0.1)
    return not programs()


@pytest.mark.parametrize("partitions", [1, 7])
def test_same_as_the_shell(spark: Any, data: Data, partitions: int) -> None:
    df = spark.read.parquet(data.target).repartition(partitions)
    labelled = mars.spark.predict(df, data.model, posteriors=True)
    assert labelled.columns == [*df.columns, "predicted_class", "confidence", "typicality", "probability_0", "probability_1", "probability_2"]
    got = labelled.toArrow()
    check(got, data)
    was = df.toArrow()
    assert got.select(was.column_names).sort_by("id").equals(was.sort_by("id"))


def test_empty_partitions_and_no_rows(spark: Any, data: Data) -> None:
    df = spark.read.parquet(data.target)
    some = df.repartition(5, "city").where("city = 'Rome'")
    got = mars.spark.predict(some, data.model).select("id", "confidence").toArrow().to_pylist()
    assert 0 < len(got) < ROWS and all(data.want[row["id"]]["confidence"] == row["confidence"] for row in got)
    none = mars.spark.predict(df.where("id = 'x'"), data.model)
    assert none.count() == 0 and none.columns[-1] == "typicality"


def test_columns_of_all_kinds_pass(spark: Any, data: Data) -> None:
    from pyspark.ml.linalg import Vectors, VectorUDT
    from pyspark.sql import functions as F

    vector = F.udf(lambda a: Vectors.dense([a, 1.0]), VectorUDT())
    df = (
        spark.read.parquet(data.target)
        .limit(40)
        .withColumn("list", F.array("a", "b"))
        .withColumn("map", F.create_map("city", "n"))
        .withColumn("struct", F.struct("a", "city"))
        .withColumn("bytes", F.col("city").cast("binary"))
        .withColumn("local", F.col("at").cast("timestamp_ntz"))
        .withColumn("gap", F.col("at") - F.lit(datetime.datetime(2024, 1, 1)))
        .withColumn("nothing", F.lit(None))
        .withColumn("vector", vector("a"))
        .withColumn("Confidence", F.lit("the user's own"))
        .withColumn("with, comma", F.lit(1).cast("byte"))
        .cache()
    )
    labelled = mars.spark.predict(df, data.model)
    kept = [c for c in df.columns if c != "Confidence"]
    assert labelled.columns == [*kept, "predicted_class", "confidence", "typicality"]
    assert labelled.select(*[f"`{c}`" for c in kept]).schema == df.select(*[f"`{c}`" for c in kept]).schema
    was = {row["id"]: row for row in df.collect()}
    for row in labelled.collect():
        assert all(row[c] == was[row["id"]][c] for c in kept)
        assert row["confidence"] == data.want[row["id"]]["confidence"]


def test_what_does_not_fit_is_refused_at_once(spark: Any, data: Data) -> None:
    df = spark.read.parquet(data.target)
    with pytest.raises(ValueError, match="has no column 'price', which the model was trained on"):
        mars.spark.predict(df.drop("price"), data.model)
    with pytest.raises(ValueError, match="several columns 'a'"):
        mars.spark.predict(df.select("*", "a"), data.model)
    with pytest.raises(TypeError, match="'months' is of type interval month"):
        mars.spark.predict(df.selectExpr("*", "interval 1 month as months"), data.model)
    with pytest.raises(mars.MarsError, match="nowhere.safetensors"):
        mars.spark.predict(df, "nowhere.safetensors")
    with pytest.raises(TypeError, match="unexpected keyword argument 'keep'"):
        mars.spark.label(df, df, keep="all")


def test_a_poisoned_partition_is_named(spark: Any, data: Data) -> None:
    from pyspark.sql import functions as F

    df = spark.read.parquet(data.target).coalesce(1).sortWithinPartitions("id")
    poisoned = df.withColumn("a", F.when(F.col("id") == "r001234", F.lit(float("inf"))).otherwise(F.col("a")))
    with pytest.raises(Exception, match=r"TaskError: partition 0: mars predict: its rows: .*row 1235") as raised:
        mars.spark.predict(poisoned, data.model).count() and mars.spark.predict(poisoned, data.model).toArrow()
    assert "partition 0" in str(raised.value)
    assert nothing_is_left()


def test_a_program_of_the_executors(spark: Any, data: Data) -> None:
    df = spark.read.parquet(data.target)
    check(mars.spark.predict(df, data.model, program=mars.binary()).toArrow(), data)
    with pytest.raises(Exception, match="/no/such/mars cannot be started"):
        mars.spark.predict(df, data.model, program="/no/such/mars").toArrow()


def slow(df: Any) -> Any:
    """The rows, of which each partition takes seconds."""

    def wait(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            time.sleep(1)
            yield batch

    return df.mapInArrow(wait, df.schema)


@pytest.mark.parametrize("victim", ["program", "worker"])
def test_a_death_in_the_middle_changes_nothing(spark: Any, data: Data, victim: str) -> None:
    labelled = mars.spark.predict(slow(spark.read.parquet(data.target).repartition(3)), data.model, posteriors=True)
    got: list[pa.Table] = []
    job = threading.Thread(target=lambda: got.append(labelled.toArrow()))
    job.start()
    until = time.monotonic() + 120
    while not programs() and time.monotonic() < until:
        time.sleep(0.05)
    pid, parent = next(iter(programs().items()))
    if victim == "worker":
        executors = children(b"CoarseGrainedExecutorBackend")
        while parent not in executors:  # the program's parent is Spark's Python, whose parent is the executor
            parent = int(Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[1])
        pid = parent
    os.kill(pid, signal.SIGKILL)
    job.join(240)
    assert got, "the job did not end"
    check(got[0], data)
    assert nothing_is_left()


def test_label_and_proportions(spark: Any, data: Data) -> None:
    source, target = spark.read.parquet(data.source), spark.read.parquet(data.target).repartition(3)
    model = str(data.folder / "fitted.safetensors")
    labelled = mars.spark.label(source, target, label="kind", id="id", assume="move", save=model)
    assert labelled.schema["predicted_class"].dataType.simpleString() == "smallint"  # as the labels
    got = {row["id"]: row for row in labelled.toArrow().to_pylist()}
    # All rows came to the driver. They are the shell's, in another order.
    rows = pa.Table.from_batches([mars._task.sendable(b, None) for b in target.toArrow().to_batches()])  # type: ignore[attr-defined]
    pq.write_table(pa.Table.from_batches([mars._task.sendable(b, None) for b in source.toArrow().to_batches()]), data.folder / "s.parquet")  # type: ignore[attr-defined]
    pq.write_table(rows, data.folder / "t.parquet")
    data.shell("label", "--source", "s.parquet", "--target", "t.parquet", "--label", "kind", "--id", "id", "--assume", "move", "-o", "all.arrow")
    for row in pa.ipc.open_file(str(data.folder / "all.arrow")).read_all().to_pylist():
        assert (str(got[row["id"]]["predicted_class"]), got[row["id"]]["confidence"]) == (row["predicted_class"], row["confidence"])

    shares = mars.spark.proportions(source, target, label="kind", assume="move", id="id")
    assert shares.classes == [0, 1, 2]
    assert np.allclose(shares.table["target"].to_pylist(), [0.6, 0.3, 0.1], atol=0.05)
    # Of many rows a sample is drawn, the same however they are cut.
    few = [
        mars.spark.proportions(source, target.repartition(n), label="kind", assume="move", id="id", max_target_rows=1000, max_source_rows=500).to_dict()["proportions"]
        for n in (1, 4)
    ]
    assert few[0] == few[1]
    assert np.allclose(few[0]["estimated"], [0.6, 0.3, 0.1], atol=0.08)
    marked = mars.spark.label(source.withColumn("kind", source["kind"].cast("string")), target, label="kind", assume="move", unknown=0.05)
    kinds = {row["predicted_class"]: row["count"] for row in marked.groupBy("predicted_class").count().collect()}
    assert set(kinds) == {"0", "1", "2", "unknown"} and 0.01 < kinds["unknown"] / ROWS < 0.2


def test_a_sketch_is_that_of_the_shell(spark: Any, data: Data) -> None:
    # Times of the day are not kept in sketches, and Spark's decimals come as they are.
    def sums(sketch: Any) -> Any:
        said = json.loads(subprocess.run([mars.binary(), "inspect", "--json", sketch], capture_output=True, check=True).stdout)
        return sum(part["rows"] for part in json.loads(said["metadata"]["mars.sketch.parts"]))

    data.shell("sketch", data.target, "--exclude", "at", "--sample", "500", "-o", "whole.sketch.arrow")
    whole = pa.ipc.open_file(str(data.folder / "whole.sketch.arrow")).read_all().drop_columns("mars.parts")
    target = spark.read.parquet(data.target)
    for n in (1, 3, 40):  # 40: merged by tasks first
        path = mars.spark.sketch(target.repartition(n), data.folder / f"{n}.sketch.arrow", exclude="at", sample=500)
        table = pa.ipc.open_file(path).read_all().drop_columns("mars.parts")
        assert table.equals(whole), n
        assert sums(path) == ROWS
    with pytest.raises(ValueError, match="no rows"):
        mars.spark.sketch(target.limit(0), data.folder / "none.arrow")
    with pytest.raises(ValueError, match="no column 'nothing'"):
        mars.spark.sketch(target, data.folder / "none.arrow", id="nothing")
    with pytest.raises(Exception, match="partition 0: .*no column .*zz"):
        mars.spark.sketch(target.repartition(1), data.folder / "none.arrow", columns=["zz"])
    assert not (data.folder / "none.arrow").exists()


def test_proportions_of_all_rows_are_those_of_the_shell(spark: Any, data: Data) -> None:
    # More rows than the fit looks at, so that it takes several passes.
    rows, half = cells((18_000, 9_000, 3_000), 0.3, 2).select(["id", "a", "c", "city"]), 15_000
    pq.write_table(rows, data.folder / "many.parquet")
    for k in range(2):
        pq.write_table(rows.slice(k * half, half), data.folder / f"half-{k}.parquet")
    pq.write_table(cells((200, 200, 200), 0, 0).select(["id", "a", "c", "city", "kind"]), data.folder / "early.parquet")
    data.shell("proportions", "--source", "early.parquet", "--parts", "half-*.parquet", "--label", "kind", "--passes", "6", "-o", "halves.json")
    want = json.loads((data.folder / "halves.json").read_text())
    target = spark.read.parquet(str(data.folder / "many.parquet")).repartition(5)
    got = mars.spark.proportions(str(data.folder / "early.parquet"), target, label="kind", passes=6).to_dict()
    assert got["every_row"]["rows"] == 2 * half and got["every_row"]["passes"] == want["every_row"]["passes"] > 1
    assert np.allclose(got["proportions"]["estimated"], want["proportions"]["estimated"], rtol=1e-10, atol=0)
    assert np.allclose(got["interval"]["lower"], want["interval"]["lower"], rtol=1e-10, atol=0)
    with pytest.raises(ValueError, match="do not reach the fixed point"):
        mars.spark.proportions(spark.read.parquet(str(data.folder / "early.parquet")), target, label="kind", passes=1)
    with pytest.raises(ValueError, match="mte"):
        mars.spark.proportions(str(data.folder / "early.parquet"), target, label="kind", passes=6, method="mte")
    assert not children(b"--part=df/")


def test_samples_are_fair(spark: Any) -> None:
    from mars.spark import _sample

    df = spark.range(20_000, numPartitions=3)
    for name in ("id", None):
        drawn = _sample(df, 2000, 1, name, None)["id"].to_numpy()
        again = _sample(df, 2000, 1, name, None)["id"].to_numpy()
        other = _sample(df, 2000, 2, name, None)["id"].to_numpy()
        assert len(np.unique(drawn)) == 2000 and (drawn == again).all() and set(drawn) != set(other)
        assert abs(drawn.mean() / 10_000 - 1) < 0.06  # 4.6 deviations


def test_vectors_of_ml(spark: Any, data: Data) -> None:
    from pyspark.ml.functions import array_to_vector, vector_to_array
    from pyspark.sql import functions as F

    def vectors(path: str, *others: str) -> Any:
        return spark.read.parquet(path).select("id", *others, array_to_vector(F.array(F.col("a"), F.col("c").cast("double"))).alias("x"))

    labelled = mars.spark.label(vectors(data.source, "kind"), vectors(data.target), label="kind", features="x", assume="same", save=str(data.folder / "vectors.safetensors"))
    got = {row["id"]: row["confidence"] for row in labelled.select("id", "confidence").toArrow().to_pylist()}
    arrays = vectors(data.target).withColumn("x", vector_to_array("x"))
    pq.write_table(arrays.toArrow(), data.folder / "vectors.parquet")
    data.shell("predict", "--model", "vectors.safetensors", "--target", "vectors.parquet", "-o", "vectors.arrow")
    want = {row["id"]: row["confidence"] for row in pa.ipc.open_file(str(data.folder / "vectors.arrow")).read_all().to_pylist()}
    assert got == want
