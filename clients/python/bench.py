"""What the package adds to the program's own time: 100,000 rows of 100 numbers in and out.

    python bench.py [--rows 100000] [--columns 100] [--runs 3] [--options assume=same] [label] [predict]

Runs ``mars label`` and ``mars predict`` on Arrow files, and then `mars.label` and `mars.predict` on
frames of each package, in turns. It prints medians of the time on the clock, and of the processor's,
which other programs disturb less.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import mars


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the target, and of the source")
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--options", default="", help="options of mars label, as in assume=same,jobs=2")
    parser.add_argument("commands", nargs="*", default=["label", "predict"])
    a = parser.parse_args()
    options: dict[str, Any] = dict(o.split("=", 1) for o in a.options.split(",") if o)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        source, target = frames(a.rows, a.columns)
        if "label" in a.commands:
            bench("label", a.runs, labelling(folder, source, target, options))
        if "predict" in a.commands:
            model = os.path.join(folder, "model.safetensors")
            mars.label(source[:2000], target[:2000], "y", save=model, assume="same")
            bench("predict", a.runs, predicting(folder, model, target))


def labelling(folder: str, source: pd.DataFrame, target: pd.DataFrame, options: dict[str, Any]) -> dict[str, Callable[[], object]]:
    def label(s: Any, t: Any) -> Callable[[], object]:
        return lambda: mars.label(s, t, "y", posteriors=True, **options)

    x, y = source.drop(columns="y").to_numpy(), source["y"].to_numpy()
    files = {n: file(folder, n, frame) for n, frame in (("source", source), ("target", target))}
    return {
        "Arrow files": command(folder, "label", "--label=y", **files, **options),
        "pandas": label(source, target),
        "polars": label(pl.from_pandas(source), pl.from_pandas(target)),
        "pyarrow": label(pa.Table.from_pandas(source), pa.Table.from_pandas(target)),
        "numpy": label((x, y), target.to_numpy()),
    }


def predicting(folder: str, model: str, target: pd.DataFrame) -> dict[str, Callable[[], object]]:
    def predict(t: Any) -> Callable[[], object]:
        return lambda: mars.predict(model, t, posteriors=True)

    return {
        "Arrow files": command(folder, "predict", target=file(folder, "target", target), model=model),
        "pandas": predict(target),
        "polars": predict(pl.from_pandas(target)),
        "pyarrow": predict(pa.Table.from_pandas(target)),
        "numpy": predict(target.to_numpy()),
    }


def file(folder: str, name: str, frame: pd.DataFrame) -> str:
    table = pa.Table.from_pandas(frame)
    path = os.path.join(folder, f"{name}.arrow")
    with pa.OSFile(path, "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=1 << 16)
    return path


def command(folder: str, name: str, *flags: str, **options: Any) -> Callable[[], object]:
    line = [mars.binary(), name, *flags, *(f"--{k}={v}" for k, v in options.items()), "-q"]
    return lambda: subprocess.run([*line, "-o", os.path.join(folder, f"{name}.labels.arrow")], check=True)


def bench(title: str, runs: int, contenders: dict[str, Callable[[], object]]) -> None:
    clock: dict[str, list[float]] = {name: [] for name in contenders}
    processor: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(runs):
        for name, run in contenders.items():
            begun, used = time.perf_counter(), cpu()
            run()
            clock[name].append(time.perf_counter() - begun)
            processor[name].append(cpu() - used)
    print(f"mars {title:<14}{'clock':>10}{'':10}{'processor':>12}")
    for name in contenders:
        print(f"  {name:<17}" + "".join(f"{statistics.median(t[name]):10.2f} s {more(t, name):+7.1f} %" for t in (clock, processor)))


def more(times: dict[str, list[float]], name: str) -> float:
    return 100 * (statistics.median(times[name]) / statistics.median(times["Arrow files"]) - 1)


def cpu() -> float:
    """Seconds of the processor that this process and its children have used."""
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def frames(rows: int, columns: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A source with labels, and a target that has moved."""
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 1, (4, columns))

    def make(p: list[float], moved: float) -> tuple[Any, Any]:
        y = rng.choice(4, rows, p=p)
        return rng.normal(0, 1.5, (rows, columns)) + centres[y] + moved, y

    names = [f"x{i}" for i in range(columns)]
    x, y = make([0.25, 0.25, 0.25, 0.25], 0)
    z, _ = make([0.6, 0.2, 0.1, 0.1], 0.3)
    return pd.DataFrame(x, columns=names).assign(y=y), pd.DataFrame(z, columns=names)


if __name__ == "__main__":
    main()
