"""MarsQuantifier: QuaPy's protocols, and the command's numbers."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mars import MarsQuantifier, MarsWarning
from mars._process import run

pytestmark = pytest.mark.filterwarnings("ignore::mars.MarsWarning")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    codes = rng.choice(3, 700, p=[0.5, 0.3, 0.2])
    return 2 * np.eye(4)[codes] + rng.normal(size=(700, 4)), np.array(["a", "b", "c"])[codes]


@pytest.fixture(scope="module")
def fitted(rows):
    return MarsQuantifier(assume="stay").fit(rows[0][:300], rows[1][:300])


def test_gives_what_the_command_gives(rows):
    X, y = rows
    columns = [f"m{j}" for j in range(4)]
    source = pa.table({**dict(zip(columns, X[:300].T)), "label": y[:300]})
    report = json.loads(run(["proportions", "--json", "--seed", "2"], {"source": source, "target": pa.table(dict(zip(columns, X[500:].T)))}))
    quantifier = MarsQuantifier(random_state=2).fit(X[:300], y[:300])
    assert quantifier.classes_.tolist() == report["classes"]
    assert quantifier.predict(X[500:]).tolist() == report["proportions"]["estimated"]
    assert quantifier.quantify(X[500:]).tolist() == report["proportions"]["estimated"]
    said = quantifier.report(X[500:])
    assert said.verdict == report["verdict"] and said.table["lower"].to_pylist() == report["interval"]["lower"]
    assert said.verdict in str(said)


def test_method_and_assumption_reach_the_command(rows):
    X, y = rows
    different = {
        tuple(MarsQuantifier(**p).fit(X[:300], y[:300]).predict(X[500:]))
        for p in ({}, {"assume": "stay"}, {"method": "mte"}, {"classifier": "logistic", "assume": "stay"})
    }
    assert len(different) == 4


def test_other_kinds_of_labels_and_frames(rows):
    pd = pytest.importorskip("pandas")
    X, y = rows
    frame = pd.DataFrame(X, columns=list("wxyz"))
    quantifier = MarsQuantifier(assume="stay").fit(frame[:300], y[:300] == "a")
    assert quantifier.classes_.tolist() == [False, True]
    report = quantifier.report(frame[500:])
    assert report.classes == [False, True] and isinstance(report.table, pd.DataFrame)
    with pytest.raises(ValueError, match="feature names"):
        quantifier.predict(frame[list("zyxw")])


@pytest.mark.parametrize(
    ("parameters", "change", "message"),
    [
        ({}, lambda X, y: (X, y[:5], X), "inconsistent numbers"),
        ({}, lambda X, y: (X, np.repeat("a", len(X)), X), "one class"),
        ({}, lambda X, y: (X, y, X[:, :2]), "X has 2 features"),
        ({}, lambda X, y: (X, y, np.where(X > 0, X, np.nan)), "contains NaN"),
        ({"method": "cc"}, lambda X, y: (X, y, X), "cc"),
    ],
)
def test_what_is_refused(rows, parameters, change, message):
    X, y, sample = change(*rows)
    with pytest.raises(ValueError, match=message):
        MarsQuantifier(**parameters).fit(X, y).predict(sample)


def test_copies_and_warnings(rows, fitted):
    sample = rows[0][500:540]
    assert (pickle.loads(pickle.dumps(fitted)).predict(sample) == fitted.predict(sample)).all()
    assert clone(fitted).get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        clone(fitted).predict(sample)
    with pytest.warns(MarsWarning, match="below 100"):
        fitted.predict(sample)


@pytest.fixture
def quapy(monkeypatch):
    module = pytest.importorskip("quapy")
    monkeypatch.setitem(module.environ, "SAMPLE_SIZE", 100)
    return module


@pytest.mark.parametrize(
    ("protocol", "options"), [("APP", {"n_prevalences": 4, "repeats": 1}), ("NPP", {"repeats": 4}), ("UPP", {"repeats": 4})]
)
def test_under_quapys_protocols(rows, fitted, quapy, protocol, options):
    test = quapy.data.LabelledCollection(rows[0][300:], rows[1][300:])
    samples = getattr(quapy.protocol, protocol)(test, sample_size=100, random_state=0, **options)
    assert quapy.evaluation.evaluate(fitted, samples, error_metric="mae") < 0.04
    report = quapy.evaluation.evaluation_report(fitted, samples, error_metrics=["mae", "mrae"])
    assert len(report) == samples.total()
    assert np.stack(report["estim-prev"]).sum(axis=1) == pytest.approx(1)


def test_in_quapys_tools(rows, quapy):
    X, y = rows
    train = quapy.data.LabelledCollection(X[:300], y[:300])
    old = MarsQuantifier(assume="stay").fit(train)
    new = MarsQuantifier(assume="stay").fit(*train.Xy)
    assert (old.quantify(X[300:]) == new.predict(X[300:])).all()
    samples = quapy.protocol.UPP(quapy.data.LabelledCollection(X[300:], y[300:]), sample_size=100, repeats=2, random_state=0)
    search = quapy.model_selection.GridSearchQ(MarsQuantifier(), {"assume": ["stay", "classes"]}, protocol=samples, error="mae")
    assert search.fit(*train.Xy).best_params_ == {"assume": "stay"}
