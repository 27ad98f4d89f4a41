"""Columns of every type, whole, sliced and in pieces, that must pass through.

    passthrough.py write FOLDER           writes them with pyarrow, polars and DuckDB
    passthrough.py compare FOLDER OTHER   compares what came back with pyarrow
"""

import pathlib
import random
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

ROWS = 600
CODECS = [None, "lz4", "zstd"]


def columns():
    chance = random.Random(1)
    numbers = range(ROWS)

    def with_nulls(value, kind=None):
        return pa.array([value(i) if chance.random() > 0.2 else None for i in numbers], kind)

    text = with_nulls(lambda i: "é" * (i % 20))
    halves = pa.array([i % 2 for i in numbers], pa.int8())
    return {
        "bool": with_nulls(lambda i: i % 2 == 0),
        "int8": with_nulls(lambda i: i % 100, pa.int8()),
        "float16": pa.array(np.arange(ROWS, dtype=np.float16)),
        "decimal": with_nulls(lambda i: i, pa.decimal256(40, 3)),
        "timestamp": with_nulls(lambda i: i, pa.timestamp("ns", "UTC")),
        "duration": with_nulls(lambda i: i, pa.duration("s")),
        "fixed_binary": with_nulls(lambda i: b"abc", pa.binary(3)),
        "null": pa.nulls(ROWS),
        "string": text,
        "large_string": text.cast(pa.large_string()),
        "string_view": text.cast(pa.string_view()),
        "binary_view": with_nulls(lambda i: b"\xff" * (i % 20), pa.binary_view()),
        "list": with_nulls(lambda i: list(range(i % 4))),
        "large_list": with_nulls(lambda i: [["x" * (i % 20)], None], pa.large_list(pa.list_(pa.string()))),
        "list_view": with_nulls(lambda i: list(range(i % 4)), pa.list_view(pa.int32())),
        "large_list_view": with_nulls(lambda i: list(range(i % 4)), pa.large_list_view(pa.int32())),
        "fixed_list": with_nulls(lambda i: [i, i + 1.0], pa.list_(pa.float32(), 2)),
        "fixed_list_struct": with_nulls(lambda i: [{"a": i}, {"a": None}], pa.list_(pa.struct([("a", pa.int32())]), 2)),
        "struct": with_nulls(lambda i: {"a": i, "b": str(i)}),
        "map": with_nulls(lambda i: [(str(i), i)], pa.map_(pa.string(), pa.int64())),
        "dictionary": with_nulls(lambda i: str(i % 7)).dictionary_encode(),
        "run_end": pc.run_end_encode(pa.array([None if i % 30 < 10 else str(i // 50) for i in numbers])),
        "sparse_union": pa.UnionArray.from_sparse(halves, [pa.array(numbers), pa.array([str(i) for i in numbers])]),
        "dense_union": pa.UnionArray.from_dense(halves, pa.array([i // 2 for i in numbers], pa.int32()),
                                                [pa.array(numbers), pa.array([str(i) for i in numbers])]),
    }


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, column in columns().items():
        table = pa.table({name: column})
        pieces = [table.slice(7, 100), table.slice(0, 0), table.slice(200, 333)]
        save(folder, name, table.to_batches(), table.schema)
        save(folder, name + "-slice", table.slice(3, 501).to_batches(), table.schema)
        save(folder, name + "-pieces", [b for piece in pieces for b in piece.to_batches()], table.schema)
    write_polars(folder)
    write_duckdb(folder)


def save(folder, name, batches, schema):
    for codec in CODECS:
        options = pa.ipc.IpcWriteOptions(compression=codec)
        for kind, new in [("arrows", pa.ipc.new_stream), ("arrow", pa.ipc.new_file)]:
            writer = new(str(folder / f"{name}-{codec}.{kind}"), schema, options=options)
            for batch in batches:
                writer.write_batch(batch)
            writer.close()


def write_polars(folder):
    try:
        import polars as pl
    except ImportError:
        return
    frame = pl.DataFrame({
        "id": range(ROWS),
        "name": [None if i % 5 == 0 else "é" * (i % 20) for i in range(ROWS)],
        "vector": np.ones((ROWS, 4), np.float32),
        "list": [None if i % 5 == 0 else list(range(i % 4)) for i in range(ROWS)],
        "category": pl.Series([str(i % 5) for i in range(ROWS)], dtype=pl.Categorical),
        "struct": [{"x": i, "y": str(i)} for i in range(ROWS)],
        "date": pl.Series(range(ROWS)).cast(pl.Date),
        "decimal": pl.Series(range(ROWS)).cast(pl.Decimal(20, 2)),
        "nothing": [None] * ROWS,
    })
    for name, part in {
        "whole": frame,
        "slice": frame.slice(3, 500),
        "filter": frame.filter(pl.col("id") % 3 == 0),
        "concat": pl.concat([frame.slice(3, 10), frame.slice(100, 7), frame.head(0)], rechunk=False),
        "empty": frame.head(0),
    }.items():
        for codec in ["uncompressed", "lz4", "zstd"]:
            part.write_ipc(folder / f"polars-{name}-{codec}.arrow", compression=codec)
            part.write_ipc_stream(folder / f"polars-{name}-{codec}.arrows", compression=codec)


def write_duckdb(folder):
    try:
        import duckdb
    except ImportError:
        return
    table = duckdb.sql("""
        SELECT i, CASE WHEN i % 5 = 0 THEN NULL ELSE repeat('é', (i % 20)::INT) END AS name, [i, i + 1] AS list,
               CASE WHEN i % 4 = 0 THEN NULL ELSE [i::FLOAT, 2]::FLOAT[2] END AS vector, {'x': i, 'y': [i]} AS struct,
               MAP {'k': i} AS map, i::DECIMAL(9, 2) AS price, ('a')::ENUM('a', 'b') AS kind, uuid() AS uuid,
               union_value(num := i::INT) AS either
        FROM range(200) t(i)""").to_arrow_table()
    save(folder, "duckdb", table.to_batches(), table.schema)
    save(folder, "duckdb-slice", table.slice(3, 50).to_batches(), table.schema)


def read(path):
    opened = pa.ipc.open_file(str(path)) if path.suffix == ".arrow" else pa.ipc.open_stream(str(path))
    return opened.read_all()


def compare(folder, other):
    wrong = 0
    for path in sorted(folder.iterdir()):
        before, after = read(path), read(other / path.name)
        after.validate(full=True)
        if not before.schema.equals(after.schema, check_metadata=True) or not before.equals(after):
            print(path.name, "differs")
            wrong += 1
    sys.exit(wrong > 0)


if __name__ == "__main__":
    folders = [pathlib.Path(name) for name in sys.argv[2:]]
    write(*folders) if sys.argv[1] == "write" else compare(*folders)
