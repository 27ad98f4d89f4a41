class Model(Base):
    def __init__(self, path=None):
        super().__init__(path)
        self.networks = Networks(self.about, self.tensors)
        self.eval()

    def embed(self, x):
        return self.networks.embed(self.rows(x))

    def forward(self, x):
        p = self.networks(self.rows(x))
        if self.decision is None:
            return p
        prior = [max(p, LEAST) for p in self.get("mars.prior")]
        target = self.get("mars.proportions.target", self.get("mars.prior"))
        return reweight(p, prior, target if self.decision == "accuracy" else [1] * len(prior))
