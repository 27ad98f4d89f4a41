"""Times matrix products of NumPy (OpenBLAS) or PyTorch (MKL): see contender.go."""
import sys
import time

import numpy

library = sys.argv[1]
if library == "torch":
    import torch
    torch.set_num_threads(1)
    print("PyTorch", torch.__version__, "MKL" if torch.backends.mkl.is_available() else "no MKL", flush=True)
else:
    blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    print("NumPy", numpy.__version__, blas["name"], blas["version"], flush=True)


def product(ta, tb, m, n, k, dtype):
    a = numpy.random.rand(*((k, m) if ta else (m, k))).astype(dtype)
    b = numpy.random.rand(*((n, k) if tb else (k, n))).astype(dtype)
    c = numpy.empty((m, n), dtype)
    if library == "torch":
        a, b, c = (torch.from_numpy(x) for x in (a, b, c))
    a, b = a.T if ta else a, b.T if tb else b
    return lambda: torch.mm(a, b, out=c) if library == "torch" else numpy.dot(a, b, out=c)


for line in sys.stdin:
    bits, ta, tb, m, n, k, _, operands = line.split()
    dtype = numpy.float32 if bits == "32" else numpy.float64
    products = [product(ta == "true", tb == "true", int(m), int(n), int(k), dtype) for _ in range(int(operands))]
    best, end = float("inf"), time.perf_counter() + 0.06
    while time.perf_counter() < end:
        for multiply in products:
            start = time.perf_counter()
            multiply()
            best = min(best, time.perf_counter() - start)
    print(best, flush=True)
