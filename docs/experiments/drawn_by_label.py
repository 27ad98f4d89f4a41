"""Makes tasks of label shift for tasks.py, of the tables of covariate_shift.py.

usage: drawn_by_label.py FOLDER TASKS...

As covariate_shift.py, but the target is drawn by its labels, without replacement. The task's
number says by what shares: 0 drawn uniformly from the simplex, 1 the source's, squared or the
square root of them. A class with fewer rows than its share needs gives all. Targets of fewer
than 60 rows are left out. Needs NumPy and scikit-learn.
"""

import pathlib
import sys

import numpy as np
from covariate_shift import ROWS, tables, write

SHARE = 0.35  # of the other half that becomes the target
LEAST = 60  # rows of a target


def task(x, y, number):
    """Source and target of one task; None if the target has too few rows."""
    order = np.random.default_rng(number).permutation(len(y))
    source, pool = order[: len(y) // 2][:ROWS], order[len(y) // 2 :][:ROWS]
    code, counts = np.unique(y[source], return_counts=True)
    pool = pool[np.isin(y[pool], code)]
    rng = np.random.default_rng(50 + number)
    shares = rng.dirichlet(np.ones(len(code)))
    if number == 1:
        shares = (counts / len(source)) ** (2 if rng.random() < 0.5 else 0.5)
        shares /= shares.sum()
    drawn = rng.choice(code, int(SHARE * len(pool)), p=shares)
    target = np.concatenate([rng.permutation(pool[y[pool] == c])[: (drawn == c).sum()] for c in code])
    if len(target) < LEAST:
        return None
    return x[source], np.searchsorted(code, y[source]), x[target], np.searchsorted(code, y[target])


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), tables(sys.argv[2:]), task, 2)
