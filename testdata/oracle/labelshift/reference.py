"""What the NumPy statement of match-translate-EM and of match, translate, retrain in
generate.py makes of streams of mars-featurize --truth: accuracy, balanced accuracy,
seconds of the matching, and L1 error of the proportions, for each file and in the mean.

    pip install numpy scipy scikit-learn pyarrow
    mars run --set rows.output='rows-{from}-{to}.arrow' docs/experiments/estimators-hipc.toml
    python reference.py docs/experiments/rows-*.arrow
"""

import sys
import time

import numpy as np
import pyarrow as pa
from sklearn.neural_network import MLPClassifier

import generate


def read(path):
    """Source rows, their classes, target rows, their true classes, number of classes."""
    t = pa.ipc.open_file(path).read_all()
    column = "embedding" if "embedding" in t.column_names else "features"
    X = np.stack(t[column].to_numpy(zero_copy_only=False)).astype(float)
    target = np.array([str(d) == "target" for d in t["domain"].to_pylist()])
    names = sorted(set(t["label"].to_pylist()) - {None})
    number = {n: i for i, n in enumerate(names)}
    y = np.array([number.get(v, -1) for v in t["label"].to_pylist()])
    truth = np.array([number.get(v, -1) for v in t["truth"].to_pylist()])
    return X[~target], y[~target], X[target], truth[target], len(names)


def posteriors(XS, y, XT, R, C):
    """Those of a network that is trained on the source moved to the target."""
    center, scale = XS.mean(0), XS.std(0) + 1e-9
    ZS, ZT = (XS - center) / scale, (XT - center) / scale
    _, moved = generate.translated(ZS, y, ZT, R, C)
    center, scale = moved.mean(0), moved.std(0) + 1e-9
    epochs = max(5, min(100, -(-1000 * 120 // len(y))))
    net = MLPClassifier((100, 100, 100), alpha=0, batch_size=120, learning_rate_init=1e-3, max_iter=epochs, n_iter_no_change=epochs, random_state=0)
    return net.fit((moved - center) / scale, y).predict_proba((ZT - center) / scale)


def run(path):
    XS, y, XT, truth, C = read(path)
    begin = time.time()
    m = generate.match(XS, y, XT, C)
    seconds = time.time() - begin
    p, pS = np.asarray(m["p"]), np.bincount(y, minlength=C) / len(y)
    P = posteriors(XS, y, XT, np.asarray(m["R"]), C)
    accuracy = ((P * np.maximum(p, 1e-4) / pS).argmax(1) == truth).mean()
    guess = (P / pS).argmax(1)
    recall = np.mean([(guess[truth == k] == k).mean() for k in range(C) if (truth == k).any()])
    l1 = np.abs(p - np.bincount(truth[truth >= 0], minlength=C) / len(truth)).sum()
    return accuracy, recall, seconds, l1


def main():
    found = [run(path) for path in sys.argv[1:]]
    for path, values in zip(sys.argv[1:] + ["mean"], found + [np.mean(found, axis=0)]):
        print(path, *(f"{v:.3f}" for v in values))


main()
