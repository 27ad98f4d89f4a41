"""Writes how well scikit-learn's TSNE keeps the neighbours of its digits.

Needs numpy and scikit-learn. Run it in this folder: python generate.py
Made with scikit-learn 1.9.1 and numpy 2.4.6.

digits.gz has the 1,797 rows of 64 pixels from 0 to 16, a byte each.
"""
import gzip
import json

import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE, trustworthiness

x = load_digits().data
with open("digits.gz", "wb") as f:
    with gzip.GzipFile(fileobj=f, mode="wb", mtime=0, filename="") as z:
        z.write(x.astype(np.uint8).tobytes())

t = TSNE(random_state=0)  # it starts from principal components: other seeds give the same
y = t.fit_transform(x)

# Trustworthiness of something known, to check the function itself.
rng = np.random.default_rng(20261122)
some, plane = rng.normal(size=(60, 5)).round(3), rng.normal(size=(60, 2)).round(3)
known = [{"k": k, "value": float(trustworthiness(some, plane, n_neighbors=k))} for k in (1, 5, 12)]

with open("tsne.json", "w") as f:
    json.dump({"rows": len(x), "columns": x.shape[1], "k": 12, "trustworthiness": float(trustworthiness(x, y, n_neighbors=12)),
               "divergence": float(t.kl_divergence_), "some": some.ravel().tolist(), "plane": plane.ravel().tolist(), "known": known}, f, indent=1)
