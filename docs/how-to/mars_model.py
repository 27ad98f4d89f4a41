"""Models of `mars label --save` and `mars train --save` for tables, in NumPy.

    model = Model("model.safetensors")
    posteriors = model(rows)             # a row a class of model.classes

rows are the columns model.columns as they are in the file that mars predict reads. It needs
the package safetensors.
"""

import json

import numpy as np
from safetensors import safe_open

LEAST = 1e-4  # what a class' share counts as if it is less


class Model:
    def __init__(self, path):
        with safe_open(path, "np") as file:
            self.about = file.metadata()
            self.tensors = {name: self.array(file.get_tensor(name)) for name in file.keys()}
        self.classes, self.decision = self.get("mars.classes"), self.about.get("mars.decision")
        self.prepared = self.get("mars.preparation", {"version": 1, "target": {}})
        self.columns = self.prepared.get("columns")
        inputs = self.prepared.get("inputs", {}).get("columns", [])
        mixed = any("kind" in column or "gaps" in column for column in inputs)  # dates, categories, gaps
        if self.prepared["version"] != 1 or mixed or not self.prepared["target"].keys() <= {"standard"}:
            raise ValueError(f"{path}: prepare the rows with mars featurize --load")

    def array(self, values):
        return np.asarray(values, dtype=np.float64)

    def get(self, key, default=None):
        return json.loads(self.about[key]) if key in self.about else default

    def __call__(self, rows):
        x = self.array(rows) - self.array(self.prepared.get("centres", 0))
        x = self.array(x.astype(np.float32))
        if standard := self.prepared["target"].get("standard"):
            deviation = self.array(standard["deviation"])
            x = (x - self.array(standard["mean"])) * (deviation > 0) / (deviation + (deviation == 0))
        if self.about["mars.method"] == "hedge":
            return self.hedge(x)
        p = self.network("", x)
        prior = self.get("mars.prior")
        target = self.get("mars.proportions.target", prior)
        if self.decision == "accuracy":  # from the proportions of training to those of the target
            return self.reweight(p, prior, target)
        return p if self.decision is None else self.reweight(p, prior, np.ones(len(prior)))

    def reweight(self, posteriors, source, target):
        factors = np.maximum(target, LEAST) / np.maximum(source, LEAST) * (np.asarray(source) > 0)
        p = posteriors * self.array(factors)
        return p / p.sum(1)[:, None]

    def softmax(self, logits):
        e = np.exp(logits - np.amax(logits, 1)[:, None])
        return e / e.sum(1)[:, None]

    def log(self, posteriors, least):
        return np.log(posteriors * (posteriors > least) + least * (posteriors <= least))

    def network(self, prefix, x):
        """The softmax of h(g(x))."""
        if prefix + "input.offset" in self.tensors:
            x = (x - self.tensors[prefix + "input.offset"]) * self.tensors[prefix + "input.scale"]
        for name in "gh":
            for i, layer in enumerate(self.about[f"{prefix}mars.layers.{name}"].split(", ")):
                if layer.startswith("linear"):
                    x = x @ self.tensors[f"{prefix}{name}.{i}.weight"].T
                    x = x + self.tensors.get(f"{prefix}{name}.{i}.bias", 0)
                elif layer == "relu":
                    x = x * (x > 0)
                elif not layer.startswith("dropout"):  # which does nothing after training
                    raise ValueError(f"layer {layer}: see mars export --to torch")
        return self.softmax(x)

    def hedge(self, x):
        """The mean of the views' posteriors by their weights."""
        about, z, total, weights = self.get("mars.hedge"), self.prepare(x), 0, 0
        for view in about["views"]:
            prefix = f"{view['classifier']}."
            if sum(v["weight"] for v in about["views"] if v["classifier"] == view["classifier"]) < 0.002:
                continue  # the model does not keep what hardly counts
            total = total + view["weight"] * self.reweight(self.ensemble(prefix, z), about["prior"], view.get("carried", view["proportions"]))
            weights += view["weight"]
        p, target = total / weights, np.maximum(self.get("mars.proportions.target"), LEAST)
        if self.decision == "accuracy":
            return p
        return self.reweight(p, target, np.ones(len(target)) if self.decision == "balanced" else about["prior"])

    def prepare(self, x):
        """Columns with one value left out, and the others scaled."""
        about = self.get("prepare")
        x = x[:, about["kept"]]
        if about["counts"]:
            x = np.log1p(x * (x > 0))
            length = (x**2).sum(1)[:, None] ** 0.5
            x = x / (length + (length == 0))
        z = (x - self.array(about["mean"])) * self.array(about["scale"])
        if not about.get("together"):
            z = np.clip(z, -8, 8)
        if "prepare.axes" in self.tensors:  # more than 100 columns: principal components
            z = z @ self.tensors["prepare.axes"] + self.array(about["origin"])
        return self.array(np.asarray(z, np.float32))

    def ensemble(self, prefix, z):
        """The geometric mean of the calibrated posteriors of the classifiers, by their weights."""
        members, logs = self.get(prefix + "ensemble")["members"], 0
        for member in members:
            p = getattr(self, member["name"])(f"{prefix}{member['name']}.", z)
            p = self.softmax(self.log(p, 1e-12) / member["temperature"] + self.array(member["bias"]))
            logs = logs + self.log(p, 1e-6) * member.get("weight", 1 / len(members))
        return self.softmax(logs)

    def logistic(self, prefix, z):
        return self.softmax(z @ self.tensors[prefix + "weights"] + self.tensors[prefix + "bias"])

    def kernel(self, prefix, z):
        landmarks = self.tensors[prefix + "landmarks"]
        squares = (z**2).sum(1)[:, None] + (landmarks**2).sum(1) - 2 * z @ landmarks.T
        k = np.exp(-self.get(prefix + "gamma") * squares)
        return self.softmax(5 * (k @ self.tensors[prefix + "coefficients"] + self.tensors[prefix + "mean"]))

    def trees(self, prefix, z):
        """The softmax of the sums of trees' leaves. A node is its column, left child (0: a leaf), threshold or value, and gaps' way."""
        logits = np.tile(self.tensors[prefix + "start"], (len(z), 1))
        nodes, first = self.tensors.get(prefix + "nodes"), 0
        for number, size in self.tensors.get(prefix + "trees", np.zeros((0, 2))).astype(int):
            tree, at = nodes[first : first + size], np.zeros(len(z), int)
            while (tree[at, 1] > 0).any():
                value = z[np.arange(len(z)), tree[at, 0].astype(int)]
                right = (value > tree[at, 2]) | (np.isnan(value) & (tree[at, 3] == 0))
                at = np.where(tree[at, 1] > 0, tree[at, 1].astype(int) + right, at)
            logits[:, number] += tree[at, 2]
            first += size
        return self.softmax(logits)
