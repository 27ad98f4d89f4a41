"""MarsClassifier: scikit-learn's own checks, skada's pipelines and scorers, and the command's numbers."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import warnings

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("sklearn")

from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mars
from mars import MarsClassifier, MarsError, MarsWarning, binary
from mars._process import run

pytestmark = [
    pytest.mark.filterwarnings("ignore::mars.MarsWarning"),
    pytest.mark.filterwarnings("ignore:The `return_X_y` parameter:DeprecationWarning"),  # of skada, by skada
]


class Adapted(MarsClassifier):
    """Takes its own rows for the target, so that checks go through ``mars label`` too."""

    def fit(self, X, y):
        return super().fit(X, y, Xt=X)


# No check is expected to fail.
@parametrize_with_checks([MarsClassifier(), Adapted(), Adapted(assume="stay", classifier="logistic", decision="balanced")])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def domains():
    """Source, labels, target and its labels: shares have changed, and the classes have moved."""
    rng = np.random.default_rng(0)
    ys, yt = rng.choice(3, 240, p=[0.4, 0.3, 0.3]), rng.choice(3, 200, p=[0.1, 0.2, 0.7])
    centres = np.array([[0, 0, 0, 0], [3, 0, 0, 1], [0, 3, 1, 0]])
    return centres[ys] + rng.normal(0, 0.8, (240, 4)), ys, centres[yt] + rng.normal(0, 0.8, (200, 4)) + 0.3, yt


def together(Xs, ys, Xt):
    """Rows of both domains in a mixed order, as skada has them; the target's labels are masked."""
    order = np.random.default_rng(1).permutation(len(Xs) + len(Xt))
    domain = np.r_[np.full(len(Xs), 1), np.full(len(Xt), -2)]
    return np.r_[Xs, Xt][order], np.r_[ys, np.full(len(Xt), -1)][order], domain[order]


@pytest.mark.parametrize("method", ["auto", "source", "gmm-ot", "translate", "marsc"])
def test_gives_what_the_command_gives(domains, method):
    Xs, ys, Xt, _ = domains
    columns = [f"m{j}" for j in range(4)]
    source = pa.table({**dict(zip(columns, Xs.T)), "label": np.array(["a", "b", "c"])[ys]})
    command = ["label", "--method", method, "--decision", "balanced", "--seed", "3"]
    output = run(command, {"source": source, "target": pa.table(dict(zip(columns, Xt.T)))})
    labels = pa.ipc.open_stream(output).read_all()

    clf = MarsClassifier(method, decision="balanced", random_state=3).fit(Xs, np.array(["a", "b", "c"])[ys], Xt)
    assert clf.predict(Xt).tolist() == labels["predicted_class"].to_pylist()
    assert clf.predict_proba(Xt).tolist() == labels["probability"].to_pylist()


def test_gives_what_the_command_gives_on_the_toy():
    toy = ["featurize", "toy", "--shift", "8", "--target-proportions", "0.66,0.17,0.17", "--source-rows", "300", "--target-rows", "300"]
    stream = run(toy)
    output = subprocess.run([binary(), "label", "-q"], input=stream, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    rows, labels = (pa.ipc.open_stream(part).read_all() for part in (stream, output))
    X = np.array(rows["features"].to_pylist(), np.float32)
    of_source = np.array(rows["domain"].to_pylist()) == "source"
    clf = MarsClassifier().fit(X[of_source], rows["label"].to_numpy()[of_source].astype(int), X[~of_source])
    assert clf.predict_proba(X[~of_source]).tolist() == labels["probability"].to_pylist()


def test_the_forms_of_fit_agree(domains):
    Xs, ys, Xt, yt = domains
    clf = MarsClassifier().fit(Xs, ys, Xt)
    assert clf.score(Xt, yt) > 0.9
    assert abs(clf.proportions_ - np.bincount(yt) / len(yt)).sum() < 0.2
    assert clf.diagnostics_["expected_error"] >= 0
    assert clf.predict_log_proba(Xt) == pytest.approx(np.log(clf.predict_proba(Xt)))

    by_name = MarsClassifier().fit(Xs, ys, Xt=Xt)
    assert by_name.model_ == clf.model_
    one = np.r_[Xs, Xt], np.r_[ys, np.full(len(Xt), -1)]
    domain = np.r_[np.ones(len(Xs), int), np.full(len(Xt), -2)]
    for form in (domain, domain.tolist(), domain.astype(float)):
        assert MarsClassifier().fit(*one, form).model_ == clf.model_
        assert MarsClassifier().fit(*one, sample_domain=form).model_ == clf.model_
    other = MarsClassifier().fit(one[0], np.r_[ys, yt], domain)  # the target's labels are not looked at
    assert other.model_ == clf.model_
    missing = MarsClassifier().fit(one[0], np.r_[ys, np.full(len(Xt), np.nan)], domain)
    assert missing.model_ == clf.model_


def test_without_a_target_it_is_the_plain_network(domains):
    Xs, ys, Xt, yt = domains
    plain = MarsClassifier("source").fit(Xs, ys, Xt)
    for clf in (MarsClassifier().fit(Xs, ys), MarsClassifier("translate").fit(Xs, ys, sample_domain=1)):
        assert (clf.predict_proba(Xt) == plain.predict_proba(Xt)).all()
        assert clf.proportions_.tolist() == (np.bincount(ys) / len(ys)).tolist()
        assert clf.diagnostics_ == {}
    given = np.bincount(plain.predict(Xt), minlength=3) / len(Xt)
    assert plain.proportions_.tolist() == given.tolist()


@pytest.mark.parametrize(
    "classes",
    [
        ["naive", "memory", "effector"],
        ["NA", "", "nan"],
        [True, False],
        [10, 9, -1],
        [2.0, 1.0, 0.0],
        ["ü", "a\nb", 'c",'],
        np.array(["x", "y", "z"], object),
    ],
    ids=str,
)
def test_labels_of_any_kind(domains, classes):
    Xs, ys, Xt, yt = domains
    classes = np.asarray(classes)
    some, few = ys < len(classes), yt < len(classes)
    clf = MarsClassifier(assume="stay").fit(Xs[some], classes[ys[some]], Xt[few])
    assert clf.classes_.tolist() == sorted(classes.tolist())
    assert clf.predict(Xt).dtype == clf.classes_.dtype
    assert clf.score(Xt[few], classes[yt[few]]) > 0.9


def test_warnings_name_the_classes(domains):
    Xs, ys, Xt, _ = domains
    few = np.r_[np.flatnonzero(ys == 0)[:3], np.flatnonzero(ys > 0)]
    with pytest.warns(MarsWarning, match="class naive has few source rows"):
        MarsClassifier().fit(Xs[few], np.array(["naive", "memory", "effector"])[ys[few]], Xt)


@pytest.mark.parametrize(
    ("parameters", "change", "message"),
    [
        ({}, lambda X, y, T: (X, y, {"sample_domain": np.ones(len(X)), "Xt": T}), "give sample_domain, or the target as Xt, not both"),
        ({}, lambda X, y, T: (X, y, {"sample_domain": T, "Xt": T}), "the target is given twice"),
        ({}, lambda X, y, T: (X, y, {"sample_domain": -np.ones(len(X))}), "no row is of the source"),
        ({}, lambda X, y, T: (X, y, {"sample_domain": ["s"] * len(X)}), "give whole numbers"),
        ({}, lambda X, y, T: (X, y, {"sample_domain": X[:, 0]}), "give whole numbers"),
        ({}, lambda X, y, T: (X, y, {"sample_domain": np.ones(3)}), "inconsistent numbers of samples"),
        ({}, lambda X, y, T: (X, np.where(y, y, np.nan), {"sample_domain": np.ones(len(X))}), "Input y contains NaN in source rows"),
        ({}, lambda X, y, T: (X, np.where(y, "b", None), {"Xt": T}), r"y: row \d+ has no label \(\d+ of \d+ rows have none\): label or drop such rows"),
        ({}, lambda X, y, T: (X, None, {"sample_domain": np.ones(len(X))}), "requires y to be passed"),
        ({}, lambda X, y, T: (X, y, {"Xt": T[:, :3]}), "X has 3 features, but MarsClassifier is expecting 4"),
        ({}, lambda X, y, T: (X, y, {"Xt": np.where(T > 0, T, np.nan)}), "Input X contains NaN"),
        ({}, lambda X, y, T: (X * 1e40, y, {"Xt": T}), "too large for dtype"),
        ({}, lambda X, y, T: (X, np.zeros(len(X)), {"Xt": T}), "one class"),
        ({}, lambda X, y, T: (X * 0, y, {"Xt": T}), "all source rows are equal"),
        ({}, lambda X, y, T: (X, y + 0.5 * X[:, 0], {"Xt": T}), "Unknown label type"),
        ({"method": "best"}, lambda X, y, T: (X, y, {"Xt": T}), "best.*(must|want|choose|one of)"),
        ({"n_jobs": -3}, lambda X, y, T: (X, y, {"Xt": T}), "n_jobs=-3"),
        ({"random_state": -1}, lambda X, y, T: (X, y, {"Xt": T}), "(?i)seed"),
        ({"shape": (1, 2, 3)}, lambda X, y, T: (X, y, {"Xt": T}), "1x2x3|\\[1 2 3\\]"),
    ],
)
def test_what_is_refused(domains, parameters, change, message):
    Xs, ys, Xt, _ = domains
    X, y, rest = change(Xs, ys, Xt)
    with pytest.raises(ValueError, match=message), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        MarsClassifier(**parameters).fit(X, y, **rest)


def test_a_row_without_any_value_is_refused_in_predict(domains):
    Xs, ys, Xt, _ = domains
    model = MarsClassifier(assume="same", classifier="logistic").fit(Xs, ys, Xt)
    gaps = np.where(np.arange(len(Xt))[:, None] == 1, np.nan, Xt)
    for give in (model.predict, model.predict_proba):
        with pytest.raises(ValueError, match="Input X contains NaN"):
            give(gaps)


def test_a_program_that_cannot_be_run_is_no_value_error(domains, monkeypatch, tmp_path):
    Xs, ys, Xt, _ = domains
    killed = tmp_path / "mars"
    killed.write_text("#!/bin/sh\nkill -9 $$\n")
    killed.chmod(0o755)
    monkeypatch.setenv("MARS_BINARY", str(killed))
    with pytest.raises(MarsError):
        MarsClassifier().fit(Xs, ys, Xt)


@pytest.mark.parametrize(
    ("parameters", "adapted", "flags"),
    [
        ({}, True, "label --method auto --decision accuracy --seed 0 --shape 4"),
        ({"method": "mars", "decision": "balanced", "random_state": 7}, True, "label --method mars --decision balanced --seed 7 --shape 4"),
        ({"assume": "stay", "classifier": "kernel"}, True, "--shape 4 --assume stay --classifier kernel --save"),
        ({"epochs": 5, "n_jobs": 2}, True, "--shape 4 --jobs 2 --epochs 5 --save"),
        ({"n_jobs": -1, "shape": (1, 2, 2)}, True, "--shape 1x2x2 --save"),
        ({"shape": "4x1x1"}, True, "--shape 4x1x1 --save"),
        ({"method": "marsc", "assume": "stay", "epochs": 5}, False, "train --method source --decision accuracy --seed 0 --shape 4 --epochs 5 --save"),
    ],
)
def test_parameters_are_flags(domains, monkeypatch, tmp_path, parameters, adapted, flags):
    recorder = tmp_path / "mars"
    recorder.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/flags\nexit 1\n')
    recorder.chmod(0o755)
    monkeypatch.setenv("MARS_BINARY", str(recorder))
    Xs, ys, Xt, _ = domains
    with pytest.raises(MarsError):
        MarsClassifier(**parameters).fit(Xs, ys, Xt if adapted else None)
    assert f" {flags} " in f" {(tmp_path / 'flags').read_text()}"


def test_verbose_shows_the_log(domains, capfd):
    Xs, ys, Xt, _ = domains
    MarsClassifier(verbose=True).fit(Xs, ys, Xt)
    assert "labelled 200 rows" in capfd.readouterr().err
    MarsClassifier().fit(Xs, ys, Xt)
    assert capfd.readouterr().err == ""


def test_seeds(domains):
    Xs, ys, Xt, _ = domains
    quick = dict(method="source", epochs=2)
    zero = MarsClassifier(**quick).fit(Xs, ys, Xt).model_
    assert MarsClassifier(**quick, random_state=0).fit(Xs, ys, Xt).model_ == zero
    assert MarsClassifier(**quick, random_state=1).fit(Xs, ys, Xt).model_ != zero
    drawn = [MarsClassifier(**quick, random_state=np.random.RandomState(5)).fit(Xs, ys, Xt).model_ for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert MarsClassifier(**quick, random_state=None).fit(Xs, ys, Xt).model_ != MarsClassifier(**quick, random_state=None).fit(Xs, ys, Xt).model_


@pytest.mark.parametrize("again", [lambda c: pickle.loads(pickle.dumps(c)), copy.deepcopy], ids=["pickle", "deepcopy"])
def test_copies_label_alike(domains, again):
    Xs, ys, Xt, _ = domains
    clf = MarsClassifier(n_jobs=1).fit(Xs, ys, Xt)
    assert (again(clf).predict_proba(Xt) == clf.predict_proba(Xt)).all()
    assert not hasattr(clone(clf), "model_") and clone(clf).get_params() == clf.get_params()


def test_the_model_is_one_that_the_command_takes(domains, tmp_path):
    pd = pytest.importorskip("pandas")
    Xs, ys, Xt, _ = domains
    names = ["CD4", "CD8", "CCR7", "CD45RA"]
    clf = MarsClassifier().fit(pd.DataFrame(Xs, columns=names), ys, pd.DataFrame(Xt, columns=names))
    assert clf.feature_names_in_.tolist() == names
    (tmp_path / "model.safetensors").write_bytes(clf.model_)
    turned = pd.DataFrame(Xt.astype(np.float32), columns=names)[names[::-1]]
    turned.to_csv(tmp_path / "new.csv", index=False)
    command = ["predict", "--model", str(tmp_path / "model.safetensors"), str(tmp_path / "new.csv"), "--format", "csv"]
    labels = pd.read_csv(io.BytesIO(run(command)))
    assert labels["predicted_class"].tolist() == clf.predict(pd.DataFrame(Xt, columns=names)).tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(turned)


def test_images_have_a_shape():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = rng.random((60, 64)) * 0.2
    X[y == 1, 20:44] += 0.7
    clf = MarsClassifier(shape=(1, 8, 8), epochs=1).fit(X[:30], y[:30], X[30:])
    assert clf.predict_proba(X).shape == (60, 2)
    assert b"self-training" in clf.model_[:20000]
    plain = MarsClassifier().fit(X[:30], y[:30], X[30:])
    assert b"self-training" not in plain.model_[:20000]


def test_pipelines_and_searches(domains):
    Xs, ys, Xt, yt = domains
    assert cross_val_score(make_pipeline(StandardScaler(), MarsClassifier()), Xs, ys, cv=3).min() > 0.85
    search = GridSearchCV(MarsClassifier(epochs=3), {"decision": ["accuracy", "balanced"], "random_state": [0, 1]}, cv=2)
    assert search.fit(Xs, ys).predict(Xt).shape == yt.shape
    X, y = make_blobs(60, n_features=3, centers=2, random_state=0)
    assert cross_val_score(MarsClassifier(epochs=3), X, y, cv=2, n_jobs=2).shape == (2,)


# skada

SCORERS = ["PredictionEntropyScorer", "ImportanceWeightedScorer", "SoftNeighborhoodDensity", "DeepEmbeddedValidation", "CircularValidation", "MixValScorer"]


@pytest.fixture
def skada():
    module = pytest.importorskip("skada")
    import sklearn

    sklearn.set_config(enable_metadata_routing=True)
    yield module
    sklearn.set_config(enable_metadata_routing=False)


def test_in_skadas_pipeline(domains, skada):
    Xs, ys, Xt, yt = domains
    X, y, domain = together(Xs, ys, Xt)
    of_target = domain < 0
    pipe = skada.make_da_pipeline(StandardScaler(), MarsClassifier()).fit(X, y, sample_domain=domain)
    assert pipe.score(Xt, yt) > 0.9
    assert pipe.predict_proba(X[of_target], sample_domain=domain[of_target]).shape == (len(Xt), 3)
    bare = skada.make_da_pipeline(MarsClassifier()).fit(X, y, sample_domain=domain)
    alone = MarsClassifier().fit(X, y, sample_domain=domain)
    assert (bare.predict_proba(X) == alone.predict_proba(X)).all()
    after = skada.make_da_pipeline(skada.CORALAdapter(), MarsClassifier(assume="stay")).fit(X, y, sample_domain=domain)
    assert after.score(Xt, yt, sample_domain=np.full(len(Xt), -2)) > 0.6


@pytest.mark.parametrize("name", SCORERS)
@pytest.mark.parametrize("piped", [True, False], ids=["pipeline", "alone"])
def test_with_skadas_scorers(domains, skada, name, piped):
    from sklearn.model_selection import cross_validate
    from skada import metrics
    from skada.model_selection import SourceTargetShuffleSplit

    if name == "DeepEmbeddedValidation" and not piped:
        pytest.skip("skada takes whatever is no pipeline for a network of its own here")
    X, y, domain = together(*domains[:3])
    clf = MarsClassifier(assume="stay", classifier="logistic").set_score_request(sample_weight=True)
    estimator = skada.make_da_pipeline(StandardScaler(), clf) if piped else clf
    scores = cross_validate(
        estimator,
        X,
        y,
        params={"sample_domain": domain},
        cv=SourceTargetShuffleSplit(n_splits=2, test_size=0.3, random_state=0),
        scoring=getattr(metrics, name)(),
        error_score="raise",
    )["test_score"]
    assert np.isfinite(scores).all()


def test_with_skadas_splits_and_search(domains, skada):
    from skada.metrics import PredictionEntropyScorer, SupervisedScorer
    from skada.model_selection import DomainShuffleSplit, SourceTargetShuffleSplit
    from sklearn.model_selection import cross_validate

    Xs, ys, Xt, yt = domains
    X, y, domain = together(Xs, ys, Xt)
    truth = together(Xs, ys, Xt)[1]
    truth[domain < 0] = yt[np.random.default_rng(1).permutation(len(Xs) + len(Xt))[domain < 0] - len(Xs)]
    right = cross_validate(
        skada.make_da_pipeline(MarsClassifier()),
        X,
        y,
        params={"sample_domain": domain, "target_labels": truth},
        cv=DomainShuffleSplit(n_splits=2, random_state=0),
        scoring=SupervisedScorer(),
        error_score="raise",
    )["test_score"]
    assert right.min() > 0.8
    search = GridSearchCV(
        skada.make_da_pipeline(StandardScaler(), MarsClassifier(classifier="logistic")),
        {"marsclassifier__assume": ["stay", "move"]},
        cv=SourceTargetShuffleSplit(n_splits=2, random_state=0),
        scoring=PredictionEntropyScorer(),
        error_score="raise",
    ).fit(X, y, sample_domain=domain)
    assert search.best_params_["marsclassifier__assume"] in ("stay", "move")


@pytest.mark.parametrize("shift", ["target_shift", "conditional_shift"])
def test_gives_what_the_command_gives_on_skadas_tasks(skada, shift):
    from skada.datasets import make_shifted_datasets

    X, y, domain = make_shifted_datasets(10, 10, shift=shift, noise=0.3, random_state=0)
    source = domain >= 0
    tables = {
        "source": pa.table({"a": X[source, 0], "b": X[source, 1], "label": y[source]}),
        "target": pa.table({"a": X[~source, 0], "b": X[~source, 1]}),
    }
    labels = pa.ipc.open_stream(run(["label"], tables)).read_all()
    clf = MarsClassifier().fit(X, y, sample_domain=domain)
    assert clf.predict_proba(X[~source]).tolist() == labels["probability"].to_pylist()


def test_a_target_that_a_pipeline_has_not_scaled_is_told_of(domains):
    pd = pytest.importorskip("pandas")
    Xs, ys, Xt, yt = domains
    units = np.array([1000, 0.001, 30, 7])  # of the columns
    Xs, Xt = 100 + units * Xs, 100 + units * Xt
    names = list("abcd")
    frames = pd.DataFrame(Xs, columns=names), pd.DataFrame(Xt, columns=names)
    pipe = make_pipeline(StandardScaler(), MarsClassifier())
    with pytest.raises(ValueError, match=r"Xt has names of columns \(a, b, c, …\), and X has none: the steps of a pipeline change X alone, .*transform_input"):
        pipe.fit(frames[0], ys, marsclassifier__Xt=frames[1])
    with pytest.warns(MarsWarning, match="Xt is far from that: the steps of a pipeline change X alone"):
        pipe.fit(Xs, ys, marsclassifier__Xt=Xt)
    # As it is meant.
    with config_context(enable_metadata_routing=True):
        steps = [("scale", StandardScaler()), ("label", MarsClassifier())]
        routed = Pipeline(steps, transform_input=["Xt"]).fit(Xs, ys, Xt=Xt)
        assert routed.score(Xt, yt) > 0.9
        named = Pipeline(steps, transform_input=["Xt"]).fit(frames[0], ys, Xt=frames[1])
        assert (named.predict(frames[1]) == routed.predict(Xt)).all()


def test_labels_of_the_target(domains):
    Xs, ys, Xt, yt = domains
    rows = mars.ask((Xs, ys), Xt, budget=20)
    rows["label"] = yt[rows["id"]]
    told = MarsClassifier().fit(Xs, ys, Xt, target_labels=rows)
    assert told.score(Xt, yt) > 0.9
    with pytest.raises(ValueError, match="target_labels: are of rows of the target"):
        MarsClassifier().fit(Xs, ys, target_labels=rows)
    with pytest.raises(ValueError, match="has rows of another target than"):
        MarsClassifier().fit(Xs, ys, Xt[:-1], target_labels=rows)


@pytest.mark.parametrize("offset", [1.7e9, 1.7e15, 1e9])
def test_numbers_close_together_and_far_from_zero(domains, offset, tmp_path):
    """They are labelled as those without the offset, as arrays and as tables, by a model that is kept too."""
    Xs, ys, Xt, _ = (np.round(8 * part) / 8 * 64 if part.ndim == 2 else part for part in domains)  # exact with each offset
    want = MarsClassifier(random_state=0).fit(Xs, ys, Xt=Xt)
    found = MarsClassifier(random_state=0).fit(Xs + offset, ys, Xt=Xt + offset)
    same = found.predict(Xt + offset) == want.predict(Xt)  # but where rounding turns a split of a tree
    assert same.mean() > 0.95
    assert (pickle.loads(pickle.dumps(found)).predict(Xt[:5] + offset) == found.predict(Xt[:5] + offset)).all()
    report = mars.MarsQuantifier(random_state=0)
    np.testing.assert_allclose(report.fit(Xs + offset, ys).predict(Xt + offset), report.fit(Xs, ys).predict(Xt), atol=0.03)
    plain = mars.label((Xs, ys), Xt, seed=0)
    far = mars.label((Xs + offset, ys), Xt + offset, seed=0, save=tmp_path / "far.model")
    assert (far["predicted_class"] == plain["predicted_class"]).mean() > 0.95
    later = mars.predict(tmp_path / "far.model", Xt + offset)
    assert (later["predicted_class"] == far["predicted_class"].astype(str)).all()


def test_values_beyond_float32_are_refused(domains):
    Xs, ys, Xt, _ = domains
    with pytest.raises(ValueError, match="too large for dtype"):
        MarsClassifier().fit(Xs * 1e40, ys, Xt=Xt)
