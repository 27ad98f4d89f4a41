"""Writes one small data set as Arrow with every Python tool that people use,
in the code that they naturally write. Usage: generate.py FOLDER [TOOL ...]

Made with pyarrow 26.0, polars 2.1, pandas 3.1, duckdb 2.0, nanoarrow 0.9 and
numpy 2.4; any later versions do.

The data set, which the Go tests expect of each file (a file may lack columns):

    id        0 .. 5
    domain    source for the first three rows, then target
    label     0 1 2, then missing
    features  row i is i, i + 0.5, -i
    name      "row 0" .., every other one longer than twelve bytes

A file whose name begins with refused- must be an error instead.
"""

import importlib
import pathlib
import sys

import numpy as np
import pyarrow as pa

ROWS = 6
ID = list(range(ROWS))
DOMAIN = ["source"] * 3 + ["target"] * 3
LABEL = [0, 1, 2, None, None, None]
FEATURES = np.array([[i, i + 0.5, -i] for i in range(ROWS)], dtype=np.float32)
NAME = [f"row {i}" + (" with a longer name" if i % 2 else "") for i in range(ROWS)]
CODECS = {"none": None, "lz4": "lz4", "zstd": "zstd"}


def write_stream(path, batches, schema, **options):
    writer = pa.ipc.new_stream(str(path), schema, options=pa.ipc.IpcWriteOptions(**options))
    for batch in batches:
        writer.write_batch(batch)
    writer.close()


def write_file(path, batches, schema, **options):
    writer = pa.ipc.new_file(str(path), schema, options=pa.ipc.IpcWriteOptions(**options))
    for batch in batches:
        writer.write_batch(batch)
    writer.close()


def write_both(folder, name, table, chunk=4, **options):
    batches = table.to_batches(max_chunksize=chunk)
    write_stream(folder / f"{name}.arrows", batches, table.schema, **options)
    write_file(folder / f"{name}.arrow", batches, table.schema, **options)


def base_table(features):
    return pa.table({"id": ID, "domain": DOMAIN, "label": pa.array(LABEL, pa.int64()), "features": features, "name": NAME})


def pyarrow(folder):
    rows = FEATURES.tolist()
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(FEATURES.ravel()), 3)
    for name, codec in CODECS.items():
        write_both(folder, f"pyarrow-{name}", base_table(fixed), compression=codec)
    write_both(folder, "pyarrow-lists", base_table(rows))
    write_both(folder, "pyarrow-large-half", pa.table({
        "id": pa.array(ID, pa.uint8()),
        "domain": pa.array(DOMAIN, pa.large_string()),
        "label": pa.array(LABEL, pa.int8()),
        "features": pa.array([np.float16(r) for r in FEATURES], pa.large_list(pa.float16())),
        "name": pa.array(NAME, pa.string_view()),
    }))
    write_both(folder, "pyarrow-dictionary", pa.table({
        "id": ID,
        "domain": pa.array(DOMAIN).dictionary_encode(),
        "features": rows,
        "name": pa.DictionaryArray.from_arrays(pa.array(ID, pa.int16()), pa.array(NAME, pa.large_string())),
    }))
    deltas = [pa.record_batch({"domain": pa.DictionaryArray.from_arrays(indices, words), "features": part})
              for indices, words, part in [([0, 0, 0], ["source"], rows[:3]), ([1, 1, 1], ["source", "target"], rows[3:])]]
    write_stream(folder / "pyarrow-deltas.arrows", deltas, deltas[0].schema, emit_dictionary_deltas=True)
    write_stream(folder / "pyarrow-replaced.arrows", deltas, deltas[0].schema)
    padded = pa.table({"id": [-1] + ID, "domain": ["target"] + DOMAIN, "label": pa.array([9] + LABEL, pa.float64()),
                       "features": [[7.0, 7, 7]] + rows, "name": ["?"] + NAME})
    write_both(folder, "pyarrow-sliced", padded.slice(1))
    nested = base_table(fixed)
    nested = nested.append_column("struct", pa.array([{"a": i, "b": [{"c": str(i)}]} for i in ID]))
    nested = nested.append_column("map", pa.array([[("k", i)] for i in ID], pa.map_(pa.string(), pa.int32())))
    nested = nested.append_column("when", pa.array(ID, pa.timestamp("us", "Europe/Paris")))
    nested = nested.append_column("price", pa.array(ID, pa.decimal128(9, 2)))
    nested = nested.append_column("runs", pa.RunEndEncodedArray.from_arrays(pa.array([2, 6], pa.int32()), pa.array(["x", None])))
    nested = nested.append_column("tensor", pa.FixedShapeTensorArray.from_numpy_ndarray(np.ones((ROWS, 2, 2), np.float32)))
    write_both(folder, "pyarrow-nested", nested.replace_schema_metadata({"user": "kept"}), chunk=6)
    write_both(folder, "pyarrow-no-rows", base_table(fixed).slice(0, 0))
    write_both(folder, "refused-decimal32", pa.table({"x": pa.array([1, 2], pa.decimal32(5, 2))}))


def polars(folder):
    import polars as pl

    frame = pl.DataFrame({"id": ID, "domain": DOMAIN, "label": LABEL, "features": FEATURES, "name": NAME})
    for name in CODECS:
        codec = "uncompressed" if name == "none" else name
        frame.write_ipc(folder / f"polars-{name}.arrow", compression=codec)
        frame.write_ipc_stream(folder / f"polars-{name}.arrows", compression=codec)
    categories = pl.DataFrame({
        "domain": pl.Series(DOMAIN, dtype=pl.Categorical),
        "features": FEATURES.tolist(),
        "name": pl.Series(NAME, dtype=pl.Enum(NAME)),
    })
    categories.write_ipc(folder / "polars-categories.arrow")
    categories.write_ipc_stream(folder / "polars-categories.arrows")
    frame.with_columns(features=pl.Series(list(FEATURES))).filter(pl.col("id") >= 0).lazy().sink_ipc(folder / "polars-sink.arrow")
    pl.DataFrame({"id": [-1] + ID, "name": ["?"] + NAME}).slice(1).write_ipc_stream(folder / "polars-sliced.arrows")


def pandas(folder):
    import pandas as pd

    frame = pd.DataFrame({"id": ID, "domain": DOMAIN, "label": LABEL, "name": NAME, "features": list(FEATURES)})
    frame.to_feather(folder / "pandas-feather.arrow")
    write_both(folder, "pandas", pa.Table.from_pandas(frame))
    frame["domain"] = frame["domain"].astype("category")
    shuffled = frame.sample(frac=1, random_state=0).sort_values("id", ascending=False).iloc[::-1]
    write_both(folder, "pandas-categories", pa.Table.from_pandas(shuffled, preserve_index=True))


def duckdb(folder):
    import duckdb

    source = base_table(FEATURES.tolist())
    result = duckdb.sql("SELECT * FROM source WHERE id >= 0 ORDER BY id")
    reader = result.to_arrow_reader(4)
    write_stream(folder / "duckdb-reader.arrows", reader, reader.schema)
    result = duckdb.sql("SELECT id, domain::ENUM('source', 'target') AS domain, features::FLOAT[3] AS features, name FROM source ORDER BY id")
    write_both(folder, "duckdb-enum", result.to_arrow_table())


def nanoarrow(folder):
    import nanoarrow as na
    from nanoarrow.ipc import StreamWriter

    table = base_table(FEATURES.tolist())
    with StreamWriter.from_path(folder / "nanoarrow.arrows") as writer:
        writer.write_stream(table)
    # Offsets that start behind a value: an array at offset 0 all the same.
    longer = pa.array(["?"] + NAME)
    name = pa.Array.from_buffers(pa.string(), ROWS, [None, longer.buffers()[1].slice(4), longer.buffers()[2]])
    with StreamWriter.from_path(folder / "nanoarrow-offsets.arrows") as writer:
        writer.write_stream(na.c_array_stream(pa.table({"id": ID, "name": name})))


TOOLS = [pyarrow, polars, pandas, duckdb, nanoarrow]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for tool in TOOLS:
        if len(sys.argv) > 2 and tool.__name__ not in sys.argv[2:]:
            continue
        try:
            importlib.import_module(tool.__name__)
        except ImportError:
            print(f"{tool.__name__} is not installed: skipped", file=sys.stderr)
            continue
        tool(folder)


if __name__ == "__main__":
    main()
