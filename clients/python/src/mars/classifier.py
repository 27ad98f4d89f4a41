"""A classifier for a target that differs from the labelled rows, as scikit-learn has them."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from mars import _rows
from mars._ask import filled
from mars._process import MarsWarning, run

__all__ = ["MarsClassifier"]

# What to do about a pipeline whose steps change the source alone.
_HOW = (
    "the steps of a pipeline change X alone, unless Pipeline(…, transform_input=['Xt']) says otherwise (with metadata routing): "
    "do so, transform Xt as X was, or give the rows of both with sample_domain="
)


class MarsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Label a target whose class balance and looks differ from the labelled rows'.

    The source are rows with labels, the target rows without. `fit` takes both, in
    scikit-learn's manner or in skada's:

    - ``fit(Xs, ys, Xt)``: source, its labels, and target;
    - ``fit(X, y, sample_domain=domain)``: rows of both. Those with a domain of 0 or more
      are the source, those below 0 the target, whose labels in `y` are not looked at;
    - ``fit(X, y)``: without a target there is nothing to adapt to, so that this trains
      the plain network of ``mars train --method source``, whatever `method` says.

    The work is what ``mars label`` does, to the bit; see its manual for the methods.
    Features are numbers without gaps, taken as float32: columns that float32 does not
    tell apart, such as seconds since 1970, as the difference from a number near them. `mars.label` takes tables as
    they are, with categories, dates and gaps.

    Parameters
    ----------
    method : str, default="auto"
        How to adapt: "auto" is "hedge" for rows of numbers and "self-training" for images
        (see `shape`). Others are "source" (no adaptation), "translate", "marsc", "marsg",
        "wd", "dann", "iw-wd" and "gmm-ot", and for rows that are mixtures of the classes
        "unmix", with ``decision="none"``.
    decision : {"accuracy", "balanced", "none"}, default="accuracy"
        What to be best at: the most right rows, or the mean recall of the classes;
        "none" leaves posteriors as trained.
    assume : str, default="auto"
        What has happened to the classes, for "hedge": "stay" (only their shares have
        changed), "move", or one assumption: "same", "balance", "together", "classes" or
        "parts". "auto" weighs all of them.
    classifier : {"ensemble", "all", "logistic", "kernel", "network", "trees"}, default="ensemble"
        What learns the source's labels, for "hedge": "ensemble" is "logistic", "kernel" and
        "network" together, "all" boosted trees too.
    epochs : int, optional
        Length of the training, for methods that train networks; by default the method's.
    shape : str or sequence of int, optional
        The rows are images of this shape, such as ``(1, 28, 28)``, with values from 0 to 1.
        By default they are no images.
    n_jobs : int, optional
        Number of threads; None and -1 take all.
    random_state : int, RandomState instance or None, default=0
        Seed of everything random. An int is the command's ``--seed``, whose default is 0
        too. None takes another each time, from NumPy's global generator.
    verbose : bool, default=False
        Whether to show the program's log, and how far it is, on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    proportions_ : ndarray of shape (n_classes,)
        The estimated shares of the classes in the target. Of a method that estimates none
        ("source", "wd", "dann"), the shares of the labels that it gave to the target;
        without a target, the shares of the source.
    diagnostics_ : dict
        What the method found out about itself: above all "expected_error", the L1 error
        to expect of `proportions_`, and "warnings". Empty if there is nothing.
    model_ : bytes
        The trained model: what ``mars label --save`` writes to its file.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if `X` had such that are all strings.

    See Also
    --------
    mars.label : Labels of tables as they are.
    MarsQuantifier : The class proportions alone.

    Notes
    -----
    What the program warns about arrives as `mars.MarsWarning`. Each call of `fit` and of
    `predict` starts a process, which takes some hundredths of a second.

    `predict` is for rows of the target, or more rows like them: it labels source rows as
    if they were such. Cross-validation without a target scores the plain network.

    Rows with gaps are refused with a ValueError, in `fit` and in `predict`, so that each row
    has a label. Fill gaps in before, or use `mars.label`.

    Examples
    --------
    >>> import numpy as np
    >>> from mars import MarsClassifier
    >>> rng = np.random.default_rng(0)
    >>> ys = rng.choice(["a", "b"], 300)
    >>> Xs = rng.normal(size=(300, 3)) + 4 * (ys == "b")[:, None]
    >>> yt = rng.choice(["a", "b"], 300, p=[0.2, 0.8])
    >>> Xt = rng.normal(size=(300, 3)) + 4 * (yt == "b")[:, None] + 0.5
    >>> clf = MarsClassifier().fit(Xs, ys, Xt)
    >>> clf.proportions_.round(1)
    array([0.2, 0.8])
    >>> clf.score(Xt, yt) > 0.95
    True
    """

    # As skada's estimators have it: domains are passed on without a request of the user's. What
    # skada's scorers call target_labels are the true ones, which are not for fitting.
    __metadata_request__fit = {"sample_domain": True, "Xt": True, "target_labels": False}
    __metadata_request__predict = {"sample_domain": True, "allow_source": True}
    __metadata_request__predict_proba = {"sample_domain": True, "allow_source": True}
    __metadata_request__predict_log_proba = {"sample_domain": True, "allow_source": True}
    __metadata_request__score = {"sample_domain": True, "allow_source": True}

    def __init__(
        self,
        method: str = "auto",
        *,
        decision: str = "accuracy",
        assume: str = "auto",
        classifier: str = "ensemble",
        epochs: int | None = None,
        shape: _rows.Shape = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.method = method
        self.decision = decision
        self.assume = assume
        self.classifier = classifier
        self.epochs = epochs
        self.shape = shape
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_domain: Any = None, *, Xt: Any = None, target_labels: Any = None) -> MarsClassifier:
        """Train on labelled rows, for the target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The source, or with `sample_domain` the rows of both domains.
        y : array-like of shape (n_samples,)
            Labels, of any kind that scikit-learn takes. Those of target rows are not
            looked at.
        sample_domain : array-like of shape (n_samples,) or (n_target, n_features), optional
            Of one dimension: the domain of each row, 0 and above for the source and below
            0 for the target. Of two: the target, as in ``fit(Xs, ys, Xt)``.
        Xt : array-like of shape (n_target, n_features), optional
            The target, by its name.
        target_labels : table or path, optional
            Labels of some rows of the target: what ``mars.ask((X, y), Xt)`` gave, with its
            column "label" filled in as far as it goes, by classes of the source.

        Returns
        -------
        MarsClassifier
            The estimator itself.

        Raises
        ------
        ValueError
            If the data or a parameter is refused.
        mars.MarsError
            If training diverges or the program fails.
        """
        if _dimensions(sample_domain) == 2:
            if Xt is not None:
                raise ValueError("the target is given twice, by its place and as Xt")
            sample_domain, Xt = None, sample_domain
        if sample_domain is not None:
            if Xt is not None:
                raise ValueError("give sample_domain, or the target as Xt, not both")
            source, labels, target = self._split(X, y, sample_domain)
        else:
            source, labels = validate_data(self, X, y, dtype=_rows.NUMBERS)
            target = source[:0] if Xt is None else self._transformed(source, Xt)
        self.classes_, codes = _rows.classes(labels)
        if target_labels is not None and not len(target):
            raise ValueError("target_labels: are of rows of the target: give it as Xt")
        with filled(target_labels, "label") as flag:
            self._train(source, codes, target, flag)
        return self

    def _transformed(self, source: Any, Xt: Any) -> Any:
        """The target, unless it can be seen that steps before have changed the source alone."""
        names = list(getattr(Xt, "columns", []))
        if names and all(isinstance(n, str) for n in names) and not hasattr(self, "feature_names_in_"):
            raise ValueError(f"Xt has names of columns ({', '.join(names[:3])}, …), and X has none: {_HOW}, or give both as arrays")
        target = validate_data(self, Xt, dtype=_rows.NUMBERS, reset=False)
        if _scaled(source) and _of_another_scale(target):
            warnings.warn(f"X has mean 0 and deviation 1 in each column, as a scaler makes it, and Xt is far from that: {_HOW}", MarsWarning, stacklevel=3)
        return target

    def _split(self, X: Any, y: Any, sample_domain: Any) -> tuple[Any, Any, Any]:
        """Source, its labels, and target, of rows with domains."""
        X = validate_data(self, X, dtype=_rows.NUMBERS)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        domain = np.asarray(sample_domain)
        if domain.ndim == 0:
            domain = np.full(len(X), domain)
        domain = column_or_1d(domain)
        if domain.dtype.kind not in "iu" and not (domain.dtype.kind == "f" and (domain % 1 == 0).all()):
            raise ValueError("sample_domain: give whole numbers, 0 and above for source rows and below 0 for target rows")
        check_consistent_length(X, y, domain)
        of_source = domain >= 0
        if not of_source.any():
            raise ValueError("sample_domain: no row is of the source: give rows whose domain is 0 or above")
        labels = y[of_source]
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError("Input y contains NaN in source rows, whose domain is 0 or above: only target rows may lack labels")
        return X[of_source], labels, X[~of_source]

    def _train(self, source: Any, codes: Any, target: Any, flags: Sequence[str]) -> None:
        command = ["label", "--method", self.method] if len(target) else ["train", "--method", "source"]
        command += ["--decision", self.decision, "--seed", _rows.seed(self.random_state)]
        command += _rows.shape_flag(self.shape, source.shape[1]) + _rows.jobs(self.n_jobs)
        if self.epochs is not None:
            command += ["--epochs", str(self.epochs)]
        if len(target):
            command += [*_rows.hedge(self.assume, self.classifier), *flags]
        self._centres = _rows.centres(source) if self.shape is None else np.zeros(source.shape[1])
        rows = _rows.labelled(source, codes, target, self.classes_, getattr(self, "feature_names_in_", None), self._centres)
        with tempfile.TemporaryDirectory(prefix="mars-") as folder:
            model = Path(folder, "model")
            output = self._run([*command, "--save", str(model)], rows)
            self.model_ = model.read_bytes()
        if len(target) == 0:
            self.proportions_, self.diagnostics_ = _shares(codes, len(self.classes_)), {}
            return
        notes = output.schema.metadata
        self.diagnostics_ = json.loads(notes.get(b"mars.diagnostics", b"{}"))
        found = notes.get(b"mars.proportions.target")
        if found is not None:
            self.proportions_ = np.array(json.loads(found))
        else:
            given = output["predicted_class"].to_numpy()
            names = _rows.class_names(self.classes_)
            self.proportions_ = np.array([np.mean(given == name) for name in names])

    def predict(self, X: Any, sample_domain: Any = None, *, allow_source: bool = False) -> Any:
        """Label rows of the target, or more rows like them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        sample_domain : ignored
            For skada's pipelines and scorers.
        allow_source : ignored
            For skada's pipelines and scorers.

        Returns
        -------
        ndarray of shape (n_samples,)
            The label of each row.
        """
        codes = self._label(X)["prediction"].to_numpy()
        return self.classes_[codes]

    def predict_proba(self, X: Any, sample_domain: Any = None, *, allow_source: bool = False) -> Any:
        """Posteriors of rows of the target, or of more rows like them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        sample_domain : ignored
            For skada's pipelines and scorers.
        allow_source : ignored
            For skada's pipelines and scorers.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probability of each class, in the order of `classes_`, made ready for
            `decision`.
        """
        return _rows.vectors(self._label(X)["probability"])

    def predict_log_proba(self, X: Any, sample_domain: Any = None, *, allow_source: bool = False) -> Any:
        """Logarithms of the posteriors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        sample_domain : ignored
            For skada's pipelines and scorers.
        allow_source : ignored
            For skada's pipelines and scorers.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            What `predict_proba` gives, as logarithms.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X), dtype=np.float64)  # float32 would make equals of some

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        sample_domain: Any = None,
        *,
        allow_source: bool = False,
    ) -> float:
        """Share of the rows whose label is right.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their true labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        sample_domain : ignored
            For skada's pipelines and scorers.
        allow_source : ignored
            For skada's pipelines and scorers.

        Returns
        -------
        float
            The accuracy.
        """
        return float(super().score(X, y, sample_weight))

    def _label(self, X: Any) -> pa.Table:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=_rows.NUMBERS, reset=False)
        rows = _rows.unlabelled(X, getattr(self, "feature_names_in_", None), getattr(self, "_centres", np.zeros(1)))
        with tempfile.TemporaryDirectory(prefix="mars-") as folder:
            model = Path(folder, "model")
            model.write_bytes(self.model_)
            return self._run(["predict", "--model", str(model), *_rows.jobs(self.n_jobs)], rows)

    def _run(self, command: Sequence[str], rows: pa.Table) -> pa.Table:
        return pa.ipc.open_stream(run(command, {"rows": rows}, progress=self.verbose)).read_all()


def _scaled(X: Any) -> bool:
    """Whether all columns that vary have mean 0 and deviation 1."""
    deviation = X.std(axis=0, dtype=np.float64)
    varies = deviation > 0
    mean = X.mean(axis=0, dtype=np.float64)
    return bool(varies.any() and (abs(mean[varies]) < 1e-3).all() and (abs(deviation[varies] - 1) < 1e-3).all())


def _of_another_scale(X: Any) -> bool:
    """Whether most columns are far from mean 0 and deviation 1: farther than targets move."""
    mean, deviation = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    return bool(np.mean((abs(mean) > 5) | (deviation > 5) | (deviation < 0.2)) > 0.5)


def _dimensions(given: Any) -> int:
    """How many dimensions an array, a frame or a list has."""
    if given is None:
        return 0
    shape = getattr(given, "shape", None)
    return len(shape if shape is not None else np.shape(given))


def _shares(codes: Any, classes: int) -> Any:
    return np.bincount(codes, minlength=classes) / len(codes)
