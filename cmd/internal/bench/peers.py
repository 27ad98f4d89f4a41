"""Reads each FILE whole with a PEER, on THREADS threads, and prints a line for each that it
can read: "took", the file, and seconds of wall clock and of all processors, the least of
three."""

import importlib
import os
import sys
import time

peer, threads, files = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
os.environ["POLARS_MAX_THREADS"] = str(threads)
try:
    importlib.import_module(peer)
except ImportError as error:
    sys.exit(str(error))


def read_polars(path):
    import polars

    readers = {"csv": polars.read_csv, "parquet": polars.read_parquet, "arrow": polars.read_ipc}
    return readers[path.rpartition(".")[2]](path)


def read_duckdb(path):
    import duckdb

    if path.endswith(".arrow"):
        return None
    with duckdb.connect(config={"threads": threads}) as connection:
        return connection.execute(f"create temp table t as from '{path}'").fetchall()


def read_pyarrow(path):
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.set_cpu_count(threads)
    if path.endswith(".csv"):
        return pyarrow.csv.read_csv(path, pyarrow.csv.ReadOptions(use_threads=threads > 1))
    if path.endswith(".parquet"):
        return pyarrow.parquet.read_table(path, use_threads=threads > 1)
    with pyarrow.OSFile(path) as file:
        return pyarrow.ipc.open_file(file).read_all()


read = globals()["read_" + peer]
for path in files:
    least = None
    for _ in range(3):
        wall, processor = time.perf_counter(), time.process_time()
        table = read(path)
        took = time.perf_counter() - wall, time.process_time() - processor
        if table is None:
            break
        del table
        least = took if least is None else tuple(map(min, least, took))
    if least:
        print("took", path, *least, flush=True)
