"""Writes the oracle files of the featurize packages: one small table in every
form that other tools write it, with manifest.json saying what must be read from
each, and resize.json with PyTorch's bilinear interpolation.

    python generate.py [folder]        (default: the folder of this program)

Made with numpy 2.4.6, pandas 3.1.1, pyarrow 26.0.1, polars 2.1.0, torch 2.15.0.
"""

import gzip
import io
import json
import pathlib
import struct
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
out = out if out.is_dir() else out.parent
manifest = []


def case(file, options=None, X=None, labels=None, shape=None, **more):
    """Records what must be read from file."""
    X = np.asarray(X, np.float64)
    manifest.append({
        "file": file, "options": options or {}, "features": X.reshape(len(X), -1).tolist(),
        "shape": list(shape or [X[0].size]), "labels": labels, **more,
    })


# The table: small whole numbers that every type holds, and one with halves.
whole = np.array([[1, 2, 3], [4, 0, 6], [7, 8, 9], [10, 11, 12], [13, 14, 5]])
halves = whole / 2 - 3
y = np.array([2, 0, 1, 10, 2])
names = ["2", "0", "1", "10", "2"]
words = ["cat", "dog, big", "é\"q\"", "cat", "dog, big"]
images = np.arange(2 * 4 * 5).reshape(2, 4, 5) * 6
colour = np.arange(2 * 4 * 5 * 3).reshape(2, 4, 5, 3) * 2

# --- NumPy
arrays = {}
for t in ["u1", "i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2", "<f4", "<f8",
          ">u2", ">i2", ">u4", ">i4", ">u8", ">i8", ">f2", ">f4", ">f8"]:
    key = t.replace("<", "le_").replace(">", "be_")
    X = halves if "f" in t else -whole if "i" in t else whole
    arrays["X_" + key] = X.astype(t)
    arrays["y_" + key] = y.astype(t)
    case("types.npz", {"X": "X_" + key, "Y": "y_" + key}, X, names)
arrays["X_bool"] = whole % 2 == 0
case("types.npz:X_bool,y_fixed", X=whole % 2 == 0, labels=words)
arrays["y_fixed"] = np.array(words)
arrays["y_bytes"] = np.array([b"cat", b"dog", b"c", b"cat", b"dog"])
case("types.npz:X_le_f4,y_bytes", X=halves, labels=["cat", "dog", "c", "cat", "dog"])
arrays["y_big_text"] = np.array(words).astype(">U8")
case("types.npz:X_le_f4,y_big_text", X=halves, labels=words)
arrays["y_gaps"] = np.array([2, np.nan, 1, 10, 2])
case("types.npz:X_le_f4,y_gaps", X=halves, labels=["2", "", "1", "10", "2"])
arrays["X_fortran"] = np.asfortranarray(halves)
case("types.npz:X_fortran,y_le_i8", X=halves, labels=names)
arrays["images_fortran"] = np.asfortranarray(images.astype(np.uint8))
case("types.npz:images_fortran", X=images, shape=[1, 4, 5], largest=255)
arrays["images_last"] = colour.astype(np.uint8)
case("types.npz:images_last", X=colour.transpose(0, 3, 1, 2), shape=[3, 4, 5], largest=255)
arrays["images_first"] = np.ascontiguousarray(colour.transpose(0, 3, 1, 2)).astype(np.uint16)
case("types.npz:images_first", X=colour.transpose(0, 3, 1, 2), shape=[3, 4, 5], largest=65535)
arrays["column"] = halves[:, 0]
case("types.npz:column", X=halves[:, :1])
np.savez_compressed(out / "types.npz", **arrays)

np.savez(out / "plain.npz", X=halves.astype(np.float32), y=y)
case("plain.npz", X=halves, labels=names)
case("plain.npz", {"NoLabels": True}, halves)
np.save(out / "plain.npy", halves)
np.save(out / "labels.npy", y.astype(np.uint8))
case("plain.npy", X=halves)
case("plain.npy", {"Labels": "labels.npy"}, halves, names)
case("plain.npy", {"Labels": "plain.npz"}, halves, names)
for version in [(2, 0), (3, 0)]:
    with open(out / f"version{version[0]}.npy", "wb") as f:
        np.lib.format.write_array(f, halves, version=version)
    case(f"version{version[0]}.npy", X=halves)
buffer = io.BytesIO()
np.save(buffer, halves)
(out / "zipped.npy.gz").write_bytes(gzip.compress(buffer.getvalue(), mtime=0))
case("zipped.npy.gz", X=halves)

# --- IDX
def idx(array, code):
    shape = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, code, array.ndim]) + shape + array.tobytes()


digits = idx(images.astype(np.uint8), 8)
digit_labels = idx(np.array([7, 3], np.uint8), 8)
(out / "train-images-idx3-ubyte").write_bytes(digits)
(out / "train-labels-idx1-ubyte").write_bytes(digit_labels)
(out / "digits.gz").write_bytes(gzip.compress(digits, mtime=0))
(out / "digit-labels.gz").write_bytes(gzip.compress(digit_labels, mtime=0))
case("train-images-idx3-ubyte", X=images, labels=["7", "3"], shape=[1, 4, 5], largest=255)
case("train-images-idx3-ubyte", {"NoLabels": True}, images, shape=[1, 4, 5], largest=255)
case("digits.gz", X=images, shape=[1, 4, 5], largest=255)
case("digits.gz", {"Labels": "digit-labels.gz"}, images, ["7", "3"], [1, 4, 5], largest=255)
for code, t in [(9, ">i1"), (0xB, ">i2"), (0xC, ">i4"), (0xD, ">f4"), (0xE, ">f8")]:
    (out / f"type{code:x}.idx").write_bytes(idx((-whole).astype(t), code))
    case(f"type{code:x}.idx", X=-whole)

# --- text
frame = pd.DataFrame(halves, columns=["a", "b, c", "d"])
frame["name"] = words
frame["label"] = y
frame["id"] = [11, 12, 13, 14, 15]
columns = ["a", "b, c", "d"]
expect = dict(X=halves, labels=names, columns=columns, ids=[11, 12, 13, 14, 15], skipped=["name"])
frame.to_csv(out / "frame.csv", index=False)
case("frame.csv", **expect)
case("frame.csv", {"Label": "name", "Columns": ["d", "a"]}, halves[:, [2, 0]], words,
     columns=["d", "a"], ids=[11, 12, 13, 14, 15], skipped=["b, c", "label"])
case("frame.csv", {"NoLabels": True}, halves, columns=columns, ids=[11, 12, 13, 14, 15], skipped=["name"])
case("plain.npy", {"Labels": "frame.csv"}, halves, names)
case("plain.npy", {"Labels": "frame.csv", "Label": "name"}, halves, words)
frame.to_csv(out / "index.csv")
case("index.csv", **{**expect, "skipped": ["", "name"]})
frame.to_csv(out / "frame.tsv", index=False, sep="\t")
case("frame.tsv", **expect)
frame.to_csv(out / "semicolon.csv", index=False, sep=";", encoding="utf-8-sig", lineterminator="\r\n")
case("semicolon.csv", **expect)
frame.to_csv(out / "frame.csv.gz", index=False, compression={"method": "gzip", "mtime": 0})
case("frame.csv.gz", **expect)
pl.from_pandas(frame).write_csv(out / "polars.csv")
case("polars.csv", **expect)
gaps = frame.assign(label=frame["label"].where(frame["label"] != 0), id=["r1", "r2", "r3", "r4", "r5"])
gaps.to_csv(out / "gaps.csv", index=False)
gap_names = ["2", "", "1", "10", "2"]
case("gaps.csv", X=halves, labels=gap_names, columns=columns, id_names=["r1", "r2", "r3", "r4", "r5"], skipped=["name"])
frame[["label"]].to_csv(out / "only-labels.csv", index=False)
case("plain.npy", {"Labels": "only-labels.csv"}, halves, names)

# --- Parquet and Arrow
gap_ids = dict(id_names=["r1", "r2", "r3", "r4", "r5"], skipped=["name"])
for codec in ["none", "snappy", "gzip", "zstd", "brotli"]:
    frame.to_parquet(out / f"{codec}.parquet", index=False, compression=None if codec == "none" else codec)
    case(f"{codec}.parquet", **expect)
gaps.sample(frac=1, random_state=0).to_parquet(out / "shuffled.parquet")
order = gaps.sample(frac=1, random_state=0).index.to_numpy()
case("shuffled.parquet", X=halves[order], labels=[gap_names[i] for i in order], columns=columns,
     id_names=[f"r{i + 1}" for i in order], skipped=["name", "__index_level_0__"])

vectors = {
    "fixed32": pa.array(halves.astype(np.float32).tolist(), pa.list_(pa.float32(), 3)),
    "fixed64": pa.array(halves.tolist(), pa.list_(pa.float64(), 3)),
    "half": pa.array(halves.astype(np.float16).tolist(), pa.list_(pa.float16())),
    "list": pa.array(halves.tolist(), pa.list_(pa.float64())),
    "large": pa.array(halves.tolist(), pa.large_list(pa.float32())),
}
string_labels = {
    "utf8": pa.array(words), "large_utf8": pa.array(words, pa.large_string()),
    "view": pa.array(words, pa.string_view()), "dictionary": pa.array(words).dictionary_encode(),
}


def write(table, name, parquet=True):
    with pa.OSFile(str(out / f"{name}.arrows"), "wb") as f, pa.ipc.new_stream(f, table.schema) as w:
        w.write_table(table, max_chunksize=2)
    with pa.OSFile(str(out / f"{name}.arrow"), "wb") as f, pa.ipc.new_file(f, table.schema) as w:
        w.write_table(table, max_chunksize=2)
    if parquet:
        pq.write_table(table, out / f"{name}.parquet", row_group_size=2)
    return [f"{name}.arrows", f"{name}.arrow"] + [f"{name}.parquet"] * parquet


vector_files = write(pa.table({**vectors, **string_labels, "number": pa.array(y, pa.int16()),
                               "day": pa.array([1, 2, 3, 4, 5], pa.date32())}), "vectors")
rest = [*vectors, *string_labels, "number", "day"]
for file in vector_files:
    for v in vectors:
        for label in [*string_labels, "number"]:
            if v != "fixed32" and label != "number":
                continue
            case(file, {"Columns": [v], "Label": label}, halves, names if label == "number" else words,
                 skipped=[c for c in rest if c not in (v, label)])
    case(file, {"Columns": ["number", "fixed32"]}, np.column_stack([y, halves]),
         skipped=[c for c in rest if c not in ("number", "fixed32")])
for file in write(pa.table({"id": pa.array([5, 6, 7, 8, 9], pa.uint32()), "domain": ["target"] * 5,
                            "label": pa.array([None] * 5, pa.int32()), "truth": pa.array(y, pa.int32()),
                            "features": vectors["fixed32"]}), "stream"):
    case(file, X=halves, labels=[""] * 5, ids=[5, 6, 7, 8, 9], skipped=["domain", "truth"])
    case(file, {"Label": "truth"}, halves, names, ids=[5, 6, 7, 8, 9], skipped=["domain", "label"])

p = pl.DataFrame({"features": halves.astype(np.float32), "label": pl.Series(words, dtype=pl.Categorical),
                  "id": [f"r{i}" for i in range(5)]})
p.write_ipc(out / "polars.arrow")
p.write_parquet(out / "polars.parquet")
for file in ["polars.arrow", "polars.parquet"]:
    case(file, X=halves, labels=words, id_names=[f"r{i}" for i in range(5)])
for codec in ["lz4", "zstd"]:
    pa.feather.write_feather(pa.table(frame), str(out / f"{codec}.feather"), compression=codec)
    case(f"{codec}.feather", **expect)

# Encodings of numbers that other writers choose, over several pages and row groups; TestParquetEncodings
# has the same formulas.
k = np.arange(2600)
numbers = pa.table({
    "i": pa.array(k * k * 7919 % 10007 - 5000 << 40), "j": pa.array(((k % 2 * 2 - 1) * k * 700_000).astype(np.int32)),
    "same": pa.array(k * 0 - 3), "gap": pa.array([None if v % 7 == 0 else int(v) * 3 for v in k]),
    "f": pa.array(k * 0.25), "g": pa.array((k * -0.5).astype(np.float32))})
delta, split = "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"
pq.write_table(numbers, out / "encodings.parquet", use_dictionary=False, data_page_version="2.0", data_page_size=4096,
               row_group_size=1700, compression="zstd",
               column_encoding={"i": delta, "j": delta, "same": delta, "gap": delta, "f": split, "g": split})
pq.write_table(pa.table({"t": pa.array(k, pa.timestamp("ms")), "x": pa.array(k * 0.25)}), out / "times.parquet",
               use_dictionary=False, compression="zstd", column_encoding={"t": delta})

(out / "manifest.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in manifest) + "\n]\n")


# --- bilinear interpolation
def resize():
    import torch
    import torch.nn.functional as F
    rng = np.random.default_rng(0)
    cases = []
    # Where nothing shrinks there is nothing to antialias; ../images has the rest.
    for c, h, w, height, width in [(1, 16, 16, 20, 20), (1, 16, 16, 28, 28), (3, 6, 6, 6, 6), (1, 1, 1, 3, 3)]:
        x = rng.random((2, c, h, w), np.float32).round(3)
        r = F.interpolate(torch.from_numpy(x), size=(height, width), mode="bilinear", align_corners=False)
        cases.append({"shape": [c, h, w], "size": [height, width], "input": flat(x), "output": flat(r.numpy())})
    (out / "resize.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


def flat(x):
    return [[float(f"{v:.8g}") for v in row] for row in x.reshape(len(x), -1)]


resize()
