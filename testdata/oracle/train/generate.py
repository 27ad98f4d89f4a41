"""Oracle of stages/algorithms/adapt: losses, gradients and loss curves in float64 by PyTorch.

Run with Python 3 and torch 2.15, numpy 2, safetensors 0.6 or later:

    python generate.py

It writes gradients.json, curves.json, class-losses.json, dropout.json, pytorch.safetensors with predictions.json,
residual.safetensors with residual-predictions.json, and mars-read.json, which is what Python's safetensors reads in mars.safetensors, a file that
stages/algorithms/adapt has written (go test ./stages/algorithms/adapt -run Python -update). Weights,
data and batches are formulas (uniform below), so that only results are stored.
"""

import json
import pathlib

import numpy as np
import torch
from safetensors import safe_open
from safetensors.numpy import save_file

torch.set_default_dtype(torch.float64)
HERE = pathlib.Path(__file__).parent
CLASSES, ROWS, BATCH, GAMMA, LAMBDA = 3, 25, 8, 10.0, 0.4
PROPORTIONS = [0.6, 0.3, 0.1]


def uniform(seed, n):
    """n numbers in [0, 1) by splitmix64."""
    with np.errstate(over="ignore"):
        z = (np.uint64(seed << 32) + np.arange(1, n + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)).astype(np.float64) / 2**53


def float32(values):
    return torch.from_numpy(values.astype(np.float32).astype(np.float64))


class Add(torch.nn.Module):
    """Adds the input of the layer that is so many layers back."""

    def __init__(self, back):
        super().__init__()
        self.back = back


class Network(torch.nn.Sequential):
    def forward(self, x):
        inputs = []
        for i, layer in enumerate(self):
            inputs.append(x)
            x = x + inputs[i - layer.back] if isinstance(layer, Add) else layer(x)
        return x


class Linear(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x.flatten(1))


def module(kind, sizes, words):
    if kind == "linear":
        return Linear(*sizes, bias="nobias" not in words)
    if kind == "conv":
        padding = sizes[2] // 2 if "same" in words else 0
        return torch.nn.Conv2d(*sizes, padding=padding, bias="nobias" not in words)
    return {"maxpool": torch.nn.MaxPool2d, "relu": torch.nn.ReLU, "groupnorm": torch.nn.GroupNorm,
            "layernorm": torch.nn.LayerNorm, "add": Add, "avgpool": lambda: torch.nn.AdaptiveAvgPool2d(1)}[kind](*sizes)


def network(text, number):
    """The network of the layers' text, weights by formula, norms near those that they start with."""
    modules = []
    for layer in filter(None, (word.strip() for word in text.split(","))):
        kind, *rest = layer.split()
        modules.append(module(kind, [int(r) for r in rest if r.isdigit()], rest))
    net = Network(*modules)
    fan_in, j = 1, 0
    for m in modules:
        for name, p in m.named_parameters():
            if isinstance(m, (torch.nn.GroupNorm, torch.nn.LayerNorm)):
                fan_in, start = 16, float(name == "weight")
            else:
                fan_in, start = (p[0].numel() if name == "weight" else fan_in), 0
            j += 1
            values = start + (2 * uniform(1000 * number + j, p.numel()) - 1) / np.sqrt(fan_in)
            p.data = float32(values).reshape(p.shape)
    return net


class Setup:
    def __init__(self, arch):
        self.g, self.h, self.v = (network(arch[k], i + 1) for i, k in enumerate("ghv"))
        shape = arch["input"]
        size = int(np.prod(shape))
        self.labels = torch.arange(ROWS) % CLASSES
        shift = 0.3 * self.labels.numpy().repeat(size)
        self.xs = float32(2 * uniform(7, ROWS * size) - 1 + shift).reshape(ROWS, *shape)
        self.xt = float32(2 * uniform(8, ROWS * size) - 0.8).reshape(ROWS, *shape)
        self.arch = arch

    def batch(self, step):
        i = torch.arange(BATCH)
        s, t = (7 * step + i) % ROWS, (11 * step + i) % ROWS
        along = float32(uniform(77 + step, BATCH)).reshape(-1, 1)
        return self.xs[s], self.labels[s], self.xt[t], along


def class_weights(labels, proportions):
    counts = torch.bincount(labels, minlength=CLASSES)
    return torch.tensor(proportions)[labels] / counts[labels]


def distance(v, zs, zt, w, beta):
    return (w * v(zs).squeeze(1)).sum() - (1 + beta) * v(zt).mean()


def penalty(v, zs, zt, along, points):
    between = zs + along * (zt - zs)
    z = (torch.cat([zs, zt, between]) if points == "all" else between).detach().requires_grad_()
    (gradient,) = torch.autograd.grad(v(z).sum(), z, create_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()


def class_loss(setup, z, labels, c):
    return (c * torch.nn.functional.cross_entropy(setup.h(z), labels, reduction="none")).sum()


def domain_loss(setup, zs, zt):
    logits = setup.v(torch.cat([zs, zt]))
    side = torch.cat([torch.zeros(BATCH), torch.ones(BATCH)]).long()
    return 2 * torch.nn.functional.cross_entropy(logits, side)


def coefficients(method, labels):
    uniform_weights = torch.full((BATCH,), 1 / BATCH)
    if method in ("marsc", "marsg", "iw-wd"):
        w = class_weights(labels, PROPORTIONS)
        return w, w
    return uniform_weights, uniform_weights


def critic_losses(setup, run, step):
    xs, labels, xt, along = setup.batch(step)
    with torch.no_grad():
        zs, zt = setup.g(xs).flatten(1), setup.g(xt).flatten(1)
    _, w = coefficients(run["method"], labels)
    d = distance(setup.v, zs, zt, w, run.get("beta", 0))
    return d, penalty(setup.v, zs, zt, along, run["points"])


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z):
        return z.view_as(z)

    @staticmethod
    def backward(ctx, dz):
        return -LAMBDA * dz


def main_losses(setup, run, step):
    """Classification loss, alignment loss as reported, and what is minimised."""
    xs, labels, xt, _ = setup.batch(step)
    zs, zt = setup.g(xs).flatten(1), setup.g(xt).flatten(1)
    c, w = coefficients(run["method"], labels)
    loss = class_loss(setup, zs, labels, c)
    if run["method"] == "source":
        return loss, torch.zeros(()), loss
    if run["method"] == "dann":
        d = domain_loss(setup, Reverse.apply(zs), Reverse.apply(zt))
        return loss, d, loss + d
    d = distance(setup.v, zs, zt, w, run.get("beta", 0))
    return loss, d, loss + LAMBDA * d


def named_gradients(setup, letters, loss):
    """Gradients by the names of a model file: the number of each layer in the text."""
    result = {}
    for letter in letters:
        parameters = [(f"{letter}.{name}", p) for name, p in getattr(setup, letter).named_parameters()]
        if not parameters:
            continue
        gradients = torch.autograd.grad(loss, [p for _, p in parameters], retain_graph=True, allow_unused=True)
        for (name, p), d in zip(parameters, gradients):
            values = torch.zeros_like(p) if d is None else d
            result[name] = [float(f"{x:.9g}") for x in values.flatten().tolist()]
    return result


SMALL = {
    "mlp": {"name": "mlp:5-7-6", "input": [5], "g": "linear 5 7, relu, linear 7 6",
            "h": "linear 6 6, relu, linear 6 3", "v": "linear 6 6, relu, linear 6 1 nobias"},
    "deep": {"name": "deep", "input": [5], "g": "linear 5 7, relu, linear 7 6, relu",
             "h": "linear 6 5, relu, linear 5 3",
             "v": "linear 6 9 nobias, relu, linear 9 8 nobias, relu, linear 8 7 nobias, relu, linear 7 1 nobias"},
    "conv": {"name": "conv", "input": [2, 16, 16],
             "g": "conv 2 3 5, maxpool 2, relu, conv 3 4 5, maxpool 2, relu, linear 4 6, relu",
             "h": "linear 6 5, relu, linear 5 3",
             "v": "linear 6 9, relu, linear 9 4, relu, linear 4 1 nobias"},
    "norm": {"name": "norm", "input": [2, 16, 16],
             "g": "conv 2 4 5 nobias, maxpool 2, groupnorm 2 4, relu, conv 4 6 5 nobias, maxpool 2, groupnorm 3 6, relu, linear 6 7, layernorm 7, relu",
             "h": "linear 7 5, layernorm 5, linear 5 3",
             "v": "linear 7 9, relu, linear 9 4, relu, linear 4 1 nobias"},
    "residual": {"name": "residual", "input": [2, 8, 8],
                 "g": "conv 2 4 3 same nobias, maxpool 2, groupnorm 1 4, relu, "
                      "conv 4 4 3 same nobias, groupnorm 2 4, relu, conv 4 4 3 same, groupnorm 4 4, add 5, relu, avgpool",
                 "h": "linear 4 4, layernorm 4, relu, linear 4 4, add 4, relu, linear 4 3",
                 "v": "linear 4 9, relu, linear 9 4, relu, linear 4 1 nobias"},
}
REAL = {
    "toy": {"name": "toy", "input": [2],
            "g": "linear 2 200, relu, linear 200 200, relu, linear 200 200, relu",
            "h": "linear 200 200, relu, linear 200 3",
            "v": "linear 200 200 nobias, relu, linear 200 200 nobias, relu, linear 200 1 nobias"},
    "digits": {"name": "digits", "input": [1, 28, 28],
               "g": "conv 1 32 5, maxpool 2, relu, conv 32 20 5, maxpool 2, relu, linear 320 128, relu",
               "h": "linear 128 100, relu, linear 100 3",
               "v": "linear 128 100, relu, linear 100 10, relu, linear 10 1 nobias"},
}


def for_method(arch, method):
    if method == "dann":
        return arch | {"v": arch["v"].removesuffix("1 nobias") + "2 nobias"}
    return arch


def gradients():
    cases = []
    for arch in SMALL.values():
        for method, points, beta in [("source", "interpolates", 0), ("wd", "all", 0), ("wd", "interpolates", 2),
                                     ("marsc", "interpolates", 0), ("marsc", "all", 0), ("dann", "interpolates", 0)]:
            setup = Setup(for_method(arch, method))
            run = {"method": method, "points": points, "beta": beta}
            loss, d, total = main_losses(setup, run, 3)
            letters = "ghv" if method == "dann" else "gh"
            case = run | {"arch": setup.arch, "class_loss": loss.item(), "distance": d.item(),
                          "main": named_gradients(setup, letters, total)}
            if method not in ("source", "dann"):
                dc, p = critic_losses(setup, run, 3)
                case |= {"penalty": p.item(), "critic": named_gradients(setup, "v", -dc + GAMMA * p)}
            cases.append(case)
    return cases


def class_losses():
    """The classification loss of MARS with each weighting of the source's rows, by PyTorch's own
    cross entropy and its weights of classes, and its gradients with the alignment left out."""
    cases = []
    for arch in (SMALL["mlp"], SMALL["deep"], SMALL["conv"]):
        for kind in ("weighted", "plain", "balanced"):
            setup = Setup(arch)
            xs, labels, _, _ = setup.batch(3)
            counts = torch.bincount(labels, minlength=CLASSES)
            weight = {"weighted": torch.tensor(PROPORTIONS) / counts, "plain": None, "balanced": 1 / counts}[kind]
            loss = torch.nn.functional.cross_entropy(setup.h(setup.g(xs).flatten(1)), labels, weight=weight)
            cases.append({"arch": setup.arch, "kind": kind, "class_loss": loss.item(), "main": named_gradients(setup, "gh", loss)})
    return cases


class Dropout(torch.nn.Module):
    """torch.nn.Dropout with numbers by formula, so that others can drop the same values."""

    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, x):
        kept = torch.from_numpy(uniform(99, x.numel()) < 1 - self.rate).reshape(x.shape)
        return torch.where(kept, x, 0) / (1 - self.rate)


def dropout():
    """Output and gradients of a network that drops values, for the sum of its squared outputs."""
    net = network("linear 5 8, relu, linear 8 6", 4)
    net = Network(*net, Dropout(0.4), *network("relu, linear 6 3", 5))
    x = float32(2 * uniform(9, BATCH * 5) - 1).reshape(BATCH, 5).requires_grad_()
    y = net(x)
    (y**2).sum().backward()
    return {"layers": "linear 5 8, relu, linear 8 6, dropout 0.4, relu, linear 6 3", "x": x.flatten().tolist(), "y": y.flatten().tolist(),
            "dx": x.grad.flatten().tolist(), "kept": (uniform(99, BATCH * 6) < 0.6).tolist(),
            "parameters": {name: p.flatten().tolist() for name, p in net.named_parameters()},
            "gradients": {name: p.grad.flatten().tolist() for name, p in net.named_parameters()}}


def optimiser(run, nets):
    parameters = [p for net in nets for p in net.parameters()]
    if not parameters:
        return None
    if run["optimiser"] == "adam":
        return torch.optim.Adam(parameters, lr=run["rate"], betas=(0.5, 0.999), weight_decay=run["decay"])
    return torch.optim.SGD(parameters, lr=run["rate"], momentum=run["momentum"], weight_decay=run["decay"])


def curve(arch, run):
    """Ten iterations of two critic steps and one of g and h."""
    setup = Setup(for_method(arch, run["method"]))
    features = optimiser(run, [setup.g, setup.h])
    critic = optimiser(run | {"decay": 0}, [setup.v])
    rows, step = [], 0
    for _ in range(10):
        distances = []
        for _ in range(2 if run["method"] not in ("source", "dann") else 0):
            d, p = critic_losses(setup, run, step)
            step += 1
            critic.zero_grad()
            (-d + GAMMA * p).backward()
            critic.step()
            distances += [d.item(), p.item()]
        loss, d, total = main_losses(setup, run, step)
        step += 1
        features.zero_grad()
        critic.zero_grad()
        total.backward()
        features.step()
        if run["method"] == "dann":
            critic.step()
        rows.append([loss.item(), d.item(), *distances])
    return run | {"arch": setup.arch, "losses": rows}


def curves():
    """Adam on the small network alone, and without the critic's biases: where a gradient is 0
    but for rounding, as that of a bias whose unit is always active or as much in one domain
    as in the other, Adam makes a step of the rounding."""
    result = []
    unbiased = SMALL["mlp"] | {"v": "linear 6 6 nobias, relu, linear 6 1 nobias"}
    for arch, settings in [(REAL["toy"], {"optimiser": "sgd", "rate": 0.01, "momentum": 0, "decay": 0}),
                           (SMALL["deep"], {"optimiser": "sgd", "rate": 0.05, "momentum": 0.9, "decay": 0.01}),
                           (unbiased, {"optimiser": "adam", "rate": 0.001, "momentum": 0, "decay": 0.01}),
                           (REAL["digits"], {"optimiser": "sgd", "rate": 0.01, "momentum": 0, "decay": 0})]:
        for method, beta in [("source", 0), ("dann", 0), ("wd", 0), ("wd", 1), ("iw-wd", 0), ("marsg", 0), ("marsc", 0)]:
            for points in ["interpolates"] if method != "marsc" else ["interpolates", "all"]:
                result.append(curve(arch, settings | {"method": method, "beta": beta, "points": points}))
    return result


def write(name, value):
    (HERE / name).write_text(json.dumps(value, separators=(",", ":")) + "\n")


def model_file(arch, file):
    """A model file as PyTorch's user would write it, with what it predicts."""
    setup = Setup(SMALL[arch])
    tensors = {}
    for letter in "ghv":
        for name, p in getattr(setup, letter).named_parameters():
            tensors[f"{letter}.{name}"] = p.detach().numpy().astype(np.float32)
    metadata = {"mars.format": "mars-model-1", "mars.arch": arch, "mars.input": json.dumps(setup.arch["input"]),
                "mars.classes": '["a","b","c"]', "mars.method": "marsc", "mars.seed": "7", "mars.epoch": "3"}
    metadata |= {f"mars.layers.{letter}": setup.arch[letter] for letter in "ghv"}
    save_file(tensors, HERE / file, metadata)
    probabilities = torch.softmax(setup.h(setup.g(setup.xs).flatten(1)), dim=1)
    return probabilities.flatten().tolist()


def read_mars_file():
    """What Python reads in a file that mars wrote."""
    with safe_open(HERE / "mars.safetensors", "pt") as f:
        tensors = {name: f.get_tensor(name) for name in f.keys()}
        metadata = f.metadata()
    described = {k: {"shape": list(t.shape), "values": t.flatten().tolist()[:5]} for k, t in tensors.items()}
    return {"metadata": metadata, "tensors": described}


if __name__ == "__main__":
    write("gradients.json", gradients())
    write("curves.json", curves())
    write("class-losses.json", class_losses())
    write("dropout.json", dropout())
    write("predictions.json", model_file("conv", "pytorch.safetensors"))
    write("residual-predictions.json", model_file("residual", "residual.safetensors"))
    write("mars-read.json", read_mars_file())
