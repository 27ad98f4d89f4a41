"""Writes a small table, and small arrays, in every format and as many programs write
them; manifest.json says what must be read from each file, and which program made it.

    python generate.py [folder]        (default: the folder of this program)

Made with the versions of testdata/requirements.txt, and zstandard 0.25.0, lz4 4.4.5,
FlowIO 1.4.0, FlowUtils 1.2.2, fcsparser 0.2.4.
"""

import bz2
import gzip
import io
import json
import lzma
import pathlib
import struct
import sys

import duckdb
import fcsparser
import flowio
import flowutils
import lz4.frame
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.io.arff
import scipy.sparse
import sklearn.datasets
import sklearn.feature_extraction
import zstandard

out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
out = out if out.is_dir() else out.parent
manifest = []

halves = np.array([[1, 2, 3], [4, 0, 6], [7, 8, 9], [10, 11, 12], [13, 14, 5]]) / 2 - 3
y = np.array([2, 0, 1, 10, 2])
names = ["2", "0", "1", "10", "2"]
words = ["cat", "dog, big", "é\"q\"", "cat", "dog, big"]
frame = pd.DataFrame(halves, columns=["a", "b, c", "d"])
frame["name"] = words
frame["label"] = y
frame["id"] = [11, 12, 13, 14, 15]
table = dict(X=halves, labels=names, columns=["a", "b, c", "d"], ids=[11, 12, 13, 14, 15], skipped=["name"])
versions = {m.__name__: m.__version__ for m in (pd, pl, pa, duckdb, np, scipy)}


def case(file, format, writer, X=None, labels=None, shape=None, options=None, **more):
    """Records what must be read from file, which writer made."""
    X = np.asarray(X, np.float64)
    manifest.append({
        "file": file, "format": format, "writer": writer, "options": options or {},
        "features": X.reshape(len(X), -1).tolist(), "shape": list(shape or [X[0].size]), "labels": labels, **more,
    })


def save(file, data):
    (out / file).write_bytes(data)
    return file


# --- compressed as a whole
def lz4_frame(data):
    return lz4.frame.compress(data, content_checksum=True)  # as the command lz4 does


def zstd_frame(data):
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)  # as the command zstd does


text = frame.to_csv(index=False).encode()
case(save("frame.csv.gz", gzip.compress(text, mtime=0)), "CSV, gzip", "Python gzip", **table)
case(save("frame.csv.zst", zstd_frame(text)), "CSV, zstd", "Python zstandard", **table)
case(save("frame.csv.bz2", bz2.compress(text)), "CSV, bzip2", "Python bz2", **table)
case(save("frame.csv.xz", lzma.compress(text)), "CSV, xz", "Python lzma", **table)
case(save("frame.csv.lz4", lz4_frame(text)), "CSV, lz4", "Python lz4.frame", **table)
head, rest = text[:90], text[90:]
for ext, how in [("gz", lambda b: gzip.compress(b, mtime=0)), ("zst", zstd_frame), ("bz2", bz2.compress), ("xz", lzma.compress),
                 ("lz4", lz4_frame)]:
    case(save(f"twice.csv.{ext}", how(head) + how(rest)), f"CSV, {ext} of two parts", "the same, joined with cat", **table)
bomb = b"x,label\n" + b"1" * (64 << 20)  # refused, see TestMemoryLimit
save("bomb.csv.bz2", bz2.compress(bomb))
save("bomb.csv.xz", lzma.compress(bomb, preset=0))
buffer = io.BytesIO()
with pa.ipc.new_stream(buffer, pa.Table.from_pandas(frame).schema) as w:
    w.write_table(pa.Table.from_pandas(frame))
case(save("frame.arrows.zst", zstd_frame(buffer.getvalue())), "Arrow stream, zstd", "pyarrow, zstandard", **table)
buffer = io.BytesIO()
frame.to_parquet(buffer, index=False)
case(save("frame.parquet.lz4", lz4_frame(buffer.getvalue())), "Parquet, lz4", "pandas to_parquet, lz4", **table)
buffer = io.BytesIO()
np.save(buffer, halves)
case(save("halves.npy.xz", lzma.compress(buffer.getvalue())), "npy, xz", "numpy.save, lzma", X=halves)

# --- JSON lines
frame.to_json(out / "pandas.jsonl", orient="records", lines=True)
case("pandas.jsonl", "JSON lines", "pandas to_json", **table)
pl.from_pandas(frame).write_ndjson(out / "polars.ndjson")
case("polars.ndjson", "JSON lines", "polars write_ndjson", **table)
duckdb.sql(f"copy (select * from frame) to '{out / 'duckdb.jsonl'}' (format json)")
case("duckdb.jsonl", "JSON lines", "duckdb copy", **table)
frame.to_json(out / "pandas.jsonl.gz", orient="records", lines=True, compression={"method": "gzip", "mtime": 0})
case("pandas.jsonl.gz", "JSON lines, gzip", "pandas to_json", **table)
nested = [{"pos": {"x": a, "y": {"z": b}}, "label": w, "id": f"r{i}", "name": None if i == 1 else "n", "ok": bool(i % 2)}
          for i, ((a, b, _), w) in enumerate(zip(halves.tolist(), words))]
nested[2]["late"] = 1
nested[4]["late"] = 2.5
save("nested.jsonl", "".join(json.dumps(r) + "\n" for r in nested).encode())
case("nested.jsonl", "JSON lines", "Python json.dumps", np.column_stack([halves[:, :2], np.arange(5) % 2]), words, options={"Columns": ["pos.x", "pos.y.z", "ok"]},
     columns=["pos.x", "pos.y.z", "ok"], id_names=[f"r{i}" for i in range(5)], skipped=["name", "late"])
save("vectors.jsonl", "".join(json.dumps({"v": r, "label": int(k), "tags": ["a"]}) + "\n" for r, k in zip(halves.tolist(), y)).encode())
case("vectors.jsonl", "JSON lines", "Python json.dumps", halves, names, skipped=["tags"])
frame.to_json(out / "pandas.json", orient="records", indent=2)
case("pandas.json", "JSON array", "pandas to_json", **table)
duckdb.sql(f"copy (select * from frame) to '{out / 'duckdb.json'}' (format json, array true)")
case("duckdb.json", "JSON array", "duckdb copy", **table)

# --- svmlight
for zero in [False, True]:
    file = f"zero-{zero}.svmlight".lower()
    sklearn.datasets.dump_svmlight_file(halves, y, str(out / file), zero_based=zero)
    read, labels = sklearn.datasets.load_svmlight_file(str(out / file), n_features=3, zero_based=zero)
    case(file, "svmlight", f"sklearn dump_svmlight_file(zero_based={zero})", read.toarray(), names,
         columns=[str(i) for i in range(1 - zero, 4 - zero)])
sklearn.datasets.dump_svmlight_file(halves, y, str(out / "queries.svm"), zero_based=False, query_id=np.arange(5), comment="two\nlines")
case("queries.svm", "svmlight", "sklearn dump_svmlight_file with qid and comments", halves, names, columns=["1", "2", "3"], skipped=["qid"])
save("wanted.libsvm", b"+1 2:0.5 # last\n\n-1 1:-3e-1\n")
case("wanted.libsvm", "svmlight", "by hand", [[0, 0.5, 0, 0], [np.float32(-0.3), 0, 0, 0]], ["1", "-1"], options={"Columns": ["1", "2", "0", "7"]},
     columns=["1", "2", "0", "7"], skipped=["3", "4", "5", "6"])
columns = [3, 16384, 16385, 99999, 2_000_000_000]
far = scipy.sparse.csr_matrix((halves[:, [0, 1, 2, 0, 1]].flatten(), (np.repeat(range(5), 5), columns * 5)), shape=(5, columns[-1] + 1))
far.eliminate_zeros()
sklearn.datasets.dump_svmlight_file(far, y, str(out / "wide.svmlight"), zero_based=True)
for n in [7, 16]:
    rows = [{str(i): v for i, v in zip(columns, r[[0, 1, 2, 0, 1]])} for r in halves]
    case("wide.svmlight", f"svmlight, hashed to {n}", "sklearn dump_svmlight_file, FeatureHasher", sklearn.feature_extraction.FeatureHasher(n).transform(rows).toarray(),
         names, options={"Hash": n}, columns=[f"hash{k + 1}/{n}" for k in range(n)])

# --- ARFF
dense = """% a comment
@RELATION 'a table'

@attribute a REAL
@attribute 'b, c' numeric
@ATTRIBUTE d integer
@attribute kind {cat,'dog, big', "it's"}
@attribute day date "yyyy-MM-dd HH:mm"
@attribute label {2,0,1,10}
@data
-2.5,-2,-15,cat,"2020-01-02 03:04",2
% another
-1, -3 ,0,'dog, big',"2021-12-31 23:59",0
0.5,1,15,"it's","1969-07-20 20:17",1
2,2.5,30,?,?,10
3.5,4e0,-5,cat,'2020-02-29 00:00',2
"""
save("dense.arff", dense.encode())
rows, meta = scipy.io.arff.loadarff(io.StringIO(dense.replace('"it\'s"', "its").replace("'dog, big'", "dog").replace(" its", "its")))
case("dense.arff", "ARFF", "by hand, as scipy.io.arff reads it", np.column_stack([rows[n] for n in ["a", "b, c", "d"]]), [l.decode() for l in rows["label"]],
     columns=["a", "b, c", "d"], skipped=["kind", "day"])
save("sparse.arff", b"""@relation sparse
@attribute x numeric
@attribute word string
@attribute y numeric
@attribute class {no,yes}
@data
{0 1.5, 2 -2}
{}
{1 'a \\'b\\'', 3 yes}
{2 7, 3 yes}, {5}
""")
case("sparse.arff", "ARFF, sparse", "by hand", [[1.5, -2], [0, 0], [0, 0], [0, 7]], ["no", "no", "yes", "yes"], options={"Label": "class"}, columns=["x", "y"], skipped=["word"])

# --- MATLAB version 5
wide = {"X": halves, "y": y.reshape(-1, 1)}
for compressed in [False, True]:
    file = f"plain-{compressed}.mat".lower()
    scipy.io.savemat(out / file, {"notes": "text", **wide}, do_compression=compressed)
    case(file, "MATLAB 5", f"scipy.io.savemat(do_compression={compressed})", halves, names)
kinds = {f"X_{t}": np.abs(halves * 2).astype(t) if t[0] in "u" else (halves * 2).astype(t)
         for t in ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]}
extra = {"images": np.arange(2 * 4 * 5).reshape(2, 4, 5).astype(np.uint8), "flag": halves > 0, "small": np.round(halves * 2),
         "sparse": scipy.sparse.csc_matrix(halves), "cells": np.array(words, dtype=object).reshape(-1, 1),
         "chars": np.array(["cat", "dog", "cow", "cat", "a"]), "row": y.reshape(1, -1), "side": np.array(["s", "t", "s", "t", "o"], dtype=object)}
scipy.io.savemat(out / "types.mat", {**kinds, **extra}, do_compression=True)
for name, X in kinds.items():
    more = {"X_uint8": dict(largest=255), "X_uint16": dict(largest=65535)}.get(name, {})
    case(f"types.mat:{name},row", "MATLAB 5", f"scipy.io.savemat, {name[2:]}", X, names, **more)
case("types.mat:sparse,cells", "MATLAB 5, sparse", "scipy.io.savemat", halves, words)
case("types.mat:small,chars", "MATLAB 5, labels of characters", "scipy.io.savemat", halves * 2, ["cat", "dog", "cow", "cat", "a"])
case("types.mat:flag", "MATLAB 5, logical", "scipy.io.savemat", halves > 0)
case("types.mat:images", "MATLAB 5, images", "scipy.io.savemat", extra["images"], shape=[1, 4, 5], largest=255)


def big_endian_mat(name, matrix):
    """A variable as MATLAB writes it on machines of the other byte order, which scipy reads."""
    def tag(kind, data):
        return struct.pack(">II", kind, len(data)) + data + b"\0" * (-len(data) % 8)
    body = tag(6, struct.pack(">II", 6, 0)) + tag(5, struct.pack(">ii", *matrix.shape))
    body += struct.pack(">HH4s", len(name), 1, name.encode())
    body += tag(9, matrix.astype(">f8").tobytes("F"))
    return tag(14, body)


save("big-endian.mat", b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI" + big_endian_mat("X", halves) + big_endian_mat("y", y.reshape(-1, 1)))
read = scipy.io.loadmat(out / "big-endian.mat")
case("big-endian.mat", "MATLAB 5, big-endian", "by hand, as scipy.io.loadmat reads it", read["X"], [str(int(v)) for v in read["y"][:, 0]])
case("plain-true.mat", "MATLAB 5, labels alone", "scipy.io.savemat", halves, names, options={"X": "X", "Labels": "plain-false.mat"})
scipy.io.savemat(out / "old.mat", wide, format="4")  # refused

# --- FCS
def fcs(version, channels, rows, more=None, kind="I", order="1,2,3,4", delimiter="/", text_offsets=False, supplemental=None):
    """A file of one data set; channels are ($PnN, $PnS, $PnB, $PnR, $PnE, $PnG)."""
    end = {"1,2,3,4": "<", "4,3,2,1": ">"}[order]
    codes = {"I": {8: "B", 16: "H", 32: "I", 64: "Q"}, "F": {32: "f"}, "D": {64: "d"}}[kind]
    data = b"".join(struct.pack(end + "".join(codes[c[2]] for c in channels), *row) for row in rows)
    keys = {"$MODE": "L", "$DATATYPE": kind, "$BYTEORD": order, "$PAR": len(channels), "$NEXTDATA": 0, "$TOT": len(rows), **(more or {})}
    for i, (n, s, b, r, e, g) in enumerate(channels, 1):
        keys |= {f"$P{i}N": n, f"$P{i}B": b, f"$P{i}R": r, f"$P{i}E": e} | ({f"$P{i}S": s} if s else {}) | ({f"$P{i}G": g} if g else {})

    def segment(keys):
        return (delimiter + "".join(str(k).replace(delimiter, 2 * delimiter) + delimiter + str(v).replace(delimiter, 2 * delimiter) + delimiter
                                    for k, v in keys.items())).encode()
    extra = segment(supplemental) if supplemental else b""
    for _ in range(2):  # the offsets are in the text themselves, with as many digits
        at = 256 + len(segment(keys | {"$BEGINDATA": "0" * 8, "$ENDDATA": "0" * 8, "$BEGINSTEXT": "0" * 8, "$ENDSTEXT": "0" * 8}))
        begin, stop = at + len(extra), at + len(extra) + len(data) - 1
        offsets = {"$BEGINDATA": f"{begin:08d}", "$ENDDATA": f"{stop:08d}", "$BEGINSTEXT": f"{at if extra else 0:08d}", "$ENDSTEXT": f"{at + len(extra) - 1 if extra else 0:08d}"}
    body = segment(keys | offsets)
    shown = (0, 0) if text_offsets else (begin, stop)
    return (f"FCS{version}    " + "".join(f"{v:8d}" for v in (256, 255 + len(body), *shown, 0, 0))).encode().ljust(256) + body + extra + data


def read_fcs(file, compensate=False):
    """What flowio and flowutils make of a file."""
    data = flowio.FlowData(str(out / file), use_header_offsets=False, ignore_offset_discrepancy=True)
    events = data.as_array(preprocess=True)
    if compensate:
        matrix, names = flowutils.compensate.get_spill(data.text.get("spillover") or data.text["spill"])
        at = [data.pnn_labels.index(n) for n in names]
        events = flowutils.compensate.compensate(events, matrix, at)
    return events


def fcs_case(file, what, columns, writer="by hand, as flowio reads it", **more):
    events = read_fcs(file, more.get("options", {}).get("Compensate", False)).astype(np.float32)
    case(file, what, writer, events, columns=columns, **more)


rng = np.random.default_rng(0)
linear = [("FSC-A", "", 16, 1024, "0,0", ""), ("FL1-A", "CD3/a", 16, 1024, "4,1", ""), ("FL2-A", "CD4", 16, 1024, "2.5,0", ""), ("Time", "", 16, 65536, "0,0", "")]
rows = rng.integers(0, 1024, (6, 4)).tolist()
save("log.fcs", fcs("2.0", linear, rows, order="4,3,2,1"))
timed = ["FSC-A", "CD3/a", "CD4", "Time"]
fcs_case("log.fcs", "FCS 2.0, 16 bits, big-endian, logarithmic", timed, options={"Columns": timed})  # Time is a feature where it is named
mixed = [("A", "", 8, 256, "0,0", "2"), ("B", "", 32, 262144, "0,0", ""), ("C", "same", 16, 1000, "0,0", "0.5"), ("D", "same", 32, 2**32, "0,0", "")]
rows = [[int(rng.integers(0, 2**c[2])) for c in mixed] for _ in range(5)]
save("mixed.fcs", fcs("3.0", mixed, rows, delimiter="|", supplemental={"EXTRA": "a||b"}, text_offsets=True))
fcs_case("mixed.fcs", "FCS 3.0, mixed widths, masks, gains, supplemental text", ["A", "B", "C", "D"])
floats = [(n, s, 32, 262144, "0,0", "") for n, s in [("FSC-A", ""), ("FITC-A", "CD3"), ("PE-A", "CD4"), ("APC-A", "CD8")]]
rows = np.round(rng.normal(100, 50, (7, 4)), 3).tolist()
matrix = "3,PE-A,FITC-A,APC-A,1,0.02,0.1,0.15,1,0,0.01,0.03,1"
save("floats.fcs", fcs("3.1", floats, rows, {"$SPILLOVER": matrix}, kind="F", order="4,3,2,1"))
names = ["FSC-A", "CD3", "CD4", "CD8"]
fcs_case("floats.fcs", "FCS 3.1, float, big-endian", names)
fcs_case("floats.fcs", "FCS 3.1, compensated", names, "by hand, as flowio and flowutils read it", options={"Compensate": True})
two = fcs("3.1", floats, rows, {"$NEXTDATA": 5000}, kind="F")
save("two.fcs", two.ljust(5000) + two)
case("two.fcs", "FCS 3.1, two data sets", "by hand", read_fcs("floats.fcs").astype(np.float32), columns=names, skipped=["data sets after the first"])
save("spill.fcs", fcs("3.0", floats, rows, {"SPILL": matrix}, kind="F"))
fcs_case("spill.fcs", "FCS 3.0, compensated by SPILL", names, "by hand, as flowio and flowutils read it", options={"Compensate": True})
doubles = [(n, "", 64, 1, "0,0", "") for n in ["a", "b"]]
save("doubles.fcs", fcs("3.1", doubles, halves[:, :2].tolist(), kind="D"))
fcs_case("doubles.fcs", "FCS 3.1, double", ["a", "b"])
with open(out / "flowio.fcs", "wb") as f:
    flowio.create_fcs(f, halves.flatten().tolist(), ["a", "b", "c"], opt_channel_names=["CD3", "", "CD4"])
fcs_case("flowio.fcs", "FCS 3.1", ["CD3", "b", "CD4"], "flowio.create_fcs")
for file in ["spill.fcs", "doubles.fcs", "flowio.fcs"]:
    assert np.allclose(fcsparser.parse(str(out / file))[1].to_numpy(), read_fcs(file), atol=1e-6), file

(out / "manifest.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in manifest) + "\n]\n")
