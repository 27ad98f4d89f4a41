"""PyTorch's contender of make bench-train: python with_torch.py THREADS. Written for torch 2.15."""

import sys

import torch

from tasks import GAMMA, LAMBDA, Batch, initial, layers, serve


def network(text, values):
    """nn.Sequential of a network's layers."""
    modules = []
    for kind, sizes, bias in layers(text):
        if kind == "linear":
            modules += [torch.nn.Flatten(), torch.nn.Linear(*sizes, bias=bias)]
        elif kind == "conv":
            modules.append(torch.nn.Conv2d(*sizes, bias=bias))
        elif kind == "groupnorm":
            modules.append(torch.nn.GroupNorm(*sizes))
        elif kind == "layernorm":
            modules.append(torch.nn.LayerNorm(*sizes))
        elif kind == "maxpool":
            modules.append(torch.nn.MaxPool2d(sizes[0]))
        else:
            modules.append(torch.nn.ReLU())
    net = torch.nn.Sequential(*modules)
    for p, v in zip(net.parameters(), values):
        p.data = torch.from_numpy(v)
    return net


class Training:
    """joined: the critic's values and its penalty share one pass, and otherwise each has its own."""

    def __init__(self, task, joined, **options):
        self.joined, self.every = joined, task["points"] == "all"
        self.nets = [network(task[letter], values) for letter, values in zip("ghv", initial(task))]
        self.g, self.h, self.v = self.nets
        self.learned = [*self.g.parameters(), *self.h.parameters()]
        self.main = self.optimiser(task, self.learned, options)
        batch = Batch(task)
        self.rows, self.labels, self.weights = task["batch"], torch.from_numpy(batch.labels), torch.from_numpy(batch.weights)
        self.x, self.aligns = torch.from_numpy(batch.xs), bool(task["points"])
        if self.aligns:
            self.x = torch.cat([self.x, torch.from_numpy(batch.xt)])
            self.along = torch.from_numpy(batch.along)
            self.critic = self.optimiser(task, list(self.v.parameters()), options)

    def optimiser(self, task, parameters, options):
        if task["betas"]:
            return torch.optim.Adam(parameters, lr=task["rate"], betas=task["betas"], **options)
        return torch.optim.SGD(parameters, lr=task["rate"], **options)

    def parameters(self):
        return [[p.detach().numpy() for p in net.parameters()] for net in self.nets]

    def iterate(self):
        z = self.g(self.x)
        penalty = torch.zeros(())
        if self.aligns:
            frozen = z.detach()
            for along in self.along:
                penalty = self.critic_step(frozen, along)
        loss = torch.nn.functional.cross_entropy(self.h(z[:self.rows]), self.labels, reduction="none")
        total = loss = (self.weights * loss).sum()
        distance = torch.zeros(())
        if self.aligns:
            distance = self.distance(self.v(z))
            total = loss + LAMBDA * distance
        self.main.zero_grad()
        total.backward(inputs=self.learned)
        self.main.step()
        return loss.item(), distance.item(), penalty.item()

    def distance(self, values):
        return torch.dot(self.weights, values[:self.rows, 0]) - values[self.rows:2 * self.rows].mean()

    def critic_step(self, z, along):
        zs, zt = z[:self.rows], z[self.rows:]
        between = torch.lerp(zs, zt, along)
        if self.joined:
            points = torch.cat([z, between]).requires_grad_()
            values = held = self.v(points)
            if not self.every:
                held = values[2 * self.rows:]
        else:
            points = (torch.cat([z, between]) if self.every else between).requires_grad_()
            values, held = self.v(z), self.v(points)
        (gradient,) = torch.autograd.grad(held, points, torch.ones_like(held), create_graph=True)
        if self.joined and not self.every:
            gradient = gradient[2 * self.rows:]
        penalty = (torch.linalg.vector_norm(gradient, dim=1) - 1).square().mean()
        self.critic.zero_grad()
        (GAMMA * penalty - self.distance(values)).backward(inputs=list(self.v.parameters()))
        self.critic.step()
        return penalty.detach()


class Plain(Training):
    """As published programs are written: separate passes for each domain, for the critic's
    values of each and for its penalty, and gradients of all parameters."""

    def __init__(self, task):
        super().__init__(task, joined=False)

    def iterate(self):
        if not self.aligns:
            return super().iterate()
        xs, xt = self.x[:self.rows], self.x[self.rows:]
        with torch.no_grad():
            zs, zt = self.g(xs), self.g(xt)
        for along in self.along:
            penalty = self.critic_step(zs, zt, along)
        zs, zt = self.g(xs), self.g(xt)
        loss = (self.weights * torch.nn.functional.cross_entropy(self.h(zs), self.labels, reduction="none")).sum()
        distance = self.distance(zs, zt)
        self.main.zero_grad()
        (loss + LAMBDA * distance).backward()
        self.main.step()
        return loss.item(), distance.item(), penalty.item()

    def distance(self, zs, zt):
        return (self.weights * self.v(zs)[:, 0]).sum() - self.v(zt).mean()

    def critic_step(self, zs, zt, along):
        points = zs + along * (zt - zs)
        if self.every:
            points = torch.cat([zs, zt, points])
        points.requires_grad_()
        values = self.v(points)
        (gradient,) = torch.autograd.grad(values, points, torch.ones_like(values), create_graph=True)
        penalty = ((gradient.norm(2, dim=1) - 1) ** 2).mean()
        self.critic.zero_grad()
        (GAMMA * penalty - self.distance(zs, zt)).backward()
        self.critic.step()
        return penalty.detach()


OPTIMISERS = {"default": {}, "foreach": {"foreach": True}, "fused": {"fused": True}}


def variants(task):
    """The usual way; then with the critic's passes joined or not, each with the optimiser that
    PyTorch chooses, the one over lists of tensors, and the fused one."""
    yield "plain", Plain(task)
    for joined in (True, False) if task["points"] else (False,):
        passes = ("one pass, " if joined else "two passes, ") if task["points"] else ""
        for name, options in OPTIMISERS.items():
            yield f"{passes}{name} optimiser", Training(task, joined, **options)


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[1]))
    serve(f"PyTorch {torch.__version__}, threads: {torch.get_num_threads()}", variants)
