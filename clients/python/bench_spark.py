"""What Spark costs beside the bare program, in processor seconds.

    make bench-spark                            # 10 million rows of 20 numbers
    make bench-spark BENCHFLAGS='--rows 1e6'    # a first look

Both read the same Parquet files, label each row by the same model, and write all columns and
the labels as Parquet. Spark runs in local mode, with a task on each processor. Its seconds
are those of the JVM, of Python's workers and of the programs that they run. The job runs twice in
one session: the first time Spark still compiles its code.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import mars
import mars.spark

FILES = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=1.10, help="fail if Spark takes more than this times the program's seconds")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-spark-") as folder:
        sys.exit(bench(Path(folder), int(arguments.rows), arguments.columns, arguments.cores, arguments.limit))


def bench(folder: Path, rows: int, columns: int, cores: int, limit: float) -> int:
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 1.2, (3, columns))

    def make(n: int, shares: list[float], moved: float) -> pa.Table:
        y = rng.choice(3, n, p=shares)
        x = (centres[y] + rng.normal(moved, 1, (n, columns))).astype(np.float32)
        return pa.table({f"x{i}": x[:, i] for i in range(columns)} | {"y": np.array(["a", "b", "c"])[y]})

    (folder / "rows").mkdir()
    schema = make(1, [1, 0, 0], 0).drop_columns("y").schema
    for k in range(FILES):
        with pq.ParquetWriter(folder / "rows" / f"{k}.parquet", schema) as writer:
            for at in range(0, rows // FILES, 100_000):
                writer.write_table(make(min(rows // FILES - at, 100_000), [0.6, 0.3, 0.1], 0.2).drop_columns("y"))
    count = sum(pq.read_metadata(p).num_rows for p in (folder / "rows").iterdir())
    model = str(folder / "model.safetensors")
    mars.label(make(5000, [0.34, 0.33, 0.33], 0), make(5000, [0.6, 0.3, 0.1], 0.2), "y", save=model)

    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [mars.binary(), "predict", "--model", model, "--target", str(folder / "rows" / "*.parquet"), "--keep", "all", "-q"]
    subprocess.run([*command, "--jobs", str(cores), "-o", str(folder / "bare.parquet")], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    bare = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{count} rows of {columns} numbers, {cores} cores")
    print(f"program         {bare:8.1f} s of processors, {time.monotonic() - begun:6.1f} s")

    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    begun = time.monotonic()
    spark = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR").getOrCreate()
    print(f"Spark's start   {seconds():8.1f} s of processors, {time.monotonic() - begun:6.1f} s")
    spent = []
    for name in ("first job", "second job"):
        begun, before_job = time.monotonic(), seconds()
        mars.spark.predict(spark.read.parquet(str(folder / "rows")), model, posteriors=True).write.mode("overwrite").parquet(str(folder / "out"))
        spent.append(seconds() - before_job)
        print(f"Spark, {name:10s}{spent[-1]:7.1f} s of processors, {time.monotonic() - begun:6.1f} s, {spent[-1] / bare:.3f} times the program's", flush=True)
    same(spark, folder)
    spark.stop()
    shutil.rmtree(folder / "out")
    return int(spent[-1] > limit * bare)


def same(spark: object, folder: Path) -> None:
    """Fail unless both have counted alike."""
    ours = pq.read_table(folder / "out", columns=["predicted_class"])["predicted_class"].value_counts().to_pylist()
    theirs = pq.read_table(folder / "bare.parquet", columns=["predicted_class"])["predicted_class"].value_counts().to_pylist()

    def counts(all: list[dict[str, object]]) -> dict[object, object]:
        return {row["values"]: row["counts"] for row in all}

    assert counts(ours) == counts(theirs), (ours, theirs)


def seconds() -> float:
    """Processor seconds of all processes that this one has begun, those that have ended included."""
    parents, spent = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(stat.parent.name)
        parents[pid], spent[pid] = int(fields[1]), sum(map(int, fields[11:15]))

    def ours(pid: int) -> bool:
        while pid in parents:
            pid = parents[pid]
            if pid == os.getpid():
                return True
        return False

    return sum(spent[pid] for pid in parents if ours(pid)) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
