"""make bench-skada: our binary beside skada's own implementations on SKADA-Bench's tasks.

    python bench.py --results FILE [--quick]     run what FILE lacks, then print the tables
    python bench.py --results FILE --report      print the tables alone

Each (task, method) runs in a process of its own with a time limit, and adds a line of JSON to
FILE: delete lines to run them again. $MARS_DATA is the folder with real data (see tasks.py).
No method and no scorer gets labels of the target. A program whose gate knows none of the families is made by left_out.py.
"""

import argparse
import json
import multiprocessing
import resource
import time
import warnings
from multiprocessing.connection import wait
from pathlib import Path

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from threadpoolctl import threadpool_limits

import methods
import ours
import report
import search
import tasks


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--results", type=Path, required=True, help="JSON lines of what has been run")
    p.add_argument("--report", action="store_true", help="run nothing")
    p.add_argument("--quick", action="store_true", help="one task a family, 300 rows, short searches: some minutes")
    p.add_argument("--mars", default="mars", help="our program (default: on the PATH)")
    p.add_argument("--first", type=int, default=0, help="the first seed (default 0)")
    p.add_argument("--seeds", type=int, default=5, help="of each simulated shift (default 5)")
    p.add_argument("--real-seeds", type=int, default=1, help="draws of rows of each pair of real domains (default 1)")
    p.add_argument("--pairs", type=int, help="most pairs of real domains in a family (default all)")
    p.add_argument("--tables", type=Path, nargs="*", default=[], help="folders with splits of other tables (more_splits.py)")
    p.add_argument("--families", type=int, default=20, help="most families of these (default 20)")
    p.add_argument("--rows", type=int, default=1000, help="most rows of a domain (default 1000)")
    p.add_argument("--splits", type=int, default=5, help="to score a grid's points on (default 5, as SKADA-Bench)")
    p.add_argument("--search", type=float, default=60, help="processor seconds of a search in a grid (default 60)")
    p.add_argument("--limit", type=float, default=600, help="seconds after which a method is ended (default 600)")
    p.add_argument("--jobs", type=int, default=1, help="methods at a time (default 1)")
    p.add_argument("--only", nargs="*", help="methods to run, by the tables' names (default all)")
    a = p.parse_args()
    if a.quick:
        a.seeds = a.real_seeds = a.pairs = a.splits = 1
        a.rows, a.search, a.limit = min(a.rows, 300), min(a.search, 2), min(a.limit, 60)
    return a


def measure(labels, task, share=None):
    """Accuracy, balanced accuracy, and L1 of the proportions: `share` or the counts of the labels."""
    truth = task.domains.yt
    if share is None:
        share = {c: np.mean(labels == c) for c in np.unique(labels)}
    classes = set(share) | set(truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        balanced = balanced_accuracy_score(truth, labels)
    l1 = sum(abs(share.get(c, 0) - np.mean(truth == c)) for c in classes)
    return {"accuracy": accuracy_score(truth, labels), "balanced": balanced, "l1": float(l1)}


def solve(task, name, base, a):
    """The record of one method on one task."""
    if name in ours.METHODS:
        labels, share = ours.label(name, task, a.mars)
        return {"results": {report.OURS: measure(labels, task, share)}}
    labels, about = search.label(methods.METHODS[name], task, base, a.splits, a.search)
    return {"results": {scorer: measure(of, task) for scorer, of in labels.items()}} | about


def processor_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def cell(pipe, task, name, base, a):
    """What the process of one (task, method) does."""
    warnings.simplefilter("ignore")
    np.random.seed(task.seed)
    begun = processor_seconds()
    try:
        with threadpool_limits(1):
            record = {"status": "done"} | solve(task, name, base, a)
    except Exception as e:  # noqa: BLE001  (whatever a method raises, the others go on)
        record = {"status": "failed", "error": f"{type(e).__name__}: {e}"[:300]}
    pipe.send(record | {"seconds": processor_seconds() - begun})


class Runner:
    """Runs cells in processes, at most `jobs` at a time, and writes down how each ended."""

    def __init__(self, a):
        self.a, self.running = a, {}

    def start(self, task, name, base):
        while len(self.running) >= self.a.jobs:
            self.collect()
        receive, send = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.Process(target=cell, args=(send, task, name, base, self.a))
        process.start()
        send.close()
        self.running[receive] = process, task, name, time.monotonic() + self.a.limit

    def collect(self):
        """Waits until a process has ended or is late."""
        soonest = min(end for *_, end in self.running.values())
        ready = wait(self.running, max(0, soonest - time.monotonic()))
        late = [pipe for pipe, (*_, end) in self.running.items() if end <= time.monotonic() and pipe not in ready]
        for pipe in ready:
            try:
                self.finish(pipe, pipe.recv())
            except EOFError:
                self.finish(pipe, {"status": "failed", "error": "the process died"})
        for pipe in late:
            self.running[pipe][0].kill()
            self.finish(pipe, {"status": "timeout", "error": f"not done after {self.a.limit:g} s"})

    def finish(self, pipe, record):
        process, task, name, _ = self.running.pop(pipe)
        process.join()
        pipe.close()
        about = {"suite": task.suite, "family": task.family, "task": task.name, "seed": task.seed, "method": name, "rows": self.a.rows}
        with open(self.a.results, "a") as file:
            file.write(json.dumps(about | record) + "\n")
        best = max((r["accuracy"] for r in record.get("results", {}).values()), default=float("nan"))
        print(f"{task.key:40} {name:24} {record['status']:8} {best:.3f} {record.get('error', '')[:60]}", flush=True)

    def drain(self):
        while self.running:
            self.collect()


def run(a):
    done = {(r["family"], r["task"], r["seed"], r["method"]) for r in report.read(a.results)}
    runner = Runner(a)
    for task in tasks.every(a):
        names = [n for n in [*ours.METHODS, *methods.METHODS] if not a.only or n in a.only]
        names = [n for n in names if (task.family, task.name, task.seed, n) not in done]
        if not names:
            continue
        base = task.base
        if base is None and any(n in methods.METHODS for n in names):
            base = methods.choose_base(task.domains.xs, task.domains.ys)
        for name in names:
            runner.start(task, name, base)
        runner.drain()


if __name__ == "__main__":
    options = arguments()
    multiprocessing.set_start_method("fork")
    if not options.report:
        run(options)
    report.show(report.read(options.results))
