class Model(Base):
    """Gaussian components, each of which is of a class."""

    def __init__(self, path=None):
        super().__init__(path)
        for name in ("constants", "means", "whiten"):  # each is the sum of two tensors
            self.constant(name, self.tensors[name].double() + self.tensors[name + ".rest"].double())
        self.constant("member", self.tensors["member"])
        self.eval()

    def forward(self, x):
        white = (self.rows(x).double() - self.means) @ self.whiten
        p = (self.constants - (white**2).sum(2).T / 2).softmax(1) @ self.member
        if self.decision is None:
            return p.float()
        prior, target = self.get("mars.prior"), self.get("mars.proportions.target")
        return reweight(p, prior, target if self.decision == "accuracy" else [1] * len(prior)).float()
