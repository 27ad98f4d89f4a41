"""The networks of a model of `mars train --save` or `mars label --save`, in PyTorch.

    networks = Networks("model.safetensors")
    posteriors = networks(x)          # as mars predict gives them

x are rows as a stream of mars featurize has them in the column features: columns of tables,
and pixels of images, with or without the dimensions. networks.g gives the embedding, and
networks.h the logits of the classes. It needs the packages torch and safetensors.
"""

import json

import torch
from safetensors import safe_open
from torch import nn

LEAST = 1e-4  # what a class' share counts as if it is less


class Add(nn.Module):
    """Adds the input of the layer that is so many before this one."""

    def __init__(self, back):
        super().__init__()
        self.back = back


def layer(text):
    kind, *words = text.split()
    sizes = [float(w) if kind == "dropout" else int(w) for w in words if w[0].isdigit()]
    if kind == "linear":
        return nn.Linear(*sizes, bias="nobias" not in words)
    if kind == "conv":
        return nn.Conv2d(*sizes, padding=sizes[2] // 2 if "same" in words else 0, bias="nobias" not in words)
    if kind == "avgpool":
        return nn.AdaptiveAvgPool2d(1)
    others = {"maxpool": nn.MaxPool2d, "relu": nn.ReLU, "dropout": nn.Dropout, "groupnorm": nn.GroupNorm,
              "layernorm": nn.LayerNorm, "add": Add}
    return others[kind](*sizes)


class Layers(nn.Sequential):
    def __init__(self, text):
        super().__init__(*(layer(t) for t in text.split(", ") if t))

    def forward(self, x):
        inputs = []
        for step in self:
            inputs.append(x)
            if isinstance(step, Add):
                x = x + inputs[-1 - step.back]
            else:
                x = step(x.flatten(1) if isinstance(step, nn.Linear) else x)
        return x


class Networks(nn.Module):
    def __init__(self, path):
        super().__init__()
        with safe_open(path, "pt") as file:
            about, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}
        if "mars.layers.g" not in about:
            raise ValueError(f"{path}: a model of {about.get('mars.method')}: see mars_model.py")
        self.classes, self.shape = json.loads(about["mars.classes"]), json.loads(about["mars.input"])
        self.g, self.h = Layers(about["mars.layers.g"]), Layers(about["mars.layers.h"])
        self.load_state_dict({name: t for name, t in tensors.items() if name[:2] in ("g.", "h.")})
        self.row = tensors.get("input.row")  # each row is scaled by its own mean and deviation
        self.offset, self.scale = tensors.get("input.offset", 0), tensors.get("input.scale", 1)
        self.factors = 1.0
        if decision := about.get("mars.decision"):
            prior = json.loads(about["mars.prior"])  # the proportions that training assumed
            target = json.loads(about.get("mars.proportions.target", about["mars.prior"]))
            target = target if decision == "accuracy" else [1] * len(prior)
            self.factors = torch.tensor([max(t, LEAST) / max(p, LEAST) for t, p in zip(target, prior)])
        self.eval()

    def forward(self, x):
        x = torch.as_tensor(x, dtype=torch.float32).flatten(1)
        if self.row is not None:
            x = x - x.mean(1, keepdim=True)
            x = x / ((x**2).mean(1, keepdim=True).sqrt() + self.row)
        x = (x - self.offset) * self.scale
        p = self.h(self.g(x.reshape(-1, *self.shape))).softmax(1) * self.factors
        return p / p.sum(1, keepdim=True)
