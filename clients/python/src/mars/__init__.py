"""Class proportions and labels of data that differ from the labelled data.

You have rows with labels (the source) and rows without (the target), whose class
balance and looks differ. `proportions` estimates the target's class proportions,
`label` labels its rows, and both say whether to believe it. The work is done by the
program ``mars``; this package passes data to it as Arrow and brings the answers back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mars._ask import ask
from mars._binary import binary
from mars._check import Check, check
from mars._label import label, predict
from mars._process import MarsError, MarsValueError, MarsWarning
from mars._proportions import Proportions, proportions
from mars._report import LabelReport

if TYPE_CHECKING:
    from mars.classifier import MarsClassifier
    from mars.quantifier import MarsQuantifier

__version__ = "0.1.0"

__all__ = [
    "Check",
    "LabelReport",
    "MarsClassifier",
    "MarsError",
    "MarsQuantifier",
    "MarsValueError",
    "MarsWarning",
    "Proportions",
    "__version__",
    "ask",
    "binary",
    "check",
    "label",
    "predict",
    "proportions",
]

# These need scikit-learn, which nothing else does, so they are imported when asked for.
_LAZY = {"MarsClassifier": "mars.classifier", "MarsQuantifier": "mars.quantifier"}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'mars' has no attribute {name!r}")
    import importlib

    try:
        module = importlib.import_module(_LAZY[name])
    except ModuleNotFoundError as e:
        if (e.name or "").split(".")[0] != "sklearn":
            raise
        raise ImportError(f"mars.{name} needs scikit-learn: pip install scikit-learn") from e
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
