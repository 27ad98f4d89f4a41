"""Tables whose columns are of every kind that a model prepares, and small images."""

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
classes = np.array(["a", "b=1", "ü"])


def labelled(n, shares):
    y = rng.choice(3, n, p=shares)
    return y, pd.DataFrame({"kind": classes[y]})


def write(name, source, target):
    source.to_csv(f"{name}-source.csv", index=False)
    target.drop(columns="kind").to_csv(f"{name}-target.csv", index=False)


def table(name, features, n=120):
    both = []
    for shares, moved in [((0.4, 0.3, 0.3), 0.0), ((0.2, 0.2, 0.6), 0.3)]:
        y, frame = labelled(n, shares)
        both.append(pd.concat([features(y, moved), frame], axis=1))
    write(name, *both)


def numbers(y, moved):
    x = rng.normal(size=(len(y), 5)) + y[:, None] * [1.5, -1, 0, 0.5, 0] + moved
    x[:, 1] = 10000 + 0.01 * x[:, 1]  # far from 0
    x[:, 4] = 3  # constant
    return pd.DataFrame(x.astype(np.float32), columns=list("pqrst"))


def gaps(y, moved):
    frame = numbers(y, moved).drop(columns="t")
    for name, share in [("p", 0.3), ("r", 0.02)]:
        frame.loc[rng.random(len(y)) < share, name] = np.nan
    return frame


def counts(y, moved):
    rate = np.exp(rng.normal(size=(3, 220)))[y] * 0.3
    return pd.DataFrame(rng.poisson(rate), columns=[f"g{j}" for j in range(220)])


def wide(y, moved):
    means = np.random.default_rng(1).normal(size=(3, 120))
    return pd.DataFrame(rng.normal(size=(len(y), 120)) + means[y] + moved, columns=[f"w{j}" for j in range(120)])


def components(y, moved):
    x = rng.normal(size=(len(y), 20)) + y[:, None] * (np.arange(20) == 0) + moved / 3
    return pd.DataFrame(x / np.arange(1, 21) ** 0.7, columns=[f"c{j}" for j in range(20)])


def mixed(y, moved):
    n = len(y)
    city = np.where(rng.random(n) < 0.7, np.array(["Bonn", "Köln", "3"])[y], "Trier")
    frame = pd.DataFrame({"age": rng.integers(20, 80, n) + 10.0 * y, "city": city, "zip": rng.choice(["10115", "50667"], n)})
    frame.loc[rng.random(n) < 0.3, "city"] = np.nan
    frame.loc[rng.random(n) < 0.3, "age"] = np.nan
    frame.loc[0, "zip"] = "99999"
    day = pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    frame["seen"] = day.strftime("%Y-%m-%d")
    frame["made"] = (day + pd.to_timedelta(rng.integers(0, 86400, n), unit="s")).strftime("%Y-%m-%d %H:%M:%S")
    frame.loc[3, "seen"] = None
    return frame


for f in (numbers, gaps, counts, wide, components, mixed):
    table(f.__name__, f)
y, frame = labelled(240, (0.4, 0, 0.6))
frame = pd.concat([numbers(y, 0) / [4, 1, 1, 1, 1], frame], axis=1)
write("pair", frame[:120], frame[120:])
positive = lambda y, moved: numbers(y, moved).abs()
table("positive", positive)

means, y = 4 * rng.normal(size=(420, 6)), np.arange(840) % 420
frame = pd.DataFrame((means[y] + rng.normal(size=(840, 6))).astype(np.float32), columns=list("abcdef")).assign(kind=[f"c{k}" for k in y])
write("crowd", frame, frame[:100])

for name, channels in [("grey", 1), ("colour", 3)]:
    patterns = rng.random((3, channels, 28, 28))
    for domain in ("source", "target"):
        y = rng.choice(3, 60)
        x = np.clip(patterns[y] + rng.normal(scale=0.2, size=(60, channels, 28, 28)), 0, 1)
        np.savez(f"{name}-{domain}.npz", X=x.astype(np.float32), **({"y": y} if domain == "source" else {}))
