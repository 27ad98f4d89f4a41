"""Where answers draw themselves."""

from __future__ import annotations

from typing import Any


def axes(what: str, ax: Any, **figure: Any) -> Any:
    """Give the axes to draw on: those of a new figure, which has these properties, if there are none."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as e:
        raise ImportError(f"{what}.plot needs matplotlib: pip install matplotlib") from e
    return pyplot.subplots(layout="constrained", **figure)[1]
