from __future__ import annotations

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
