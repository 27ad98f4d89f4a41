from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

CENTRES = np.array([[0, 0, 1], [2, 0, 0], [0, 2, 2]])


def cells(counts: tuple[int, int, int], moved: float, seed: int) -> pd.DataFrame:
    """Three classes that hardly touch, in an order that is not theirs."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], counts))
    return pd.DataFrame(CENTRES[y] + rng.normal(moved, 0.35, (len(y), 3)), columns=["a", "b", "c"]).assign(y=y)


@pytest.fixture
def source() -> pd.DataFrame:
    return cells((60, 60, 60), 0, 0)


@pytest.fixture
def truth() -> pd.DataFrame:
    """The target with its labels."""
    return cells((90, 30, 20), 0.3, 1)


@pytest.fixture
def target(truth: pd.DataFrame) -> pd.DataFrame:
    return truth.drop(columns="y")


def _opened() -> set[object]:
    gc.collect()
    files: set[object] = set()
    for n in os.listdir("/dev/fd"):
        try:
            of = os.fstat(int(n))
        except OSError:  # that of the list itself
            continue
        files.add((n, of.st_dev, of.st_ino))
    return files | set(threading.enumerate())


@pytest.fixture
def opened() -> Callable[[], set[object]]:
    """What is open by what it is, not how much: what earlier tests have left may end at any time. A test asks whether there is something new."""
    return _opened
