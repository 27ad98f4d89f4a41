"""Our binary as one more method: it gets two npz files, and labels of the source alone."""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

METHODS = {  # name: flags of mars label, flags of mars proportions
    "mars label": ([], []),
    "mars --assume stay": (["--assume", "stay"], ["--assume", "stay"]),
    "mars --assume move": (["--assume", "move"], ["--assume", "move"]),
    "mars --method translate": (["--method", "translate"], ["--method", "mte"]),
}


def label(name, task, mars):
    """Labels of the target's rows, and the estimate of its proportions."""
    for_labels, for_proportions = METHODS[name]
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        np.savez(at / "source.npz", X=task.domains.xs, y=task.domains.ys)
        np.savez(at / "target.npz", X=task.domains.xt)
        files = ["--source", at / "source.npz", "--target", at / "target.npz", "--seed", str(task.seed), "--quiet"]
        run([mars, "label", *files, *for_labels, "-o", at / "labels.csv"])
        answer = json.loads(run([mars, "proportions", *files, *for_proportions, "--json"]))
        labels = pd.read_csv(at / "labels.csv")["predicted_class"].to_numpy()
    share = dict(zip(map(int, answer["classes"]), answer["proportions"]["estimated"]))
    return labels, share


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return done.stdout
