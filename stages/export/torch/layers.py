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
            flat = isinstance(step, (nn.Linear, nn.LayerNorm))
            inputs.append(x.flatten(1) if flat else x)
            x = inputs[-1] + inputs[-1 - step.back] if isinstance(step, Add) else step(inputs[-1])
        return x.flatten(1)


class Networks(nn.Module):
    """g gives the embedding, and h the logits of the classes."""

    def __init__(self, about, tensors):
        super().__init__()
        self.g, self.h = Layers(about["mars.layers.g"]), Layers(about["mars.layers.h"])
        self.load_state_dict({name: t for name, t in tensors.items() if name[:2] in ("g.", "h.")})
        self.shape = json.loads(about["mars.input"])
        for name, default in [("row", 0.0), ("offset", 0.0), ("scale", 1.0)]:
            self.register_buffer(name, tensors.get("input." + name, torch.tensor([default])))
        self.by_row = "input.row" in tensors

    def embed(self, x):
        if self.by_row:  # each row is scaled by its own mean and deviation
            x = x - x.mean(1, keepdim=True)
            x = x / ((x**2).mean(1, keepdim=True).sqrt() + self.row)
        return self.g(((x - self.offset) * self.scale).reshape(-1, *self.shape))

    def forward(self, x):
        return self.h(self.embed(x)).softmax(1)
