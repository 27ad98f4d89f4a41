"""The programs for PyTorch give the posteriors of mars predict, of each model and its rows, which
the lists that are named say."""

import importlib.util
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import torch


def vectors(table, name):
    return np.stack(table[name].to_numpy(zero_copy_only=False)).astype(np.float32)


def check(model, rows):
    program = model.rsplit(".", 1)[0].replace(":", "-") + "_torch.py"
    stream = rows.endswith(".arrow")
    done = subprocess.run(["mars", "export", "-q", "--to", "torch", model, "-o", program], stderr=subprocess.PIPE, text=True)
    if done.returncode and rows.startswith("mixed"):
        assert "columns of text or dates" in done.stderr and "--prepared" in done.stderr, done.stderr
        return
    assert done.returncode == 0, done.stderr
    spec = importlib.util.spec_from_file_location("model", program)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    network = module.Model()
    out = model + (".arrow" if stream else ".csv")
    subprocess.run(["mars", "predict", "-q", "--model", model, rows, "-o", out], check=True)
    if stream:
        table, labelled = pa.ipc.open_file(rows).read_all(), pa.ipc.open_file(out).read_all()
        x = vectors(table, "embedding" if "embedding" in model and "embedding" in table.column_names else "features")
        want = vectors(labelled, "probability")
    else:
        x = pd.read_csv(rows)[network.columns].to_numpy()
        want = pd.read_csv(out)[["probability_" + c for c in network.classes]].to_numpy()
    before = x.copy()
    with torch.no_grad():
        p = network(x).numpy()
    difference = np.abs(p - want).max()
    print(f"{model}: {difference:.1e}")
    assert p.dtype == np.float32 and difference < 1e-5 and want.std() > 1e-3, model
    assert np.array_equal(x, before, equal_nan=True), "the rows were changed"


pairs = [line.split() for list in sys.argv[1:] for line in open(list)]
for pair in pairs:
    check(*pair)
print(len(pairs), "models agree")
