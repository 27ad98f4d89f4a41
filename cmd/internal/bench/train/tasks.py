"""The iterations that make bench-train compares, and the protocol of a contender.

Weights, data and interpolation coefficients follow the formulas of
testdata/oracle/train/generate.py, so that every program starts from the same numbers.
stages/algorithms/adapt/bench_test.go has the same tasks.
"""

import sys
import time

import numpy as np

GAMMA, LAMBDA, CRITIC_STEPS = 10.0, 0.4, 10
PROPORTIONS = np.array([0.6, 0.3, 0.1])
MIN_TIME = 0.4  # seconds for which an iteration is repeated for one answer

TASKS = {
    "2048": dict(
        input=[2048], classes=3, batch=128, points="interpolates", rate=1e-4, betas=(0.5, 0.999),
        g="linear 2048 100, relu, linear 100 100",
        h="linear 100 100, relu, linear 100 3",
        v="linear 100 100, relu, linear 100 1 nobias"),
    "toy": dict(
        input=[2], classes=3, batch=120, points="all", rate=0.01, betas=None,
        g="linear 2 200, relu, linear 200 200, relu, linear 200 200, relu",
        h="linear 200 200, relu, linear 200 3",
        v="linear 200 200 nobias, relu, linear 200 200 nobias, relu, linear 200 1 nobias"),
    "digits": dict(
        input=[1, 28, 28], classes=10, batch=200, points=None, rate=1e-4, betas=(0.9, 0.999),
        g="conv 1 32 5, maxpool 2, relu, conv 32 20 5, maxpool 2, relu, linear 320 128, relu",
        h="linear 128 100, relu, linear 100 10", v=""),
    "digits-gn": dict(
        input=[1, 28, 28], classes=10, batch=128, points=None, rate=1e-3, betas=(0.9, 0.999),
        g="conv 1 32 5 nobias, maxpool 2, groupnorm 4 32, relu, conv 32 48 5 nobias, maxpool 2, groupnorm 4 48, relu, "
          "linear 768 128, layernorm 128, relu",
        h="linear 128 10", v=""),
}


def uniform(seed, n):
    """n numbers in [0, 1) by splitmix64."""
    with np.errstate(over="ignore"):
        z = (np.uint64(seed << 32) + np.arange(1, n + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)).astype(np.float64) / 2**53


def layers(text):
    """(kind, sizes, bias) of each layer of a network's text."""
    for words in (layer.split() for layer in text.split(",") if layer.strip()):
        yield words[0], [int(w) for w in words[1:] if w != "nobias"], "nobias" not in words


def parameters(text, number):
    """Weights and biases in PyTorch's order and shapes, by formula."""
    result = []
    for kind, sizes, bias in layers(text):
        if kind in ("relu", "maxpool"):
            continue
        if kind in ("groupnorm", "layernorm"):
            shape, fan_in, start = sizes[-1:], 16, 1
        else:
            shape = (sizes[1], sizes[0]) if kind == "linear" else (sizes[1], sizes[0], sizes[2], sizes[2])
            fan_in, start = int(np.prod(shape[1:])), 0
        for s, centre in [(shape, start), (shape[:1], 0)] if bias else [(shape, start)]:
            values = centre + (2 * uniform(1000 * number + len(result) + 1, int(np.prod(s))) - 1) / np.sqrt(fan_in)
            result.append(values.astype(np.float32).reshape(s))
    return result


class Batch:
    """One batch: rows xs and xt, labels, their weights, and the interpolation coefficients of
    each critic step, one per row."""

    def __init__(self, task):
        rows, classes, shape = task["batch"], task["classes"], task["input"]
        size = int(np.prod(shape))
        self.labels = np.arange(rows) % classes
        shift = 0.3 * self.labels.repeat(size)
        self.xs = (2 * uniform(7, rows * size) - 1 + shift).astype(np.float32).reshape(rows, *shape)
        self.xt = (2 * uniform(8, rows * size) - 0.8).astype(np.float32).reshape(rows, *shape)
        self.along = np.stack([uniform(77 + k, rows).astype(np.float32)[:, None] for k in range(CRITIC_STEPS)])
        weights = np.full(rows, 1 / rows)
        if task["points"]:
            weights = PROPORTIONS[self.labels] / np.bincount(self.labels)[self.labels]
        self.weights = weights.astype(np.float32)


def initial(task):
    return [parameters(task[letter], i + 1) for i, letter in enumerate("ghv")]


def fastest(iterate):
    """Seconds of the fastest of repeated iterations."""
    iterate()
    best, end = float("inf"), time.perf_counter() + MIN_TIME
    while True:
        start = time.perf_counter()
        iterate()
        now = time.perf_counter()
        best = min(best, now - start)
        if now > end:
            return best


def differences(name, program, path):
    """How far a program's first iteration is from that in a file: the largest relative
    difference of the losses, and the largest difference of the changes of a network's
    parameters, relative to the largest change. One parameter in a thousand is left out:
    Adam takes a full step even if a gradient is 0 apart from rounding."""
    want = np.fromfile(path, "<f4")
    losses = np.array(program.iterate(), np.float32)
    of_losses = np.max(np.abs(losses - want[:3]) / np.maximum(np.abs(want[:3]), 0.05))
    of_parameters, at = [], 3
    for begun, ended in zip(initial(TASKS[name]), program.parameters()):
        if not begun:
            continue
        begun, ended = (np.concatenate([np.asarray(p).ravel() for p in net]) for net in (begun, ended))
        change = want[at:at + begun.size] - begun
        of_parameters.append(np.quantile(np.abs(ended - begun - change), 0.999) / np.max(np.abs(change)))
        at += begun.size
    assert at == want.size
    return of_losses, max(of_parameters)


def serve(about, variants):
    """Answer questions until the input ends: "about" with what the program is; "check NAME
    FILE" with the largest differences of losses and of parameters from those in the file, and
    the times of all variants; "measure NAME" with the seconds of an iteration of the fastest
    variant and of the first. variants(task) yields the names and the programs of the variants
    of a task, the usual one first."""
    kept = {}
    for line in sys.stdin:
        question, *words = line.split()
        if question == "check":
            measured, worst = [], np.zeros(2)
            for way, program in variants(TASKS[words[0]]):
                worst = np.maximum(worst, differences(words[0], program, words[1]))
                measured.append((fastest(program.iterate), way, program))
            usual = measured[0][2]
            measured.sort(key=lambda m: m[0])
            kept[words[0]] = measured[0][2], usual
            ways = ", ".join(f"{way} {1e3 * seconds:.1f} ms" for seconds, way, _ in measured)
            print(*worst, ways, flush=True)
        elif question == "measure":
            best, usual = kept[words[0]]
            print(fastest(best.iterate), fastest(usual.iterate), flush=True)
        else:
            print(about, flush=True)
