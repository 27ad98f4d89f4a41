"""ONNX Runtime gives the posteriors of mars predict, of each model and its rows, which the lists
that are named say. MODEL.json is what each got and said, for other programs."""

import json
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pyarrow as pa


def vectors(table, name):
    return np.stack(table[name].to_numpy(zero_copy_only=False)).astype(np.float32)


def feeds(session, meta, rows):
    """What the inputs get: a stream's vectors, or a table's columns."""
    inputs = session.get_inputs()
    first = inputs[0]
    if rows.endswith(".arrow"):
        x = vectors(pa.ipc.open_file(rows).read_all(), first.name if first.name == "embedding" else "features")
        return {first.name: x.reshape(-1, *first.shape[1:])}
    kind = lambda i: np.float64 if i.type == "tensor(double)" else np.float32  # of columns far from 0
    columns = json.loads(meta["mars.columns"]) if "mars.columns" in meta else None
    text = [i.name for i in inputs if i.type == "tensor(string)"]
    frame = pd.read_csv(rows, dtype={name: str for name in text})
    if columns is not None:
        return {first.name: frame[columns].to_numpy(kind(first))}
    given = {}
    for i in inputs:
        name, _, what = i.name.partition(":")
        if i.name in text:
            given[i.name] = frame[[name]].fillna("").to_numpy(object)
        elif frame[name].dtype.kind in "if":
            given[i.name] = frame[[name]].to_numpy(kind(i))
        else:
            moment = pd.to_datetime(frame[name])
            days = (moment.dt.normalize() - pd.Timestamp(0)) / pd.Timedelta(days=1)
            seconds = (moment - moment.dt.normalize()) / pd.Timedelta(seconds=1)
            given[i.name] = (seconds if what == "seconds" else days).to_numpy(np.float32)[:, None]
    return given


def expected(model, rows, classes):
    """What mars predict says: posteriors, names of classes, and typicality or None."""
    out = model + (".arrow" if rows.endswith(".arrow") else ".csv")
    subprocess.run(["mars", "predict", "-q", "--model", model, rows, "-o", out], check=True)
    if rows.endswith(".arrow"):
        table = pa.ipc.open_file(out).read_all()
        typical = table["typicality"].to_numpy() if "typicality" in table.column_names else None
        return vectors(table, "probability"), table["predicted_class"].to_pylist(), typical
    frame = pd.read_csv(out)
    return frame[["probability_" + c for c in classes]].to_numpy(), frame["predicted_class"].tolist(), frame.get("typicality")


def check(model, rows):
    path = model + ".onnx"
    subprocess.run(["mars", "export", "-q", model, "-o", path], check=True)
    proto = onnx.load(path)
    onnx.checker.check_model(proto, full_check=True)
    assert proto.SerializeToString() == open(path, "rb").read(), "another program writes the model otherwise"
    assert [o.version for o in proto.opset_import if o.domain == ""] == [17]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 2  # warnings are printed
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    meta = session.get_modelmeta().custom_metadata_map
    classes = json.loads(meta["mars.classes"])
    given = feeds(session, meta, rows)
    p, label, prediction, confidence = session.run(["probability", "label", "prediction", "confidence"], given)
    want, names, typical = expected(model, rows, classes)
    difference = np.abs(p - want).max()
    print(f"{model}: {difference:.1e}", [f"{i.name}{i.shape}" for i in session.get_inputs()][:3])
    assert want.std() > 1e-3 and p.dtype == np.float32 and p.shape == want.shape
    assert difference < 1e-5, model
    sure = np.partition(want, -2, 1)[:, -2] < want.max(1) - 1e-4
    assert (label == np.array(names))[sure].all() and [classes[k] for k in prediction] == list(label)
    assert np.abs(confidence - p.max(1)).max() == 0
    assert (typical is not None) == ("typicality" in [o.name for o in session.get_outputs()])
    if typical is not None:  # a rank, which may be the next where two distances are nearly one
        far = np.abs(session.run(["typicality"], given)[0] - typical)
        assert np.median(far) < 1e-6 and (far > 1e-6).mean() < 0.02 and far.max() < 0.1, (far.max(), (far > 1e-6).mean())
    for n in (1, 0):  # any number of rows
        some, = session.run(["probability"], {name: x[:n] for name, x in given.items()})
        assert some.shape == (n, len(classes)) and np.allclose(some, p[:n], atol=1e-6)

    keep(model, given, p)


def keep(model, given, p):
    inputs = {name: {"type": "string" if x.dtype == object else str(x.dtype), "dims": x.shape, "data": x.ravel().tolist()}
              for name, x in given.items()}
    with open(model + ".json", "w") as f:
        json.dump({"inputs": inputs, "probability": p.ravel().tolist()}, f)


pairs = [line.split() for list in sys.argv[1:] for line in open(list)]
for pair in pairs:
    check(*pair)
print(len(pairs), "models agree")
