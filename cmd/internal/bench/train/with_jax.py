"""JAX's contender of make bench-train: python with_jax.py. Written for jax 0.10. It uses as
many threads as there are processors on which the process may run."""

import os

import jax
import jax.numpy as jnp
import numpy as np

from tasks import GAMMA, LAMBDA, Batch, initial, layers, serve


def normal(x, axes):
    """x with mean 0 and variance 1 over the axes, as PyTorch's norms compute it."""
    x = x - x.mean(axes, keepdims=True)
    return x / jnp.sqrt((x * x).mean(axes, keepdims=True) + 1e-5)


def network(text):
    """The network as a function of parameters, in PyTorch's order, and rows. Images are
    N×H×W×C."""
    plan = list(layers(text))

    def apply(p, x):
        p = iter(p)
        for kind, sizes, bias in plan:
            if kind == "linear":
                if x.ndim > 2:
                    x = jnp.transpose(x, (0, 3, 1, 2)).reshape(x.shape[0], -1)
                x = x @ next(p).T + (next(p) if bias else 0)
            elif kind == "conv":
                x = jax.lax.conv_general_dilated(x, next(p), (1, 1), "VALID", dimension_numbers=("NHWC", "OIHW", "NHWC"))
                x = x + (next(p) if bias else 0)
            elif kind == "groupnorm":
                n, h, w, c = x.shape
                x = normal(x.reshape(n, h, w, sizes[0], c // sizes[0]), (1, 2, 4)).reshape(n, h, w, c) * next(p) + next(p)
            elif kind == "layernorm":
                x = normal(x, (1,)) * next(p) + next(p)
            elif kind == "maxpool":
                n, h, w, c = x.shape
                x = x.reshape(n, h // 2, 2, w // 2, 2, c).max((2, 4))
            else:
                x = jax.nn.relu(x)
        return x
    return apply


def optimiser(task):
    """The functions init(parameters) and update(parameters, gradients, state), as PyTorch
    defines them."""
    rate = task["rate"]
    if not task["betas"]:
        return lambda p: (), lambda p, g, s: (jax.tree.map(lambda w, d: w - rate * d, p, g), s)
    one, two = task["betas"]

    def init(p):
        return jax.tree.map(jnp.zeros_like, p), jax.tree.map(jnp.zeros_like, p), jnp.zeros((), jnp.int32)

    def update(p, g, state):
        m, v, step = state
        step = step + 1
        m = jax.tree.map(lambda m, d: one * m + (1 - one) * d, m, g)
        v = jax.tree.map(lambda v, d: two * v + (1 - two) * d * d, v, g)
        length = rate / (1 - one ** step)
        root = jnp.sqrt(1 - two ** step)
        p = jax.tree.map(lambda w, m, v: w - length * m / (jnp.sqrt(v) / root + 1e-8), p, m, v)
        return p, (m, v, step)
    return init, update


def iteration(task, joined):
    """The jitted iteration. joined: the critic's values and its penalty share one pass, and
    otherwise each has its own. The batch is an argument: from a constant the compiler could
    compute more in advance than is possible in training."""
    rows, every, aligns = task["batch"], task["points"] == "all", bool(task["points"])
    g, h, v = (network(task[letter]) for letter in "ghv")
    _, update = optimiser(task)

    def distance(values, weights):
        return weights @ values[:rows] - values[rows:2 * rows].mean()

    def held_values(p, points):
        values = v(p, points)[:, 0]
        return (values if every or not joined else values[2 * rows:]).sum(), values

    def critic_loss(p, z, along, weights):
        between = z[:rows] + along * (z[rows:] - z[:rows])
        points = jnp.concatenate([z, between]) if every or joined else between
        gradient, values = jax.grad(held_values, 1, has_aux=True)(p, points)
        if joined and not every:
            gradient = gradient[2 * rows:]
        penalty = jnp.mean((jnp.sqrt((gradient ** 2).sum(1)) - 1) ** 2)
        return GAMMA * penalty - distance(values if joined else v(p, z)[:, 0], weights), penalty

    def critic_steps(p, state, z, along, weights):
        def step(carry, along):
            p, state = carry
            gradients, penalty = jax.grad(critic_loss, has_aux=True)(p, z, along, weights)
            return update(p, gradients, state), penalty
        (p, state), penalties = jax.lax.scan(step, (p, state), along)
        return p, state, penalties[-1]

    def main_loss(z, p, p_v, labels, weights):
        chosen = jnp.take_along_axis(jax.nn.log_softmax(h(p, z[:rows])), labels[:, None], 1)[:, 0]
        loss = -(weights @ chosen)
        d = distance(v(p_v, z)[:, 0], weights) if aligns else 0.0
        return loss + LAMBDA * d, (loss, d)

    def run(nets, states, x, labels, weights, along):
        (p_g, p_h, p_v), (state, state_v) = nets, states
        z, pull = jax.vjp(lambda p: g(p, x), p_g)
        penalty = 0.0
        if aligns:
            p_v, state_v, penalty = critic_steps(p_v, state_v, z, along, weights)
        (dz, d_h), (loss, d) = jax.grad(main_loss, (0, 1), has_aux=True)(z, p_h, p_v, labels, weights)
        (p_g, p_h), state = update((p_g, p_h), (*pull(dz), d_h), state)
        return (p_g, p_h, p_v), (state, state_v), (loss, d, penalty)
    return jax.jit(run, donate_argnums=(0, 1))


class Training:
    def __init__(self, task, joined):
        batch = Batch(task)
        x = np.concatenate([batch.xs, batch.xt]) if task["points"] else batch.xs
        if x.ndim > 2:
            x = x.transpose(0, 2, 3, 1)
        self.run = iteration(task, joined)
        self.batch = [jnp.asarray(a) for a in (x, batch.labels, batch.weights, batch.along)]
        self.nets = tuple([jnp.array(p) for p in net] for net in initial(task))
        init, _ = optimiser(task)
        self.states = init((self.nets[0], self.nets[1])), init(self.nets[2])

    def parameters(self):
        return self.nets

    def iterate(self):
        self.nets, self.states, losses = self.run(self.nets, self.states, *self.batch)
        jax.block_until_ready((self.nets, self.states))
        return losses


def variants(task):
    """The critic's passes joined or not. (With its steps unrolled, compilation takes several
    times as long and the program is no faster.)"""
    for joined in (False, True) if task["points"] else (False,):
        yield ("one pass" if joined else "two passes") if task["points"] else "jitted", Training(task, joined)


if __name__ == "__main__":
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    serve(f"JAX {jax.__version__}, processors: {processors}", variants)
