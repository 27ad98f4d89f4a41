"""Simulates raw counts of two samples of cells, and says what it takes to label one by the other.

usage: cells_large.py FOLDER [CELLS [GENES [TARGETS,TARGETS,...]]]

Writes FOLDER/atlas.h5ad and a sample of each number of cells (100,000 cells, 20,000 genes and a sample of 100,000
if nothing is said). There are twelve types with proportions of their own, of which each has a twentieth of the genes
three times as often as others; in the sample each gene is counted more or less often (a standard deviation of a
third of its logarithm), and cells have half as many counts again. About one value of twenty is not 0. A sample of more
cells than the atlas must be a multiple of it, and is a sample of as many so many times over, as a virtual dataset of
HDF5, so that no file is larger than about 1.3 GB. Then it runs python -m mars label, and prints seconds, memory and
accuracy. Needs mars, anndata, h5py and scipy.
"""

import multiprocessing
import pathlib
import resource
import subprocess
import sys
import time

import anndata
import h5py
import numpy as np
import pandas as pd
import scipy.sparse as sp

TYPES = 12
BLOCK = 1000  # cells
COUNTS = 1250  # of a cell


def cells(rng, n, rates, depth):
    """n cells of types whose rates are a row each."""
    of = rng.choice(TYPES, n, p=rng.dirichlet(np.full(TYPES, 2.0)))
    blocks = []
    for i in range(0, n, BLOCK):
        some = of[i : i + BLOCK]
        mean = rates[some] * (depth * rng.lognormal(0, 0.3, len(some)))[:, None]
        blocks.append(sp.csr_matrix(rng.poisson(mean).astype("float32")))
    obs = pd.DataFrame({"cell_type": pd.Categorical([f"type {k}" for k in of])}, index=[f"cell {i}" for i in range(n)])
    return anndata.AnnData(sp.vstack(blocks, format="csr"), obs, pd.DataFrame(index=[f"gene {j}" for j in range(rates.shape[1])]))


def write(folder, n, genes, targets):
    rng = np.random.default_rng(0)
    own = np.where(rng.random((TYPES, genes)) < 0.05, 3.0, 1.0)
    rates = own * rng.lognormal(0, 1.2, genes)
    rates /= rates.sum(1, keepdims=True)
    atlas = cells(rng, n, rates, COUNTS)
    print(f"{n} x {genes}, {atlas.X.nnz / n / genes:.1%} not 0")
    atlas.write_h5ad(folder / "atlas.h5ad")
    moved = rates * rng.lognormal(0, 1 / 3, genes)
    moved /= moved.sum(1, keepdims=True)
    for m in sorted({min(m, n) for m in targets}):
        sample = cells(rng, m, moved, 1.5 * COUNTS)
        sample.obs.columns = ["truth"]
        sample.write_h5ad(folder / f"sample-{m}.h5ad")
    for m in targets:
        if m > n:
            repeat(folder / f"sample-{n}.h5ad", m // n, folder / f"sample-{m}.h5ad")


def repeat(path, times, to):
    """The cells of path so many times over, of which to has no copy."""
    once = anndata.read_h5ad(path, backed="r")
    n, genes = once.shape
    obs = once.obs.iloc[np.tile(np.arange(n), times)].set_axis([f"cell {i}" for i in range(n * times)])
    anndata.AnnData(sp.csr_matrix((len(obs), genes), dtype="float32"), obs, once.var).write_h5ad(to)
    with h5py.File(path) as old, h5py.File(to, "a") as new:
        x, counts = new["X"], np.diff(old["X/indptr"][:])
        for name in ("data", "indices", "indptr"):
            del x[name]
        x["indptr"] = np.r_[0, np.cumsum(np.tile(counts, times))]
        for name in ("data", "indices"):
            part = h5py.VirtualSource(old[f"X/{name}"])
            whole = h5py.VirtualLayout((times * part.shape[0],), part.dtype)
            for i in range(times):
                whole[i * part.shape[0] : (i + 1) * part.shape[0]] = part
            x.create_virtual_dataset(name, whole)


def label(folder, m):
    labelled, started = folder / "labelled.h5ad", time.time()
    subprocess.run([sys.executable, "-m", "mars", "label", "--source", folder / "atlas.h5ad", "--target", folder / f"sample-{m}.h5ad", "--label", "cell_type", "-o", labelled], check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{m} cells: {used.ru_utime + used.ru_stime:.0f} processor seconds, {time.time() - started:.0f} on the clock, {used.ru_maxrss / 1024:.0f} MB")
    obs = anndata.read_h5ad(labelled, backed="r").obs
    print(f"accuracy {(obs['mars_label'].astype(str) == obs['truth'].astype(str)).mean():.3f}")


def main(folder, n="100000", genes="20000", targets="100000"):
    n, targets = int(n), [int(m) for m in targets.split(",")]
    if odd := [m for m in targets if m > n and m % n]:
        sys.exit(f"{odd[0]} cells are no multiple of the {n} of the atlas")
    # Each in a process of its own: the memory of a process counts as its children's.
    steps = [(write, folder, n, int(genes), targets), *((label, folder, m) for m in targets)]
    for step, *of in steps:
        process = multiprocessing.get_context("spawn").Process(target=step, args=of)
        process.start()
        process.join()
        if process.exitcode:
            sys.exit(1)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), *sys.argv[2:])
