import hashlib
import json
import pathlib

import torch
from safetensors import safe_open
from torch import nn

LEAST = 1e-4  # what a class' share counts as if it is less


def reweight(posteriors, source, target):
    """Posteriors that carry the proportions source, with those of target."""
    factors = [max(t, LEAST) / s if s > 0 else 0 for s, t in zip(source, target)]
    p = posteriors * torch.tensor(factors, dtype=posteriors.dtype, device=posteriors.device)
    return p / p.sum(1, keepdim=True)


def normal_scores(x, quantiles):
    """The normal score of the share of rows below each value of a column."""
    last = len(quantiles) - 1
    below, not_above = torch.searchsorted(quantiles, x), torch.searchsorted(quantiles, x, right=True)
    k = below.clamp(min(1, last), last)
    between = k - 1 + (x - quantiles[k - 1]) / (quantiles[k] - quantiles[k - 1])
    share = torch.where(not_above > below, (below + not_above - 1) / 2.0, between) / max(last, 1)
    share[x >= quantiles[-1]] = 1
    share[x <= quantiles[0]] = 0
    return torch.special.ndtri(share.clamp(1e-7, 1 - 1e-7)) * float(quantiles[0] < quantiles[-1])


class Base(nn.Module):
    def __init__(self, path):
        super().__init__()
        if path is None:
            path = pathlib.Path(__file__).with_name(FILE)
            if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256:
                raise ValueError(f"{path} is not the file that {__file__} was written with: export the model again")
        with safe_open(path, "pt") as file:
            self.about = file.metadata()
            self.tensors = {name: file.get_tensor(name) for name in file.keys()}
        self.classes, self.decision = self.get("mars.classes"), self.about.get("mars.decision")
        prepared = {} if PREPARED else self.get("mars.preparation", {})
        inputs = prepared.get("inputs", {}).get("columns", [])
        self.columns = [c["name"] for c in inputs] or prepared.get("columns")
        self.side = prepared.get("target", {})
        self.constant("fill", [c["fill"] for c in inputs] or 0)
        centres = [c.get("centre", 0) for c in inputs] or prepared.get("centres", [])
        self.constant("centre", centres if any(centres) else 0)
        self.kept = [j for j, c in enumerate(inputs) if c.get("parts")]
        self.gaps = [j for j, c in enumerate(inputs) if c.get("gaps")]
        self.order = sorted(range(len(self.kept + self.gaps)), key=(self.kept + self.gaps).__getitem__)
        if standard := self.side.get("standard"):
            self.constant("mean", standard["mean"])
            self.constant("scale", [1 / d if d > 0 else 0 for d in standard["deviation"]])
        if quantiles := self.side.get("quantiles"):
            self.constant("quantiles", quantiles["values"])

    def constant(self, name, values):
        self.register_buffer(name, torch.as_tensor(values, dtype=torch.float64))

    def get(self, key, default=None):
        return json.loads(self.about[key]) if key in self.about else default

    def rows(self, x):
        """Rows as the model was trained on, n×d of float32, of those of a table."""
        kind = torch.float64 if self.centre.any() else torch.float32
        x = torch.as_tensor(x, dtype=kind, device=self.fill.device).flatten(1)
        if kind == torch.float64:
            x = (x - self.centre).float()
        if self.kept or self.gaps:
            missing = x.isnan()
            x = torch.where(missing, self.fill.float(), x)
            x = torch.cat([x[:, self.kept], missing[:, self.gaps].float()], 1)[:, self.order]
        numbers = [k for k, i in enumerate(self.order) if i < len(self.kept)] or slice(None)
        if transform := self.side.get("transform"):
            x, cofactor = x.clone(), transform.get("arcsinh")
            v = x[:, numbers].double()
            x[:, numbers] = (torch.asinh(v / cofactor) if cofactor else torch.log1p(v)).float()
        if "standard" in self.side:
            x = ((x.double() - self.mean) * self.scale).float()
        if "quantiles" in self.side:
            columns = zip(x.double().T.contiguous(), self.quantiles)
            x = torch.stack([normal_scores(*both) for both in columns], 1).float()
        return x
