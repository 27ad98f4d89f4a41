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


def product(a, b, shape, dtype):
    if library == "torch":
        a, b = (torch.from_numpy(x) for x in (a, b))
        c = torch.empty(shape, dtype=a.dtype)
        return lambda a=a, b=b: torch.mm(a, b, out=c), a, b
    c = numpy.empty(shape, dtype)
    return lambda a, b: numpy.dot(a, b, out=c), a, b


for line in sys.stdin:
    bits, ta, tb, m, n, k, _ = line.split()
    m, n, k = int(m), int(n), int(k)
    dtype = numpy.float32 if bits == "32" else numpy.float64
    a = numpy.random.rand(*((k, m) if ta == "true" else (m, k))).astype(dtype)
    b = numpy.random.rand(*((n, k) if tb == "true" else (k, n))).astype(dtype)
    multiply, a, b = product(a, b, (m, n), dtype)
    a = a.T if ta == "true" else a
    b = b.T if tb == "true" else b
    best, end = float("inf"), time.perf_counter() + 0.06
    while True:
        start = time.perf_counter()
        multiply(a, b)
        now = time.perf_counter()
        best = min(best, now - start)
        if now > end:
            break
    print(best, flush=True)
