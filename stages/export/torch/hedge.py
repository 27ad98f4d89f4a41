def logarithm(p, least):
    return p.clamp(min=least).log()


class Linear(nn.Module):
    """Logistic regression, a linear discriminant, and all else that is linear."""

    def __init__(self, about, tensors):
        super().__init__()
        for name in ("weights", "bias"):
            self.register_buffer(name, tensors[name])

    def forward(self, z):
        return (z @ self.weights + self.bias).softmax(1)


class Kernel(nn.Module):
    """Kernel ridge regression."""

    def __init__(self, about, tensors):
        super().__init__()
        for name in ("landmarks", "coefficients", "mean"):
            self.register_buffer(name, tensors[name])
        self.gamma = json.loads(about["gamma"])

    def forward(self, z):
        squares = (z**2).sum(1, keepdim=True) + (self.landmarks**2).sum(1) - 2 * z @ self.landmarks.T
        return (5 * ((-self.gamma * squares).exp() @ self.coefficients + self.mean)).softmax(1)


class Network(nn.Module):
    def __init__(self, about, tensors, classes):
        super().__init__()
        self.present, self.classes = json.loads(about["classifier"])["present"], classes
        self.networks = Networks(about, tensors) if len(self.present) > 1 else None

    def forward(self, z):
        p = z.new_zeros(len(z), self.classes)
        p[:, self.present] = self.networks(z) if self.networks else 1.0
        return p


class Trees(nn.Module):
    """Boosted trees."""

    def __init__(self, about, tensors):
        super().__init__()
        self.register_buffer("start", tensors["start"])
        trees, nodes = tensors.get("trees", torch.zeros(0, 2)), tensors.get("nodes", torch.zeros(0, 4))
        sizes = trees[:, 1].long()
        self.register_buffer("roots", sizes.cumsum(0) - sizes)
        self.register_buffer("classes", trees[:, 0].long())
        self.register_buffer("columns", nodes[:, 0].long())
        left = nodes[:, 1].long()
        self.register_buffer("left", left + (left > 0) * self.roots.repeat_interleave(sizes))  # 0: a leaf
        self.register_buffer("values", nodes[:, 2])
        self.register_buffer("missing", nodes[:, 3] > 0)

    def forward(self, z):
        at = self.roots.expand(len(z), -1)
        while (self.left[at] > 0).any():
            value = z.gather(1, self.columns[at])
            right = (value > self.values[at]) | (value.isnan() & ~self.missing[at])
            at = torch.where(self.left[at] > 0, self.left[at] + right, at)
        logits = self.start.expand(len(z), -1).index_add(1, self.classes, self.values[at])
        return logits.softmax(1)


class Calibrated(nn.Module):
    def __init__(self, about, classifier):
        super().__init__()
        self.classifier, self.temperature = classifier, about["temperature"]
        self.register_buffer("bias", torch.tensor(about["bias"], dtype=torch.float64))

    def forward(self, z):
        return (logarithm(self.classifier(z), 1e-12) / self.temperature + self.bias).softmax(1)


class Ensemble(nn.ModuleList):
    """The geometric mean of the posteriors of its classifiers, by their weights, or those of one as they are."""

    def __init__(self, classifiers, weights, alone):
        super().__init__(classifiers)
        self.weights, self.alone = weights, alone

    def forward(self, z):
        if self.alone:
            return self[0](z)
        return sum(logarithm(classifier(z), 1e-6) * weight for classifier, weight in zip(self, self.weights)).softmax(1)


class Model(Base):
    """The mean of the posteriors under several assumptions, by their weights."""

    def __init__(self, path=None):
        super().__init__(path)
        self.hedge, self.prepared = self.get("mars.hedge"), self.get("prepare")
        self.constant("origin_", self.prepared["mean"])
        self.constant("scale_", self.prepared["scale"])
        if "prepare.axes" in self.tensors:
            self.constant("axes", self.tensors["prepare.axes"])
            self.constant("shift", self.prepared["origin"])
        numbers = sorted({view["classifier"] for view in self.hedge["views"]})
        self.ensembles = nn.ModuleDict({str(c): self.ensemble(f"{c}.") for c in numbers if f"{c}.ensemble" in self.about})
        self.double().eval()

    def part(self, prefix):
        """The metadata and the tensors whose names begin so, without that."""
        return [{name[len(prefix):]: value for name, value in all.items() if name.startswith(prefix)}
                for all in (self.about, self.tensors)]

    def ensemble(self, prefix):
        listed, classifiers = self.get(prefix + "ensemble")["members"], []
        for member in listed:
            about, tensors = self.part(f"{prefix}{member['name']}.")
            classifiers.append(Calibrated(member, self.classifier(about, tensors)))
        return Ensemble(classifiers, [member.get("weight", 1 / len(listed)) for member in listed], listed[0]["name"] == "discriminant")

    def classifier(self, about, tensors):
        """Which it is, its numbers say."""
        if "weights" in tensors:
            return Linear(about, tensors)
        if "landmarks" in tensors:
            return Kernel(about, tensors)
        if "boosting" in about:
            return Trees(about, tensors)
        return Network(about, tensors, len(self.classes))

    def prepare(self, x):
        """Columns with one value left out, and the others scaled."""
        x = x[:, self.prepared["kept"]].double()
        if self.prepared["counts"]:
            x = x.clamp(min=0).log1p()
            length = (x**2).sum(1, keepdim=True).sqrt()
            x = x / (length + (length == 0))
        z = (x - self.origin_) * self.scale_
        if not self.prepared.get("together"):
            z = z.clamp(-8, 8)
        if hasattr(self, "axes"):  # more than 100 columns: principal components
            z = z @ self.axes + self.shift
        return z.float().double()

    def forward(self, x):
        z, total, weights = self.prepare(self.rows(x)), 0, 0
        posteriors = {c: ensemble(z) for c, ensemble in self.ensembles.items()}
        for view in self.hedge["views"]:
            if (c := str(view["classifier"])) in posteriors:
                total = total + view["weight"] * reweight(posteriors[c], self.hedge["prior"], view.get("carried", view["proportions"]))
                weights += view["weight"]
        p, target = total / weights, [max(t, LEAST) for t in self.get("mars.proportions.target")]
        if self.decision == "accuracy":
            return p.float()
        return reweight(p, target, [1] * len(target) if self.decision == "balanced" else self.hedge["prior"]).float()
