"""Estimators of a classifier's accuracy on rows without labels, by their papers' formulas.

Rows of P are posteriors, y the labels of the reference (indices), said the classes that the model says.

cbpe     Białek, Kuberski, Perrakis, Bifet: Estimating model performance under covariate shift without labels (2024); NannyML
atc      Garg, Balakrishnan, Lipton, Neyshabur, Sedghi: Leveraging unlabeled data to predict out-of-distribution performance (2022)
doc      Guillory, Shankar, Ebrahimi, Darrell, Schmidt: Predicting with confidence on unseen distributions (2021)
cot      Lu, Wang, Zhai, Kolouri, Raginsky: Predicting out-of-distribution error with confidence optimal transport (2023)
em       Saerens, Latinne, Decaestecker: Adjusting the outputs of a classifier to new a priori probabilities (2002)
"""

import numpy as np
from scipy import sparse
from scipy.optimize import linprog, minimize_scalar
from sklearn.isotonic import IsotonicRegression

LEAST = 1e-12  # of a posterior before its logarithm


def isotonic(P, y):
    """One isotonic map a class against the others; rows are made to sum to one, and rows of zeros are uniform."""
    maps = [IsotonicRegression(out_of_bounds="clip").fit(P[:, c], y == c) for c in range(P.shape[1])]

    def calibrated(Q):
        R = np.column_stack([m.predict(Q[:, c]) for c, m in enumerate(maps)])
        total = R.sum(1, keepdims=True)
        return np.where(total > 0, R / np.where(total > 0, total, 1), 1 / R.shape[1])

    return calibrated


def tempered(P, a):
    """Posteriors at the inverse temperature a: p^a, made to sum to one."""
    Z = a * np.log(np.clip(P, LEAST, 1))
    E = np.exp(Z - Z.max(1, keepdims=True))
    return E / E.sum(1, keepdims=True)


def inverse_temperature(P, y):
    """The a in 0.001 to 20 of least logarithmic loss on the reference."""
    loss = lambda a: -np.log(np.clip(tempered(P, a)[np.arange(len(y)), y], 1e-300, 1)).mean()
    return minimize_scalar(loss, bounds=(1e-3, 20), method="bounded", options={"xatol": 1e-10}).x


def cbpe(Q, said):
    """Mean calibrated posterior of the class that the model says."""
    return Q[np.arange(len(Q)), said].mean()


def negative_entropy(P):
    return (P * np.log(np.clip(P, LEAST, 1))).sum(1)


def atc(reference, right, target):
    """Share of target scores at or above a threshold; as many reference scores lie below it as reference labels are wrong."""
    scores, wrong = np.sort(reference), int((~right).sum())
    threshold = scores[wrong] if wrong < len(scores) else np.inf
    return (target >= threshold).mean()


def doc(reference, right, target):
    """Accuracy on the reference, less what confidence has fallen by."""
    return right.mean() + target.mean() - reference.mean()


def cot(P, shares):
    """One less the cost of moving the target's posteriors to classes in the reference's shares; a row p moved to y costs
    the greatest entry of |p - e_y|, which is 1 - p_y."""
    n, C = P.shape
    rows = sparse.kron(sparse.eye(n), np.ones((1, C)))
    classes = sparse.kron(np.ones((1, n)), sparse.eye(C))
    constraints = sparse.vstack([rows, classes]).tocsr()[:-1]
    found = linprog(-P.ravel(), A_eq=constraints, b_eq=np.r_[np.full(n, 1 / n), shares][:-1], bounds=(0, None), method="highs")
    return -found.fun


def em(Q, shares, steps=100_000, tolerance=1e-14):
    """New shares of the classes, and the posteriors that go with them."""
    new = shares.copy()
    for _ in range(steps):
        R = Q * (new / shares)
        R /= R.sum(1, keepdims=True)
        if np.abs(R.mean(0) - new).sum() < tolerance:
            break
        new = R.mean(0)
    return new, R
