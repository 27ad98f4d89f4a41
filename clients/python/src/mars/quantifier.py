"""A quantifier: class proportions of a target, as QuaPy has them."""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from mars import _rows
from mars._process import MarsWarning, run
from mars._proportions import Proportions

__all__ = ["MarsQuantifier"]


class MarsQuantifier(BaseEstimator):  # type: ignore[misc]
    """Estimate the class proportions of samples, with QuaPy's ``fit`` and ``predict``.

    `fit` keeps the labelled rows (the source). `predict` gives them and a sample (the
    target) to ``mars proportions``, which adapts to that sample: it is no aggregation of
    labels of single rows, and each sample is a process of its own that learns again.

    Parameters
    ----------
    method : {"auto", "hedge", "mte"}, default="auto"
        How to estimate: "auto" is "hedge" for rows of numbers.
    assume : str, default="auto"
        What has happened to the classes, for "hedge": "stay" (only their shares have
        changed, as QuaPy's protocols do), "move", or one assumption: "same", "balance",
        "together", "classes" or "parts". "auto" weighs all of them.
    classifier : {"ensemble", "all", "logistic", "kernel", "network", "trees"}, default="ensemble"
        What learns the source's labels, for "hedge": "ensemble" is "logistic", "kernel" and
        "network" together, "all" boosted trees too.
    n_jobs : int, optional
        Number of threads; None and -1 take all.
    random_state : int, RandomState instance or None, default=0
        Seed of everything random. An int is the command's ``--seed``, whose default is 0
        too. None takes another each time, from NumPy's global generator.
    verbose : bool, default=False
        Whether to show the program's log on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if `X` had such that are all strings.

    See Also
    --------
    mars.proportions : The same of tables as they are, with a verdict.
    MarsClassifier : Labels of the rows.

    Notes
    -----
    QuaPy need not be installed. `predict` warns of what is not to be believed, as
    `mars.MarsWarning`; of samples below 100 rows always.

    QuaPy's protocols draw samples in which only the shares differ. That is what
    ``assume="stay"`` says; "auto" does not know it, and pays for that in precision.

    Examples
    --------
    >>> import numpy as np
    >>> from mars import MarsQuantifier
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(["a", "b"], 300)
    >>> X = rng.normal(size=(300, 3)) + 4 * (y == "b")[:, None]
    >>> sample = X[np.r_[np.flatnonzero(y == "a")[:30], np.flatnonzero(y == "b")[:120]]]
    >>> MarsQuantifier().fit(X, y).predict(sample).round(1)
    array([0.2, 0.8])
    """

    def __init__(
        self,
        method: str = "auto",
        *,
        assume: str = "auto",
        classifier: str = "ensemble",
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.method = method
        self.assume = assume
        self.classifier = classifier
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> MarsQuantifier:
        """Keep the labelled rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; or a LabelledCollection of QuaPy, as its older versions have it.
        y : array-like of shape (n_samples,)
            Their labels, of any kind that scikit-learn takes.

        Returns
        -------
        MarsQuantifier
            The estimator itself.
        """
        if y is None and hasattr(X, "Xy"):
            X, y = X.Xy
        self._source, labels = validate_data(self, X, y, dtype=_rows.NUMBERS)
        self.classes_, self._codes = _rows.classes(labels)
        return self

    def predict(self, X: Any) -> Any:
        """Estimate the class proportions of a sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows of the sample.

        Returns
        -------
        ndarray of shape (n_classes,)
            The share of each class, in the order of `classes_`.
        """
        report, _ = self._ask(X, ["--bootstrap", "2"])  # intervals are not looked at
        for doubt in report["warnings"] or []:
            warnings.warn(doubt, MarsWarning, stacklevel=2)
        return np.array(report["proportions"]["estimated"])

    quantify = predict  # its name in QuaPy before 0.2

    def report(self, X: Any, *, level: float = 0.9, bootstrap: int = 200) -> Proportions:
        """Say all of a sample's class proportions, and whether to believe them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows of the sample.
        level : float, default=0.9
            Probability with which an interval is to hold the true share.
        bootstrap : int, default=200
            Replicates of the bootstrap behind the intervals.

        Returns
        -------
        mars.Proportions
            What `mars.proportions` gives of tables.
        """
        report, text = self._ask(X, ["--level", str(level), "--bootstrap", str(bootstrap)])
        return Proportions(report, text, pa.chunked_array([pa.array(self.classes_.tolist())]), X)

    def _ask(self, X: Any, flags: list[str]) -> tuple[dict[str, Any], str]:
        """The report on a sample, for this program and for a person."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=_rows.NUMBERS, reset=False)
        command = ["proportions", "--method", self.method, "--seed", _rows.seed(self.random_state), *flags]
        command += _rows.shape_flag(None, X.shape[1]) + _rows.jobs(self.n_jobs)
        command += _rows.hedge(self.assume, self.classifier)
        names = getattr(self, "feature_names_in_", None)
        rows = _rows.labelled(self._source, self._codes, X, self.classes_, names, _rows.centres(self._source))
        with tempfile.TemporaryDirectory(prefix="mars-") as folder:
            path = Path(folder, "report.json")
            text = run([*command, "--output", str(path)], {"rows": rows}, progress=self.verbose).decode()
            return json.loads(path.read_bytes()), text.rstrip("\n")
