"""Reference of what mars ask and --labels compute, on plain arrays: NumPy and SciPy, no mars.

N target rows, C classes (those that only the labels have come last and have the model value 0),
m labelled rows. P is N×C, posteriors of the model that drew the rows; Y is m×C of 0 and 1.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.stats import beta, hypergeom, norm, t

FLOOR = 0.25  # of an error among the uniform draws: what is always added to the deviation
JEFFREYS = 0.5  # rows of either kind that are added to the effective ones
TUNING = 10  # rows that say that lambda is 1
FOLDS = 10  # times that some labels are kept from what the model learns
REMAINING = 0.25  # of the expected error, once views are reweighed
AMPLITUDES = 2.0 ** np.arange(-3, 4)  # of errors, in the one that is expected
SLACK = 0.05  # of the views' posteriors and weights, as no view is quite right
LEAST_SIZE = 1e-3  # of the greatest size: what a row's size is at least


# --- Which rows are drawn -------------------------------------------------------------------


def sizes(p):
    """How much a row is in doubt: sqrt(1 - sum p²). For one class k: sqrt(p_k (1 - p_k))."""
    return np.sqrt(np.maximum(1 - (p**2).sum(1), 0))


def chosen(u, total):
    """Inclusion probabilities min(1, tau u) that sum to total, of sizes u >= 0."""
    u = np.asarray(u, float)
    u = np.maximum(u, LEAST_SIZE * u.max()) if u.max() > 0 else np.ones(len(u))
    if total >= len(u):
        return np.ones(len(u))
    sure = np.zeros(len(u), bool)
    while True:
        tau = (total - sure.sum()) / u[~sure].sum()
        more = ~sure & (tau * u >= 1)
        if not more.any():
            return np.where(sure, 1.0, tau * u)
        sure |= more


def probabilities(u, budget, uniform=False):
    """The probability column: of N rows to be drawn, for the whole budget."""
    n = len(u)
    budget = min(budget, n)
    first = budget if uniform else (budget + 1) // 2
    rest = 1 - first / n
    if budget == first:
        return np.full(n, first / n)
    return first / n + rest * chosen(u, (budget - first) / rest)


def systematic(c, k, start):
    """k of the rows in the order given: inclusion probabilities c (scaled to sum to k), start in [0, 1)."""
    cum = np.cumsum(c)
    cum *= k / cum[-1]
    return np.minimum(np.searchsorted(cum, start + np.arange(k), side="right"), len(c) - 1)


def draw(u, budget, rng, uniform=False):
    """Rows in the order to look at them, and whether each was chosen.

    The uniform part is a simple random sample. The chosen part is systematic, proportional to
    size, from the rest in random order. Uniform and chosen rows take turns, each in random order.
    """
    n = len(u)
    budget = min(budget, n)
    first = budget if uniform else (budget + 1) // 2
    order = rng.permutation(n)
    part, rest = order[:first], order[first:]
    if budget == first:
        return part, np.zeros(budget, bool)
    k = budget - first
    other = rest[rng.permutation(systematic(chosen(u[rest], k), k, rng.random()))]
    rows, is_chosen = np.empty(budget, int), np.zeros(budget, bool)
    rows[0::2], rows[1::2], is_chosen[1::2] = part, other, True
    return rows, is_chosen


def stopped(probability, n, drawn, labelled):
    """Inclusion probabilities when only the first were labelled: drawn and labelled are (uniform, chosen) counts."""
    first = drawn[0] / n
    late = (np.asarray(probability) - first) * (labelled[1] / drawn[1] if drawn[1] else 0)
    return labelled[0] / n + np.maximum(late, 0)


# --- Intervals that hold whatever has shifted ------------------------------------------------


def wilson(x, n, level=0.9):
    z = norm.ppf((1 + level) / 2)
    p = x / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def exact(x, n, total, level=0.9):
    """Clopper and Pearson's interval of a share of total rows, of which n drawn uniformly without
    replacement have x: all numbers K of rows that neither tail of the hypergeometric law excludes."""
    if n == 0:
        return 0.0, 1.0
    alpha = (1 - level) / 2
    k = np.arange(x, total - (n - x) + 1)  # rows of the class that are possible
    low = k[hypergeom.sf(x - 1, total, k, n) > alpha][0]  # P(X >= x | K) > alpha; Go: bisection, it rises with K
    high = k[hypergeom.cdf(x, total, k, n) > alpha][-1]  # P(X <= x | K) > alpha
    return low / total, high / total


# --- The sharper ones ------------------------------------------------------------------------


def tuned(y, f, omega):
    """Power tuning: one lambda in [0, 1] for all columns, so that shares still sum to 1."""
    m = len(y)
    o2 = (omega**2)[:, None]
    dy, df = (v - (omega[:, None] * v).sum(0) for v in (y, f))
    covariance, variance = (o2 * dy * df).sum(), (o2 * df * df).sum()
    if variance <= 1e-15 * o2.sum():
        return 1.0
    return float(np.clip((covariance + TUNING / m * variance) / (variance * (1 + TUNING / m)), 0, 1))


def difference(y, f, means, pi, first, total, lam=None):
    """Hájek's difference estimator of the means of the columns of y over all rows.

    y, f m×C (truth and model value of labelled rows), means C or m×C (of the model's values over all
    rows, of the model that each row was asked of), pi m (inclusion probabilities of the labelled rows),
    first (uniform rows labelled), total N. Returns estimate, variance with and without the floor, lambda.
    """
    m = len(y)
    omega = (1 / pi) / (1 / pi).sum()
    lam = tuned(y, f - means, omega) if lam is None else lam
    e = y - lam * (f - means)
    estimate = (omega[:, None] * e).sum(0)
    open_ = 1 - m / total
    if m == 1:
        plain = np.full(y.shape[1], 0.25 * open_)
    else:
        spread = ((1 - pi) * omega**2)[:, None] * (e - estimate) ** 2
        plain = m / (m - 1) * spread.sum(0)
    floored = plain + (FLOOR / max(first, 1)) ** 2 * open_
    return estimate, floored, plain, lam


def interval(estimate, variance, m, level=0.9):
    """Jeffreys' interval of a share on effective rows: so many that a binomial share has this variance
    (Korn and Graubard 1998), with Student's quantile for the normal one."""
    z, q = norm.ppf((1 + level) / 2), t.ppf((1 + level) / 2, max(m - 1, 1))
    v = variance * (q / z) ** 2
    s = np.minimum(np.sqrt(v), 0.5)
    centre = np.clip(estimate, 0, 1)
    inner = np.clip(estimate, s, 1 - s)
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.where(v > 0, inner * (1 - inner) / v, np.inf)
        x = centre * rows
        lower = beta.ppf((1 - level) / 2, x + JEFFREYS, rows - x + JEFFREYS)
        upper = beta.ppf((1 + level) / 2, x + JEFFREYS, rows - x + JEFFREYS)
    return np.where(v > 0, lower, centre), np.where(v > 0, upper, centre)


def known(lower, upper, y, total):
    """Keeps intervals to what the labelled rows themselves say: so many of total are of a class, so many are not."""
    count = y.sum(0)
    least, most = count / total, 1 - (len(y) - count) / total
    return np.clip(lower, least, most), np.clip(upper, least, most)


def project(x, lower, upper):
    """The point of the simplex nearest to x with lower <= point <= upper; without bounds if they leave none."""
    if lower.sum() > 1 or upper.sum() < 1:
        lower, upper = np.zeros(len(x)), np.ones(len(x))
    low, high = (x - upper).min() - 1, (x - lower).max() + 1
    for _ in range(200):
        middle = (low + high) / 2
        if np.clip(x - middle, lower, upper).sum() > 1:
            low = middle
        else:
            high = middle
    return np.clip(x - (low + high) / 2, lower, upper)


def sharper(y, f, means, pi, first, total, level=0.9, classes=1):
    """Estimate, lower, upper of each class. classes > 1: all hold at once (Bonferroni)."""
    level = 1 - (1 - level) / classes
    estimate, floored, plain, lam = difference(y, f, means, pi, first, total)
    lower, upper = known(*interval(estimate, floored, len(y), level), y, total)
    return estimate, lower, upper, plain, lam


# --- What the labels say of the assumptions --------------------------------------------------


def softened(v):
    return (1 - SLACK) * v + SLACK / v.shape[-1]


def reweigh(weights, views, labels):
    """Weights of the views given the labels. views: V×m×C posteriors of the labelled rows (new classes 0), labels m."""
    at = softened(views)[:, np.arange(len(labels)), labels]
    log = np.log(np.asarray(weights) + SLACK) + np.log(at).sum(1)
    w = np.exp(log - log.max())
    return w / w.sum()


def field(z, u, rows):
    """How alike the model's errors are expected to be: of the labelled rows among each other, m×m, and with all rows in
    the mean, m. z: N×d vectors, u: N doubts, by whose size errors are expected. Rows are alike within the median
    distance of two labelled ones."""
    apart = lambda x: np.maximum((x**2).sum(1)[:, None] - 2 * x @ z[rows].T + (z[rows] ** 2).sum(1), 0)
    near = apart(z[rows])
    pairs = np.sort(near[np.triu_indices(len(rows), 1)])
    scale = pairs[len(pairs) // 2] if len(pairs) and pairs[len(pairs) // 2] > 0 else 1.0
    likeness = lambda d: np.exp(-d / (2 * scale)) * u[rows]
    return likeness(near) * u[rows][:, None], (likeness(apart(z)) * u[:, None]).mean(0)


def doubts(p):
    return np.sqrt(1 - (softened(p) ** 2).sum(1))


def learn(residuals, kernel, noise, amplitude):
    """Coefficients, m×C, of the labelled rows in the expected error of a row, which is a Gaussian process whose amplitude
    is unknown: the mean over AMPLITUDES, by their likelihood and a log-normal prior. Columns add up to 0, so one is not free."""
    log, found = [], []
    for step in AMPLITUDES:
        k = (step * amplitude) ** 2 * kernel
        factor = cho_factor(k + np.diag(noise), lower=True)
        solved = cho_solve(factor, residuals)
        log.append(-(residuals * solved).sum() / 2 - (residuals.shape[1] - 1) * np.log(np.diag(factor[0])).sum() - np.log(step) ** 2 / 2)
        found.append((step * amplitude) ** 2 * solved)
    w = np.exp(np.array(log) - max(log))
    return np.einsum("a,amc->mc", w / w.sum(), found)


def learnt(on, weights, views, means, y, kernel, overall, u, amplitude):
    """What the labels of the rows `on` make of the model: its value for each labelled row, m×C, and its mean over all rows.
    The views are reweighed, and what they lack on these rows is expected on rows like them."""
    labels = y.argmax(1)
    w = reweigh(weights, views[:, on], labels[on])
    values = np.einsum("v,vic->ic", w, views)
    if len(on) == 0:
        return values, w @ means
    c = learn((y - values)[on], kernel[np.ix_(on, on)], u[on] ** 2 / y.shape[1], amplitude)
    return values + kernel[:, on] @ c, w @ means + overall[on] @ c


def amplitude(expected_error, classes, doubt):
    """Of the errors in proportion to the doubt (mean: doubt) that remain when views are reweighed: REMAINING of those that
    make the shares wrong by expected_error in L1."""
    return REMAINING * np.sqrt(np.pi / 2) * expected_error / classes / doubt


def crossfit(*learnt_of):
    """learnt for each labelled row, by the labels of the other folds: values and means m×C both."""
    m = len(learnt_of[3])
    fold = np.arange(m) % min(FOLDS, m)
    f, overall = np.empty(learnt_of[3].shape), np.empty(learnt_of[3].shape)
    for k in range(fold.max() + 1):
        values, overall[fold == k] = learnt(np.flatnonzero(fold != k), *learnt_of)
        f[fold == k] = values[fold == k]
    return f, overall


def shares(estimate, new, total, *learnt_of):
    """The shares that the model says once it has learnt from all labels, with the labelled rows' own; of classes that it
    does not know (new), those of the difference estimator."""
    y = learnt_of[3]
    values, model = learnt(np.arange(len(y)), *learnt_of)
    model = model + (y - values).sum(0) / total
    if not new.any():
        return model
    fresh = np.where(new, np.clip(estimate, 0, 1), 0)
    return np.where(new, fresh, model * max(0.0, 1 - fresh.sum()) / model[~new].sum())


def refute(view, labels):
    """p-value of a view: the probability of labels no likelier than these, if each row's label were drawn from
    the view's posteriors (m×C), exactly up to the rounding of logarithms to unit."""
    cost = -np.log(softened(view))
    unit = max(0.02, cost.max(1).sum() / 20_000)
    cost = np.floor(cost / unit + 0.5).astype(int)
    p = softened(view)
    observed = cost[np.arange(len(labels)), labels].sum()
    law = np.ones(1)
    for row, chance in zip(cost, p):
        following = np.zeros(len(law) + row.max())
        for c, q in zip(row, chance):
            following[c : c + len(law)] += q * law
        law = following
    return float(law[observed:].sum())


# --- Accuracy of the labels ------------------------------------------------------------------


def accuracy(right, confidence, mean_confidence, pi, first, total, level=0.9):
    """As a share, of the indicator that the guess was right; the model's value is the confidence. For the rows
    of one guess, give those alone, with total the number of target rows that have this guess."""
    if len(right) == 0:
        return np.nan, 0.0, 1.0
    y, f = right[:, None].astype(float), confidence[:, None]
    estimate, lower, upper, _, _ = sharper(y, f, np.array([mean_confidence]), pi, first, total, level)
    return float(np.clip(estimate[0], lower[0], upper[0])), float(lower[0]), float(upper[0])


# --- A class that the source lacks -----------------------------------------------------------

RIDGE = 0.1  # of standardised columns
SURE = 0.6  # posterior of rows that are taken for a new class: about so many were of it in the study


def scores(source, target, of, others):
    """How much a target row looks like the labelled rows `of` a new class: ridge regression on +1 for these and -1 for
    the source's rows and the labelled `others`, either side with weight ½, in columns standardised by the source."""
    one = lambda x: np.hstack([x, np.ones((len(x), 1))])
    new, old = one(target[of]), np.vstack([one(source), one(target[others])])
    gram = new.T @ new / (2 * len(new)) + old.T @ old / (2 * len(old)) + RIDGE * np.eye(new.shape[1])
    return one(target) @ np.linalg.solve(gram, new.sum(0) / (2 * len(new)) - old.sum(0) / (2 * len(old)))


def rows_of_new(score, share, of, others):
    """Rows taken for the new class: the labelled ones, and of the unlabelled those with the greatest scores, until
    they are share of all rows."""
    score = np.array(score, float)
    score[of], score[others] = np.inf, -np.inf
    k = min(max(int(np.floor(share * len(score) + 0.5)), len(of)), len(score) - len(others))
    return np.sort(np.argsort(-score, kind="stable")[:k])


# --- How many are needed ---------------------------------------------------------------------


def widths(p, u, budget, expected_accuracy, level=0.9, uniform=False):
    """Widths of the sharper intervals to expect of a budget, a number a class, if the model is right as often as it expects."""
    n, c = p.shape
    budget = min(budget, n)
    sure = p.max(1).mean()
    mix = np.clip((sure - expected_accuracy) / max(sure - 1 / c, 1e-9), 0, 1) if np.isfinite(expected_accuracy) else 0
    q = (1 - mix) * p + mix / c
    pi = probabilities(u, budget, uniform)
    first = budget if uniform else (budget + 1) // 2
    variance = ((1 / pi - 1)[:, None] * q * (1 - q)).sum(0) / n**2
    variance += (FLOOR / first) ** 2 * (1 - budget / n)
    lower, upper = interval(p.mean(0), variance, budget, level)
    return upper - lower


def needed(p, u, width, expected_accuracy, level=0.9, uniform=False):
    """The least budget of 10 or more whose widths are at most width; N if none below is."""
    low, high = 10, len(p)
    if len(p) <= 10:
        return len(p)
    while low < high:
        middle = (low + high) // 2
        if widths(p, u, middle, expected_accuracy, level, uniform).max() <= width:
            high = middle
        else:
            low = middle + 1
    return low


# --- Normal options, to compare with ppi_py --------------------------------------------------


def ppi(y, f, unlabelled, lam, level=0.9):
    """ppi_mean_ci of ppi_py 0.2.3 with lambda fixed: f of the labelled rows, unlabelled of the others."""
    e = y - lam * f
    centre = lam * unlabelled.mean() + e.mean()
    half = norm.ppf((1 + level) / 2) * np.sqrt(lam**2 * unlabelled.var() / len(unlabelled) + e.var() / len(y))
    return centre, centre - half, centre + half


def ppi_lambda(y, f, unlabelled):
    """Its power tuning, clipped to [0, 1]."""
    n, total = len(y), len(unlabelled)
    covariance = ((y - y.mean()) * (f - f.mean())).mean()
    return float(np.clip(covariance / ((1 + n / total) * np.concatenate([f, unlabelled]).var(ddof=1)), 0, 1))
