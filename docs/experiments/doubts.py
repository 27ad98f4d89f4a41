"""Does self-training know when it fails? Tasks that it can and that it cannot do: MNIST or
USPS → MNIST as it is, or changed so that what is learnt on the source is wrong there.

    python3 docs/experiments/doubts.py $MARS_DATA doubts.csv

It needs NumPy, and mars on the PATH. It writes a line a task: the accuracy and the L1 error
of p_T, what mars-train says of itself, and prints how well each of these tells the tasks with
an L1 error above .2 from the others (area under the ROC curve).
"""

import csv
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

FAILED = 0.2  # in L1
SIGNS = {"first_kept": -1, "kept": -1, "agreement": -1, "doubt": 1, "moved": 1}
MID = "0.06,0.06,0.06,0.06,0.2,0.2,0.06,0.1,0.1,0.1"
HIGH = "0.366646659,0.365246098" + ",0.033513405" * 8
EVEN = ",".join(["0.1"] * 10)


def idx(path, offset):
    return np.frombuffer(gzip.open(path).read(), np.uint8, offset=offset)


def changed(data, folder):
    """Writes the changed images, and yields their names."""
    x = idx(data / "mnist/t10k-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28)
    y = idx(data / "mnist/t10k-labels-idx1-ubyte.gz", 8)
    rng = np.random.default_rng(0)
    noisy, some = x.copy(), rng.random(len(x)) < 0.3
    noisy[some] = rng.integers(0, 256, (some.sum(), 28, 28))
    turned = x[:, ::-1, ::-1]
    for name, images in {
        "rotated by 90°": np.rot90(x, axes=(1, 2)), "rotated by 180°": turned, "mirrored": x[:, :, ::-1], "inverted": 255 - x,
        "half the size": np.pad(x[:, ::2, ::2], ((0, 0), (7, 7), (7, 7))), "30 % noise images": noisy,
        "pixels permuted": x.reshape(-1, 784)[:, rng.permutation(784)].reshape(-1, 28, 28),
        "6 and 9 exchanged": np.where(np.isin(y, [6, 9])[:, None, None], turned, x),
    }.items():
        np.savez(folder / f"{name}.npz", X=images, y=y)
        yield name


def tasks(data, folder):
    """The names of the tasks and their options of mars featurize."""
    mnist, test = str(data / "mnist/train-images-idx3-ubyte.gz"), str(data / "mnist/t10k-images-idx3-ubyte.gz")
    usps = str(data / "usps/usps-train.npz")
    from_mnist = ["--source", mnist, "--source-rows", "3000"]
    from_usps = ["--source", usps, "--source-resize", "20", "--source-pad", "4", "--source-rows", "3000"]
    to_usps = ["--target", usps, "--target-resize", "20", "--target-pad", "4"]
    photographs = ["--colour", "--target-photographs", str(data / "bsds500")]
    yield "MNIST → MNIST", [*from_mnist, "--target", test, "--target-rows", "3000"]
    yield "MNIST → MNIST, high", [*from_mnist, "--source-proportions", EVEN, "--target", test, "--target-rows", "2500", "--target-proportions", HIGH]
    yield "USPS → MNIST", [*from_usps, "--target", test, "--target-rows", "3000", "--target-proportions", MID]
    yield "MNIST → USPS", [*from_mnist, *to_usps, "--target-rows", "2500", "--target-proportions", MID]
    yield "MNIST → 200 rows of USPS", [*from_mnist, *to_usps, "--target-rows", "200"]
    yield "MNIST → USPS without 2 and 7", [*from_mnist, *to_usps, "--target-rows", "2000", "--target-proportions", "0.15,0.15,0,0.15,0.15,0.1,0.1,0,0.1,0.1"]
    yield "MNIST → USPS, 3 alone", [*from_mnist, *to_usps, "--target-rows", "500", "--target-proportions", "0,0,0,1,0,0,0,0,0,0"]
    yield "MNIST → MNIST-M", [*from_mnist, "--target", test, "--target-rows", "3000", "--target-proportions", MID, "--target-binarise", *photographs]
    yield "USPS → grey MNIST-M", [*from_usps, "--target", test, "--target-rows", "3000", "--target-proportions", MID, *photographs]
    for name in changed(data, folder):
        target = ["--target", str(folder / f"{name}.npz"), "--target-rows", "3000"]
        yield f"MNIST → MNIST, {name}", [*from_mnist, *target]
        yield f"USPS → MNIST, {name}", [*from_usps, *target, "--target-proportions", MID]


def run(folder, options):
    rows, labelled = folder / "rows.arrow", folder / "labelled.arrow"
    subprocess.run(["mars", "featurize", "--truth", "--seed", "7", "-q", *options, "-o", rows], check=True)
    subprocess.run(["mars", "train", "--method", "self-training", "-q", rows, "-o", labelled], check=True)
    result = json.loads(subprocess.run(["mars", "eval", "--json", labelled], check=True, capture_output=True, text=True).stdout)
    said = result["diagnostics"]["self_training"]
    line = {k: result[k] for k in ("accuracy", "balanced_accuracy", "proportions_l1")}
    return line | {k: said[k] for k in SIGNS} | {"warned": bool(said["warnings"])}


def auroc(failed, score):
    """The share of pairs of a failed and another task of which the failed one scores higher."""
    pairs = [(a > b) + (a == b) / 2 for a, f in zip(score, failed) if f for b, g in zip(score, failed) if not g]
    return sum(pairs) / len(pairs)


def main(data, out, *only):
    with tempfile.TemporaryDirectory() as folder, open(out, "w", newline="") as file:
        writer, lines = None, []
        for name, options in tasks(pathlib.Path(data), pathlib.Path(folder)):
            if only and name not in only:
                continue
            lines.append({"task": name} | run(pathlib.Path(folder), options))
            if writer is None:
                writer = csv.DictWriter(file, lines[0].keys())
                writer.writeheader()
            writer.writerow(lines[-1])
            file.flush()
    failed = [line["proportions_l1"] > FAILED for line in lines]
    if all(failed) or not any(failed):
        return  # a few tasks alone
    for name, sign in SIGNS.items():
        print(f"{name}: AUROC {auroc(failed, [sign * line[name] for line in lines]):.3f}")


main(*sys.argv[1:])
