"""skada's shallow methods with the grids of SKADA-Bench (its solvers/), and base classifiers.

A grid is a list of dicts of lists: the keyword arguments of the method's adapter. SKADA-Bench has
no file for the methods marked `ours`: their grids are a choice made here.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import skada
from skada.base import SelectSource
from skada.transformers import StratifiedDomainSubsampler
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity
from sklearn.svm import SVC

METRICS = ["sqeuclidean", "cosine", "cityblock"]
GAMMAS = [1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
COMPONENTS = [1, 2, 5, 10, 20, 50, 100]
SUBSAMPLE = 1000  # rows of both domains together, for methods that SKADA-Bench subsamples


def classifier(name):
    """A base classifier by the name that SKADA-Bench gives it: LR_C0.01, SVC_C10.0_Gamma0.1, …"""
    kind, numbers = name.split("_")[0], [float(n) for n in re.findall(r"[a-zA-Z](\d[\d.]*)", name)]
    if kind == "LR":
        model = LogisticRegression(**dict(zip(["C"], numbers)))
    elif kind == "SVC":
        model = SVC(probability=True, random_state=0, **dict(zip(["C", "gamma"], numbers)))
    else:
        from xgboost import XGBClassifier

        rows, columns, depth = numbers or (1, 1, 6)
        model = XGBClassifier(max_depth=int(depth), subsample=rows, n_jobs=1, colsample_bytree=columns,
                              colsample_bylevel=columns, colsample_bynode=columns)
    return model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)


def choose_base(x, y):
    """Names of the classifier and of the SVC that are best in cross-validation on the source."""
    def best(model, grid):
        found = GridSearchCV(model, grid, cv=3).fit(x, y)
        return found.best_score_, found.best_params_

    logistic, at = best(LogisticRegression(), {"C": [0.01, 0.1, 1.0, 10.0]})
    support, of = best(SVC(), {"C": [1.0, 10.0, 100.0], "gamma": [0.001, 0.01, 0.1, 1.0]})
    svc = f"SVC_C{of['C']}_Gamma{of['gamma']}"
    return (f"LR_C{at['C']}" if logistic > support else svc), svc


@dataclass
class Method:
    """adapter makes the adapter, or with `whole` the classifier, of one point of the grid; it
    gets the names of the base classifier and of the SVC if it is `whole`."""

    adapter: Callable
    grid: list[dict]
    subsample: bool = False
    whole: bool = False
    ours: bool = False

    def points(self):
        for grid in self.grid:
            for values in product(*grid.values()):
                yield dict(zip(grid, values))

    def pipeline(self, point, base):
        steps = [StratifiedDomainSubsampler(train_size=SUBSAMPLE)] if self.subsample else []
        if self.whole:
            return skada.make_da_pipeline(*steps, self.adapter(base, **point))
        return skada.make_da_pipeline(*steps, self.adapter(**point), classifier(base[0]))


def source_only(base):
    return SelectSource(classifier(base[0]))


def principal(n_components):
    return SelectSource(PCA(n_components))


def density(bandwidth):
    return skada.DensityReweightAdapter(weight_estimator=KernelDensity(bandwidth=bandwidth))


def discriminator(domains):
    return skada.DiscriminatorReweightAdapter(domain_classifier=classifier(domains))


def joint(base, **point):
    model = skada.JDOTClassifier(base_estimator=classifier(base[1]), metric="hinge", n_iter_max=100, tol=1e-6,
                                 thr_weights=1e-7, **point)
    return model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)


def dasvm(base, max_iter):
    return skada.DASVMClassifier(base_estimator=classifier(base[1]), max_iter=max_iter).set_score_request(
        sample_weight=True)


def class_regularised(reg, metric):
    return skada.ClassRegularizerOTMappingAdapter(reg_e=reg, reg_cl=reg, norm="lpl1", metric=metric, max_iter=10,
                                                  max_inner_iter=1000, tol=1e-6)


METHODS = {
    "Train Src": Method(source_only, [{}], whole=True),
    "Dens. RW": Method(density, [{"bandwidth": [0.01, 0.1, 1.0, 10.0, 100.0, "scott", "silverman"]}]),
    "Disc. RW": Method(discriminator, [{"domains": ["LR", "SVC", "XGB"]}]),
    "Gauss. RW": Method(skada.GaussianReweightAdapter, [{"reg": ["auto"]}]),
    "KLIEP": Method(skada.KLIEPReweightAdapter, [
        {"gamma": GAMMAS + ["auto", "scale"], "n_centers": [100], "cv": [5], "tol": [1e-6], "max_iter": [1000],
         "random_state": [0]}]),
    "KMM": Method(skada.KMMReweightAdapter, [
        {"gamma": GAMMAS + [None], "B": [1000.0], "tol": [1e-6], "max_iter": [1000], "smooth_weights": [False]}]),
    "NN RW": Method(skada.NearestNeighborReweightAdapter, [{"n_neighbors": [1], "laplace_smoothing": [True, False]}]),
    "MMDTarS": Method(skada.MMDTarSReweightAdapter, [
        {"gamma": GAMMAS + [None], "reg": [1e-6], "tol": [1e-6], "max_iter": [1000]}]),
    "CORAL": Method(skada.CORALAdapter, [{"reg": ["auto"], "assume_centered": [False, True]}]),
    "MapOT": Method(skada.OTMappingAdapter, [{"metric": METRICS, "norm": ["median"], "max_iter": [1_000_000]}]),
    "EntOT": Method(skada.EntropicOTMappingAdapter, [
        {"reg_e": [0.1, 0.5, 1.0], "metric": METRICS, "norm": ["median"], "max_iter": [1000], "tol": [1e-6]}]),
    "ClassRegOT": Method(class_regularised, [{"reg": [0.1, 0.5, 1.0], "metric": METRICS}]),
    "LinOT": Method(skada.LinearOTMappingAdapter, [{"reg": [1e-8, 1e-6, 0.1, 1, 10], "bias": [True, False]}]),
    "MMD-LS": Method(skada.MMDLSConSMappingAdapter, [
        {"gamma": [0.01, 0.1, 1, 10, 100], "reg_k": [1e-8], "reg_m": [1e-8], "tol": [1e-5], "max_iter": [20]}]),
    "MongeAlign": Method(skada.MultiLinearMongeAlignmentAdapter, [{"reg": [1e-8, 1e-6, 0.1, 1, 10]}], ours=True),
    "JPCA": Method(principal, [{"n_components": COMPONENTS}]),
    "SA": Method(skada.SubspaceAlignmentAdapter, [{"n_components": COMPONENTS}]),
    "TCA": Method(skada.TransferComponentAnalysisAdapter, [
        {"kernel": ["rbf"], "n_components": COMPONENTS, "mu": [10, 100]}], subsample=True),
    "TJM": Method(skada.TransferJointMatchingAdapter, [
        {"n_components": COMPONENTS, "max_iter": [10]}], subsample=True, ours=True),
    "TSL": Method(skada.TransferSubspaceLearningAdapter, [
        {"n_components": COMPONENTS, "base_method": ["flda"], "length_scale": [2], "mu": [0.1, 1, 10], "reg": [1e-4],
         "max_iter": [300], "tol": [1e-4]}], subsample=True),
    "JDOT": Method(joint, [{"alpha": [0.1, 0.3, 0.5, 0.7, 0.9]}], subsample=True, whole=True),
    "OTLabelProp": Method(skada.OTLabelPropAdapter, [
        {"metric": METRICS, "reg": [None], "n_iter_max": [10000]},
        {"metric": METRICS, "reg": [0.1, 1], "n_iter_max": [100]}]),
    "JCPOT": Method(skada.JCPOTLabelPropAdapter, [{"metric": METRICS, "reg": [0.1, 1], "max_iter": [100]}], ours=True),
    "DASVM": Method(dasvm, [{"max_iter": [200]}], subsample=True, whole=True),
}
