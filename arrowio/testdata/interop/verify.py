"""Reads what the Go writer wrote with every Python tool. Usage: verify.py FOLDER

Each file holds the data set of generate.py. Prints a line a file and tool, and
ends with an error if any differs.
"""

import pathlib
import sys

import pyarrow as pa

from generate import DOMAIN, FEATURES, ID, LABEL, NAME

COLUMNS = {"id": ID, "domain": DOMAIN, "label": LABEL, "name": NAME, "features": FEATURES.tolist()}


def by_pyarrow(path):
    opened = pa.ipc.open_file(str(path)) if path.suffix == ".arrow" else pa.ipc.open_stream(str(path))
    table = opened.read_all()
    table.validate(full=True)
    return table


def by_polars(path):
    import polars as pl

    frame = pl.read_ipc(path) if path.suffix == ".arrow" else pl.read_ipc_stream(path)
    return frame.to_arrow()


def by_pandas(path):
    import pandas as pd

    if path.suffix != ".arrow":
        return None
    frame = pd.read_feather(path)
    columns = {name: frame[name].tolist() for name in frame}
    columns["label"] = [None if x != x else int(x) for x in columns["label"]]
    return pa.table(columns)


def by_duckdb(path):
    import duckdb

    source = by_pyarrow(path)
    return duckdb.sql("SELECT * FROM source ORDER BY id").to_arrow_table()


def by_nanoarrow(path):
    import nanoarrow as na
    import nanoarrow.ipc

    if path.suffix != ".arrows":
        return None
    return pa.table(na.c_array_stream(na.ipc.InputStream.from_path(path)))


TOOLS = [by_pyarrow, by_polars, by_pandas, by_duckdb, by_nanoarrow]


def main():
    failed = False
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.arrow*")):
        for tool in TOOLS:
            try:
                table = tool(path)
                wrong = table is not None and [name for name, want in COLUMNS.items() if table[name].to_pylist() != want]
            except ImportError as error:
                print(path.name, tool.__name__, "skipped:", error)
                continue
            except Exception as error:
                wrong = repr(error)
            failed = failed or bool(wrong)
            print(path.name, tool.__name__, f"WRONG: {wrong}" if wrong else "ok" if table is not None else "-")
    sys.exit(failed)


if __name__ == "__main__":
    main()
