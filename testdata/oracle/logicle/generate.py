"""Writes what FlowUtils makes of intensities by the scale logicle.

Needs numpy and flowutils. Run it in this folder: python generate.py
Made with FlowUtils 1.2.2 and numpy 2.4.6. The values of T, W, M and A = 1000, 1, 4, 0 and so on are among those that
the specification of GatingML 2.0 has for its test files.
"""
import json

import numpy as np
from flowutils.transforms import logicle

values = np.array([-1e6, -262144, -1000, -300, -12.5, -1, -0.001, 0, 1e-6, 0.5, 1, 10, 100, 420, 1000, 5000.25, 100000, 262144, 1e7, 1e12], np.float32).astype(float)
cases = []
for t, w, m, a in [
    (262144, 0.5, 4.5, 0), (1000, 1, 4, 0), (1000, 1, 4, 1), (1000, 0, 4, 1), (262144, 1, 4.5, 0.5), (10000, 0.25, 4.5, -0.25), (4194304, 2, 6, 0), (12000, 0.1, 3, 0),
]:
    cases.append({"t": t, "w": w, "m": m, "a": a, "values": values.tolist(), "scaled": [float(f"{v:.10g}") for v in logicle(values, None, t, m, w, a)]})
with open("logicle.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
