"""AnnData in and out: counts as they come, files by blocks, labels beside what was there."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import mars

ad = pytest.importorskip("anndata", reason="anndata is not installed: pip install anndata")
import h5py  # noqa: E402
import scipy.io  # noqa: E402
import scipy.sparse as sp  # noqa: E402

from mars._cells import _components, _genes  # noqa: E402
from mars._cells._read import Cells  # noqa: E402

TYPES = np.array(["B", "NK", "T"])
GENES = 300


def cells(counts: tuple[int, int, int], moved: float, seed: int) -> Any:
    """Counts of three types of cells, each with genes of its own; in another experiment others are caught more often."""
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(np.repeat([0, 1, 2], counts))
    usual = np.random.default_rng(9)
    rates = usual.gamma(0.6, 1, (3, GENES)) * np.exp(moved * usual.normal(0, 1, GENES))
    x = rng.poisson(rates[kinds] * rng.lognormal(0, 0.3, (len(kinds), 1)))
    obs = pd.DataFrame({"cell_type": pd.Categorical(TYPES[kinds], ["T", "NK", "B"])}, [f"s{seed}-{i}" for i in range(len(kinds))])
    var = pd.DataFrame({"gene_ids": [f"ENSG{i:011d}" for i in range(GENES)]}, [f"Gene{i}" for i in range(GENES)])
    return ad.AnnData(sp.csr_matrix(x.astype("float32")), obs, var)


@pytest.fixture
def atlas() -> Any:
    return cells((120, 80, 100), 0, 0)


@pytest.fixture
def truth() -> Any:
    return cells((40, 150, 30), 0.3, 1)


@pytest.fixture
def sample(truth: Any) -> Any:
    truth = truth.copy()
    del truth.obs["cell_type"]
    truth.obs["n_counts"] = np.asarray(truth.X.sum(axis=1)).ravel()
    return truth


def right(labelled: Any, truth: Any, column: str = "mars_label") -> float:
    return float((np.asarray(labelled.obs[column], object) == np.asarray(truth.obs["cell_type"], object)).mean())


def normalised(a: Any, total: float = 1e4, base: float = np.e) -> Any:
    a = a.copy()
    x = a.X.toarray()
    a.X = sp.csr_matrix(np.log1p(x / x.sum(axis=1, keepdims=True) * total) / np.log(base))
    return a


def scaled(a: Any) -> Any:
    a = normalised(a)
    x = a.X.toarray()
    a.X = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-6)
    return a


def test_objects(atlas: Any, sample: Any, truth: Any) -> None:
    sample.layers["counts"] = sample.X
    sample.uns["kept"] = "this"
    atlas.uns["cell_type_colors"] = np.array(["#111111", "#222222", "#333333"])
    new, report = mars.label(atlas, sample, "cell_type", return_report=True, posteriors=True, random_state=0)
    assert right(new, truth) > 0.95
    assert new.obs.index.equals(sample.obs.index) and list(sample.obs.columns) == ["n_counts"]  # the sample is as it was
    assert list(new.obs["mars_label"].cat.categories) == ["T", "NK", "B"]
    assert new.X is sample.X and "counts" in new.layers and new.uns["kept"] == "this"
    assert list(new.uns["mars_label_colors"]) == ["#111111", "#222222", "#333333"]
    assert np.allclose(new.obsm["mars_probability"].sum(axis=1), 1, atol=1e-4)
    assert new.obs["mars_confidence"].between(0, 1).all() and new.obs["mars_typicality"].between(0, 1).all()
    shares = new.uns["mars"]["shares"]
    assert abs(shares.loc["NK", "target"] - 150 / 220) < 0.1 and (shares["lower"] <= shares["target"]).all() and (shares["target"] <= shares["upper"]).all()
    assert new.uns["mars"]["verdict"] == report.verdict and new.uns["mars"]["expected_accuracy"] == report.expected_accuracy
    with pytest.raises(ValueError, match=r"\.obs has columns that labels are called by \(mars_label, .*prefix='new_'"):
        mars.label(atlas, new, "cell_type")
    again = mars.label(atlas, new, "cell_type", prefix="new_", random_state=0)
    assert (again.obs["new_label"] == new.obs["mars_label"]).all()


def test_wells_of_several_cells(atlas: Any, sample: Any, truth: Any) -> None:
    rng, kinds = np.random.default_rng(0), np.asarray(atlas.obs["cell_type"], object)
    cells = rng.integers(atlas.n_obs, size=(60, 9))
    wells = ad.AnnData(sp.csr_matrix(np.stack([np.asarray(atlas.X[of].sum(axis=0)).ravel() for of in cells])), var=atlas.var)
    new, report = mars.label(atlas, wells, "cell_type", method="unmix", posteriors=True, return_report=True)
    assert "mars_typicality" not in new.obs.columns and any("mixture of classes" in w for w in report.warnings)
    real = {kind: (kinds[cells] == kind).mean(axis=1) for kind in ("T", "NK", "B")}
    for kind, share in new.uns["mars"]["shares"]["target"].items():
        assert abs(share - real[kind].mean()) < 0.1
        assert np.corrcoef(new.obsm["mars_probability"][kind], real[kind])[0, 1] > 0.8
    assert "both were brought to 10,000 counts a cell of the shared genes" in new.uns["mars"]["values"]  # and no logarithms
    with pytest.raises(ValueError, match="components: with method='unmix' genes are looked at"):
        mars.label(atlas, wells, "cell_type", method="unmix", components=20)
    shares = mars.proportions(atlas, wells, "cell_type", method="unmix")
    assert 0.1 < shares.expected_error < 0.4 and not shares.verdict.startswith("These proportions can be believed")


def test_proportions_and_ask(atlas: Any, sample: Any, truth: Any) -> None:
    shares = mars.proportions(atlas, sample, "cell_type", random_state=0)
    assert isinstance(shares.table, pd.DataFrame) and abs(shares.table.set_index("class").loc["NK", "target"] - 150 / 220) < 0.1
    rows = mars.ask(atlas, sample, "cell_type", budget=10, random_state=0)
    assert set(rows.index) <= set(sample.obs_names) and "n_counts" in rows.columns and rows["cell_type"].isna().all()
    rows["cell_type"] = truth.obs["cell_type"].astype(str)[rows.index]
    new = mars.label(atlas, sample, "cell_type", labels=rows, random_state=0)
    assert right(new, truth) > 0.95 and "target" in new.uns["mars"]["shares"]


STATES = {
    "raw counts": lambda a: a,
    "log(1+x) of counts normalised to 10,000 a cell": normalised,
    "log2(1+x) of counts normalised to 1,000,000 a cell": lambda a: normalised(a, 1e6, 2),
    "counts normalised to 5,000 a cell": lambda a: ad.AnnData(sp.csr_matrix(a.X.toarray() / np.asarray(a.X.sum(axis=1)) * 5000), a.obs, a.var),
    "log(1+x) of normalised counts": lambda a: normalised(a)[:, ::2],
}


@pytest.mark.parametrize("words", STATES)
def test_states(words: str, atlas: Any, sample: Any, truth: Any) -> None:
    """Whatever the values of each side are, they are told, and brought to one state."""
    new = mars.label(atlas, STATES[words](sample), "cell_type", random_state=0)
    assert new.uns["mars"]["values"][1] == f"target: .X has {words}"
    assert right(new, truth) > 0.95
    if words.startswith("log(1+x) of counts"):  # what was undone is what it was
        assert right(new, truth) == right(mars.label(atlas, sample, "cell_type", random_state=0), truth)


def test_scaled(atlas: Any, sample: Any, truth: Any) -> None:
    bad = scaled(sample)
    with pytest.raises(ValueError, match=r"target: \.X has scaled values .*cannot be brought to the other side's state .*layer='counts'"):
        mars.label(atlas, bad, "cell_type")
    bad.layers["counts"] = sample.X
    assert right(mars.label(atlas, bad, "cell_type"), truth) > 0.95
    del bad.layers["counts"]
    bad.raw = normalised(sample)
    new = mars.label(atlas, bad, "cell_type")
    assert right(new, truth) > 0.95 and new.raw.shape == bad.raw.shape
    assert new.uns["mars"]["values"][1] == "target: .X has scaled values (some are negative), so that it is not taken; .raw has log(1+x) of counts normalised to 10,000 a cell"
    with pytest.raises(ValueError, match="has no layer 'spliced'"):
        mars.label(atlas, sample, "cell_type", layer="spliced")
    # Proteins, or what was integrated together, are taken as they are.
    whole = scaled(ad.concat([atlas, truth]))
    assert right(mars.label(whole[: len(atlas)], whole[len(atlas) :], "cell_type", normalize=False), truth) > 0.9


def test_values_that_may_be_logarithms(atlas: Any, sample: Any, truth: Any) -> None:
    """Values that were scaled without taking the mean off look like logarithms: other counts are taken, and without them a warning says so."""
    odd = normalised(sample)
    x = odd.X.toarray()
    odd.X = sp.csr_matrix(x / (x.std(axis=0) + 1e-6))
    with pytest.warns(mars.MarsWarning, match=r"target: \.X has small values .*: \.X is taken for log\(1\+x\): if it is not, name a layer with counts"):
        mars.label(atlas, odd, "cell_type")
    odd.layers["counts"] = sample.X
    assert right(mars.label(atlas, odd, "cell_type"), truth) > 0.95


@pytest.mark.parametrize("kind, of", [(float, ["0", "1", "2"]), (bool, ["false", "true"])])
def test_labels_that_are_no_text(kind: type, of: list[str], atlas: Any, sample: Any) -> None:
    atlas.obs["kind"] = atlas.obs["cell_type"].cat.codes.astype(kind)
    assert list(mars.label(atlas, sample, "kind").obs["mars_label"].cat.categories) == of


def test_broken_values(atlas: Any, sample: Any) -> None:
    sample.X.data[5] = np.nan
    with pytest.raises(ValueError, match=r"target: \.X: has values that are missing or infinite"):
        mars.label(atlas, sample, "cell_type")
    sample.X.data[:] = 0
    with pytest.raises(ValueError, match=r"target: \.X: all values"):
        mars.label(atlas, sample, "cell_type")


def test_names_of_genes(atlas: Any, sample: Any, truth: Any) -> None:
    def words(a: Any, b: Any) -> str:
        new = mars.label(a, b, "cell_type", random_state=0)
        assert right(new, truth) > 0.9
        return str(new.uns["mars"]["values"][2])

    upper = sample.copy()
    upper.var_names = [n.upper() for n in upper.var_names]
    del upper.var["gene_ids"]
    assert words(atlas, upper) == "the target has 300 of the source's 300 genes, 300 of them in other upper or lower case, and 0 others"
    versions = sample[:, 50:].copy()
    versions.var_names = [f"{n}.{i % 9}" for i, n in enumerate(versions.var["gene_ids"])]
    del versions.var["gene_ids"]
    assert words(atlas, versions) == "the target has 250 of the source's 300 genes, and 0 others, by the source's var['gene_ids'] and the target's var_names"
    other = versions.copy()
    other.var_names = [f"x{i}" for i in range(250)]
    with pytest.raises(ValueError, match="target: has 0 of the source's 300 genes: the source's are called Gene0, Gene1, Gene2, …, the target's x0"):
        mars.label(atlas, other, "cell_type")
    few = sample[:, :40].copy()
    with pytest.warns(mars.MarsWarning) as caught:
        mars.label(atlas, ad.AnnData(sp.hstack([few.X, sp.csr_matrix(np.ones((len(few), 200), "float32"))]).tocsr(), few.obs, pd.DataFrame(index=[*few.var_names, *(f"x{i}" for i in range(200))])), "cell_type")
    assert any("the target has 40 of the source's 300 genes" in str(w.message) for w in caught)


def test_twins_match_nothing() -> None:
    left, right, words = _genes.match({"var_names": ["A", "b", "b", "C", *map(str, range(60))]}, {"var_names": ["c", "B", "a", "A", *map(str, range(60))]})
    # b is there twice, and B with it; A is itself although a is there.
    assert left[:2].tolist() == [0, 3] and right[:2].tolist() == [3, 0] and len(left) == 62 and "1 of them in other upper" in words


def test_most_variable_genes_are_scanpys() -> None:
    """The places that scanpy 1.11.5 gave: sc.pp.highly_variable_genes(a, n_top_genes=12), of these normalised counts."""
    a = normalised(cells((60, 50, 40), 0, 3))
    x = np.expm1(a.X.toarray().astype(np.float64))
    chosen = _genes.most_variable(x.sum(axis=0), (x**2).sum(axis=0), len(x), 12)
    assert chosen.tolist() == [12, 41, 61, 110, 111, 118, 119, 145, 208, 210, 227, 270]


def test_components_are_those_of_all_cells() -> None:
    x = cells((50, 50, 50), 0, 4).X.toarray().astype(np.float64)
    learnt = _components.learn([sp.csr_array(x[:70]), sp.csr_array(x[70:])], GENES, 5)
    _, s, v = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    z = learnt.of(sp.csr_array(x))
    assert np.allclose(abs(z), abs((x - x.mean(axis=0)) @ v[:5].T), atol=1e-3 * s[0])
    assert np.allclose(z.mean(axis=0), 0, atol=1e-3)


@pytest.mark.parametrize("kind", ["csr", "csc", "dense", "float64", "float16", "gzip", "layer", "raw"])
def test_files(kind: str, tmp_path: Path, atlas: Any, sample: Any, truth: Any) -> None:
    """What is in a file is what is in the object, and all else of it stays as it was."""
    want = mars.label(atlas, sample, "cell_type", random_state=0)
    stored = sample.copy()
    stored.obs["kept"] = pd.Categorical(["a", None] * (len(stored) // 2))
    stored.obs["whole"] = pd.array([1, None] * (len(stored) // 2), "Int64")
    stored.obs["text"] = [f"t{i % 3}é" for i in range(len(stored))]
    stored.obsm["X_umap"] = np.ones((len(stored), 2))
    stored.uns["kept"] = {"a": 1}
    options: dict[str, Any] = {}
    if kind == "csc":
        stored.X = stored.X.tocsc()
    elif kind == "dense":
        stored.X = stored.X.toarray()
    elif kind == "float64":
        stored.X = stored.X.astype(kind)
    elif kind == "float16":
        stored.X = stored.X.toarray().astype(kind)
    elif kind == "layer":
        stored.layers["counts"], stored.X = stored.X, None
        options["layer"] = ("X", "counts")
    elif kind == "raw":
        stored.raw, stored.X = sample, scaled(sample).X
    atlas.write_h5ad(tmp_path / "atlas.h5ad")
    stored.write_h5ad(tmp_path / "sample.h5ad", compression="gzip" if kind == "gzip" else None)
    output = tmp_path / "labelled.h5ad"
    table = mars.label(tmp_path / "atlas.h5ad", str(tmp_path / "sample.h5ad"), "cell_type", output=output, random_state=0, **options)
    assert table["id"].to_pylist() == list(sample.obs_names) and table["mars_label"].to_pylist() == want.obs["mars_label"].tolist()
    assert sorted(os.listdir(tmp_path)) == ["atlas.h5ad", "labelled.h5ad", "sample.h5ad"]
    new = ad.read_h5ad(output)
    pd.testing.assert_frame_equal(new.obs[want.obs.columns[1:]], want.obs[want.obs.columns[1:]], atol=1e-2)
    assert list(new.obs.columns) == [*stored.obs.columns, "mars_label", "mars_confidence", "mars_typicality"]
    pd.testing.assert_frame_equal(new.obs[stored.obs.columns], ad.read_h5ad(tmp_path / "sample.h5ad").obs)
    assert list(new.uns["mars"]["shares"].index) == ["B", "NK", "T"] and new.uns["kept"] == {"a": 1} and "X_umap" in new.obsm
    with h5py.File(output) as a, h5py.File(tmp_path / "sample.h5ad") as b:
        assert set(b) == set(a)
        for name in ("X", "var", "layers", "obsm/X_umap"):
            assert (name in a) == (name in b)
    if kind != "layer":
        assert (abs(new.X - ad.read_h5ad(tmp_path / "sample.h5ad").X)).max() == 0


def test_cells_of_one_name(atlas: Any, sample: Any, tmp_path: Path) -> None:
    sample.obs_names = ["cell"] * len(sample)
    sample.write_h5ad(tmp_path / "sample.h5ad")
    table = mars.label(atlas, tmp_path / "sample.h5ad", "cell_type", posteriors=True)
    assert table.num_rows == len(sample) and table.column_names[-3:] == ["mars_probability_B", "mars_probability_NK", "mars_probability_T"]


def test_blocks(tmp_path: Path, atlas: Any, sample: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read by blocks, and that says the same."""
    sample.write_h5ad(tmp_path / "sample.h5ad")
    want = mars.label(atlas, sample, "cell_type", random_state=0)
    from mars._cells import _read

    monkeypatch.setattr(_read, "_BLOCK", 7 * GENES)
    with Cells(tmp_path / "sample.h5ad", "target") as there:
        blocks = list(there.matrix("X")[0].blocks())
        assert {b.shape[0] for b in blocks[:-1]} == {7} and (sp.vstack(blocks) != sample.X).nnz == 0
    new = mars.label(atlas, tmp_path / "sample.h5ad", "cell_type", random_state=0)
    assert new["mars_label"].to_pylist() == want.obs["mars_label"].tolist()


def test_embeddings(atlas: Any, sample: Any, truth: Any) -> None:
    centres = np.eye(3) * 3
    for a, like in ((atlas, atlas), (sample, truth)):
        codes = np.array([list(TYPES).index(t) for t in like.obs["cell_type"]])
        a.obsm["X_pca"] = centres[codes] + np.random.default_rng(5).normal(0, 0.5, (len(codes), 3))
    assert right(mars.label(atlas, sample, "cell_type", obsm="X_pca"), truth) > 0.95
    with pytest.raises(ValueError, match=r"source: \.obsm has no 'X_scvi' \(it has X_pca\)"):
        mars.label(atlas, sample, "cell_type", obsm="X_scvi")
    rng = np.random.default_rng(6)
    atlas.varm["PCs"], sample.varm["PCs"] = rng.normal(size=(GENES, 3)), rng.normal(size=(GENES, 3))
    with pytest.raises(ValueError, match="X_pca was made of each object by itself"):
        mars.label(atlas, sample, "cell_type", obsm="X_pca")
    sample.varm["PCs"] = atlas.varm["PCs"]
    assert right(mars.label(atlas, sample, "cell_type", obsm="X_pca"), truth) > 0.95


def test_some_cells_have_no_label(atlas: Any, sample: Any) -> None:
    x = sample.X.toarray()
    x[3] = 0
    sample.X = sp.csr_matrix(x)
    new = mars.label(atlas, sample, "cell_type", random_state=0)
    assert new.obs["mars_label"].isna().tolist() == [i == 3 for i in range(len(sample))]
    new = mars.label(atlas, sample, "cell_type", max_target_rows=50, random_state=0)
    assert new.obs["mars_label"].notna().sum() in (49, 50) and len(new) == len(sample)


def test_batches(atlas: Any, sample: Any, truth: Any) -> None:
    atlas.obs["donor"] = [f"d{i % 4}" for i in range(len(atlas))]
    assert right(mars.label(atlas, sample, "cell_type", batch_column="donor"), truth) > 0.95
    with pytest.raises(ValueError, match=r"source: \.obs has no column 'day' \(its columns are cell_type, donor\)"):
        mars.label(atlas, sample, "cell_type", batch_column="day")


def test_levels(atlas: Any, sample: Any, truth: Any, tmp_path: Path) -> None:
    """Coarser classes are columns of .obs, agree with the finer, and are those that are sure enough."""
    atlas.obs["lineage"] = np.where(atlas.obs["cell_type"] == "B", "B cells", "others")
    found = mars.label(atlas, sample, levels=["lineage", "cell_type"], confidence=0.6)
    fine = found.obs["mars_cell_type"].astype(str)
    assert (found.obs["mars_lineage"].astype(str) == np.where(fine == "B", "B cells", "others")).all()
    assert (found.obs["mars_lineage_confidence"] >= found.obs["mars_cell_type_confidence"] - 1e-6).all()
    assert list(found.obs["mars_level"].cat.categories) == ["lineage", "cell_type"]
    sample.write_h5ad(tmp_path / "sample.h5ad")
    mars.label(atlas, tmp_path / "sample.h5ad", levels=["lineage", "cell_type"], confidence=0.6, posteriors=True, output=tmp_path / "labelled.h5ad")
    pd.testing.assert_frame_equal(ad.read_h5ad(tmp_path / "labelled.h5ad").obs, found.obs, check_names=False)
    shares = mars.proportions(atlas, sample, levels=["lineage", "cell_type"]).levels
    assert set(shares["level"]) == {"lineage", "cell_type"}
    sample.obs["mars_lineage"] = "mine"
    with pytest.raises(ValueError, match="mars_lineage.*rename or drop"):
        mars.label(atlas, sample, levels=["lineage", "cell_type"])


def test_ten_x(tmp_path: Path, atlas: Any, sample: Any, truth: Any) -> None:
    folder = tmp_path / "filtered"
    folder.mkdir()
    with gzip.open(folder / "matrix.mtx.gz", "wb") as file:
        scipy.io.mmwrite(file, sp.vstack([sample.X.T, np.full((1, len(sample)), 50)]).tocoo().astype(int))
    features = [f"{i}\t{n}\tGene Expression\n" for n, i in sample.var["gene_ids"].items()] + ["CD3\tCD3\tAntibody Capture\n"]
    for name, lines in (("features.tsv.gz", features), ("barcodes.tsv.gz", [f"{n}\n" for n in sample.obs_names])):
        with gzip.open(folder / name, "wt") as text:
            text.writelines(lines)
    want = mars.label(atlas, sample, "cell_type", random_state=0).obs["mars_label"].tolist()
    assert mars.label(atlas, folder, "cell_type", random_state=0, output=tmp_path / "new.h5ad")["mars_label"].to_pylist() == want
    assert ad.read_h5ad(tmp_path / "new.h5ad").obs["mars_label"].tolist() == want
    for name in ("matrix.mtx.gz", "barcodes.tsv.gz"):  # copies that were cut off
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(ValueError, match=f"{name}: is cut off or damaged: .*: copy or download it again"):
            mars.label(atlas, folder, "cell_type")
        (folder / name).write_bytes(whole)
    with h5py.File(tmp_path / "filtered.h5", "w") as file:
        m = file.create_group("matrix")
        x = sp.csr_matrix(sample.X).astype("int32")
        m["data"], m["indices"], m["indptr"], m["shape"] = x.data, x.indices, x.indptr, x.shape[::-1]
        m["barcodes"] = [n.encode() for n in sample.obs_names]
        m["features/id"], m["features/name"] = list(sample.var["gene_ids"]), list(sample.var_names)
        m["features/feature_type"] = ["Gene Expression"] * GENES
    assert mars.label(atlas, tmp_path / "filtered.h5", "cell_type", random_state=0)["mars_label"].to_pylist() == want


def test_what_does_not_go(tmp_path: Path, atlas: Any, sample: Any) -> None:
    for say, call in {
        r"source: \.obs has no column 'kind' \(its columns are cell_type\)": lambda: mars.label(atlas, sample, "kind"),
        "target: is no AnnData, and the other side is": lambda: mars.label(atlas, sample.obs, "cell_type"),
        "columns: is for tables": lambda: mars.label(atlas, sample, "cell_type", columns=["Gene1"]),
        "save: a model would know components": lambda: mars.label(atlas, sample, "cell_type", save=tmp_path / "m.safetensors"),
        "output: .*new.csv: AnnData is written to a file whose name ends in .h5ad": lambda: mars.label(atlas, sample, "cell_type", output=tmp_path / "new.csv"),
        "output: there is no folder": lambda: mars.label(atlas, sample, "cell_type", output=tmp_path / "no" / "new.h5ad"),
        "target: there is no file": lambda: mars.label(atlas, tmp_path / "no.h5ad", "cell_type"),
        "genes=5, components=50": lambda: mars.label(atlas, sample, "cell_type", genes=5),
        "target: has no cells": lambda: mars.label(atlas, sample[:0], "cell_type"),
        "target: is missing": lambda: mars.label(atlas, None, "cell_type"),
    }.items():
        with pytest.raises((ValueError, TypeError, OSError), match=say):
            call()
    (tmp_path / "bad.h5ad").write_bytes(b"\x89HDF\r\n\x1a\n and no more")
    with pytest.raises(ValueError, match="target: .*bad.h5ad: cannot be read as HDF5"):
        mars.label(atlas, tmp_path / "bad.h5ad", "cell_type")
    sample.write_h5ad(tmp_path / "s.h5ad")
    with pytest.raises(ValueError, match=r"target: is backed by a file: give its name"):
        mars.label(atlas, ad.read_h5ad(tmp_path / "s.h5ad", backed="r"), "cell_type")
    with pytest.raises(ValueError, match="is the target itself: name another file"):
        mars.label(atlas, tmp_path / "s.h5ad", "cell_type", output=tmp_path / "s.h5ad")


def command(*arguments: Any, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "mars", *map(str, arguments)], cwd=cwd, capture_output=True, text=True)


def test_command_line(tmp_path: Path, atlas: Any, sample: Any, truth: Any) -> None:
    atlas.write_h5ad(tmp_path / "atlas.h5ad")
    sample.write_h5ad(tmp_path / "sample.h5ad")
    sides = ("--source", "atlas.h5ad", "--target", "sample.h5ad", "--label", "cell_type")
    ran = command("label", *sides, "-o", "labelled.h5ad", "--seed", "0", cwd=tmp_path)
    assert ran.returncode == 0 and ran.stdout == "", ran.stderr
    assert "mars label: source: .X has raw counts\n" in ran.stderr and "mars label: sample.h5ad: 220 target rows of 50 numbers\n" in ran.stderr
    assert "/dev/fd" not in ran.stderr
    new = ad.read_h5ad(tmp_path / "labelled.h5ad")
    assert right(new, truth) > 0.95
    ran = command("label", *sides, "-o", "labels.csv", "-q", "--seed", "0", cwd=tmp_path)
    labels = pd.read_csv(tmp_path / "labels.csv", index_col="id")
    assert ran.returncode == 0 and labels["predicted_class"].tolist() == new.obs["mars_label"].tolist() and labels.index.equals(new.obs_names)
    ran = command("proportions", *sides, "--seed", "0", cwd=tmp_path)
    assert ran.returncode == 0 and "  class  target  90 % interval  rows  source" in ran.stdout
    ran = command("label", *sides, "-o", "bad.h5ad", "--assume", "nothing", cwd=tmp_path)
    assert ran.returncode == 2 and "nothing" in ran.stderr and "Traceback" not in ran.stderr
    ran = command("label", *sides, "--save", "m.safetensors", "-o", "bad.h5ad", cwd=tmp_path)
    assert ran.returncode == 1 and ran.stderr.startswith("mars label: save: a model would know components")
    ran = command("label", *sides, "--prefix", "new_", "-o", "bad.csv", cwd=tmp_path)
    assert ran.returncode == 1 and "--prefix and --posteriors: are for AnnData" in ran.stderr
    ran = command("label", *sides, "-o", "none/bad.h5ad", cwd=tmp_path)
    assert ran.returncode == 1 and "there is no folder" in ran.stderr
    assert sorted(os.listdir(tmp_path)) == ["atlas.h5ad", "labelled.h5ad", "labels.csv", "sample.h5ad"]


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, atlas: Any, sample: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sample.write_h5ad(tmp_path / "sample.h5ad")
    (tmp_path / "new.h5ad").write_text("before")
    from mars._cells import _write

    def full(*_: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(_write, "_put", full)
    with pytest.raises(OSError, match="No space"):
        mars.label(atlas, tmp_path / "sample.h5ad", "cell_type", output=tmp_path / "new.h5ad")
    assert sorted(os.listdir(tmp_path)) == ["new.h5ad", "sample.h5ad"] and (tmp_path / "new.h5ad").read_text() == "before"


def test_without_anndata(tmp_path: Path) -> None:
    """The package itself does not need it."""
    (tmp_path / "anndata.py").write_text("raise ImportError('there is none')")
    code = "import mars; mars.label('a.h5ad', 'b.h5ad', 'y')"
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert "ImportError: AnnData and .h5ad files need the package anndata: pip install anndata" in ran.stderr


@pytest.mark.parametrize("components", [2, GENES])
def test_what_unknown_cells_are(components: int, tmp_path: Path) -> None:
    """Of a type that the atlas lacks the nearest types and the genes that make it new are named, of components as of genes."""
    atlas, truth = cells((300, 300, 300), 0, 0), cells((120, 150, 120), 0, 1)
    atlas = atlas[atlas.obs["cell_type"] != "B"].copy()
    sample = truth.copy()
    del sample.obs["cell_type"]
    new = mars.label(atlas, sample, label="cell_type", unknown=0.05, components=components)
    unknown = new.uns["mars"]["unknown"]
    x, kinds = normalised(truth).X.toarray(), truth.obs["cell_type"].astype(str).to_numpy()
    assert unknown["cells"].sum() > 40 and unknown["by_chance"].sum() < 20
    for nearest, row in unknown.iterrows():
        gap = pd.Series(x[kinds == "B"].mean(axis=0) - x[kinds == nearest].mean(axis=0), truth.var_names)
        for genes, sign in ((row["higher"], 1), (row["lower"], -1)):
            names = genes.split(", ")
            assert len(names) == 5 and all(sign * gap[name] > 1 for name in names)
    new.write_h5ad(tmp_path / "new.h5ad")
    assert ad.read_h5ad(tmp_path / "new.h5ad").uns["mars"]["unknown"].equals(unknown)


def test_nothing_is_said_of_unknown_cells_unless_asked(atlas: Any, sample: Any) -> None:
    assert "unknown" not in mars.label(atlas, sample, label="cell_type").uns["mars"]
