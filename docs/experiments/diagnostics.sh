#!/usr/bin/env bash
# How well the diagnostics tell the tasks at which an estimate or a model fails: the paper's
# toy in all noises, Gaussian classes that have moved each its own way, and the pairs of the
# four cytometry samples. Needs Python with NumPy.
. "$(dirname "$0")/lib.sh"
python=${MARS_PYTHON:-python3}

for noise in low mid high; do
  for shift in 0 3 6 9 12; do
    for balance in 0.34,0.33,0.33 0.66,0.17,0.17 0.8,0.1,0.1 0.1,0.1,0.8; do
      mars-featurize toy -q --setting $noise --shift $shift --target-proportions $balance --truth \
        --source-rows 900 --target-rows 900 -o "$work/toy-$noise-$shift-$balance.arrow"
    done
  done
done

"$python" - "$work" <<'PY'
import sys
import numpy as np
rng = np.random.default_rng(1)
for classes in (3, 10):
    for spread in (0.8, 1.5, 3, 8):
        for move in (0.3, 1, 3, 8):
            means, shares = spread * rng.normal(size=(classes, 8)), rng.dirichlet(np.ones(classes))
            by = move / 2 * (1 + rng.normal(size=(classes, 8)))
            for side, p, moved in (("source", np.full(classes, 1 / classes), 0), ("target", shares, 1)):
                y = np.concatenate([np.repeat(np.arange(classes), 3), rng.choice(classes, 900, p=p)])
                x = means[y] + moved * by[y] + rng.normal(size=(len(y), 8))
                np.savez(f"{sys.argv[1]}/blobs-{classes}-{spread}-{move}.{side}.npz", X=x.astype("f4"), y=y)
PY
for source in "$work"/blobs-*.source.npz; do
  mars-featurize -q --truth --source "$source" --target "${source%.source.npz}.target.npz" -o "${source%.source.npz}.arrow"
done

for from in FTV_1 FTV_4 FTV_7 W2_1; do
  for to in FTV_1 FTV_4 FTV_7 W2_1; do
    [ $from = $to ] || mars-featurize -q --truth --source "$MARS_DATA/hipc/$from.npz" --target "$MARS_DATA/hipc/$to.npz" -o "$work/cytometry-$from-$to.arrow"
  done
done

for task in "$work"/*.arrow; do
  mars proportions -q --json --truth --bootstrap 10 "$task" >"${task%.arrow}.proportions"
  for method in translate marsc wd; do
    mars-train -q --method $method --epochs 20 "$task" 2>/dev/null | mars-eval --json >"${task%.arrow}.$method"
  done
done

"$python" - "$work" <<'PY'
import glob, json, os, sys
names = sorted(os.path.basename(f)[:-12] for f in glob.glob(sys.argv[1] + "/*.proportions"))
read = lambda name: json.load(open(f"{sys.argv[1]}/{name}"))

def auroc(pairs):
    bad, good = [v for v, b in pairs if b], [v for v, b in pairs if not b]
    if not bad or not good:
        return float("nan")
    return sum((x > y) + (x == y) / 2 for x in bad for y in good) / (len(bad) * len(good))

def table(what, tasks, thresholds):
    """tasks: [(family, failed, {sign: value, greater is worse})]"""
    for family in ["all"] + sorted({t[0] for t in tasks}):
        of = [t for t in tasks if family in ("all", t[0])]
        print(f"{what}, {family}: {sum(t[1] for t in of)} of {len(of)} bad; AUROC",
              ", ".join(f"{s} {auroc([(t[2][s], t[1]) for t in of]):.2f}" for s in of[0][2]))
    for sign, limits in thresholds.items():
        for limit in limits:
            over, under = [t[1] for t in tasks if t[2][sign] > limit], [t[1] for t in tasks if t[2][sign] <= limit]
            print(f"  {sign} above {limit}: {sum(over)} of {len(over)} bad; below: {sum(under)} of {len(under)}")

family = lambda name: name.split("-")[0]
reports = {n: read(n + ".proportions") for n in names}
l1 = lambda r, p: sum(abs(a - b) for a, b in zip(p, r["proportions"]["true"]))
ratio = lambda t, key="after": t[key] / t["floor"]
table("proportions of mte", [(family(n), r["proportions_l1"] > 0.2, {
    "disagreement": r["disagreement"], "translation": ratio(r["diagnostics"]["translation"]),
    "before": ratio(r["diagnostics"]["translation"], "before"), "weight": r["diagnostics"]["weights"]["max"],
    "margin": -min(m.get("separation", 0) for m in r["diagnostics"]["matching"].values())})
    for n, r in reports.items()], {"disagreement": [0.2], "translation": [1.2, 1.3, 1.5, 2], "weight": [5, 10]})
for name in ("marsc", "marsg"):
    table("proportions of " + name, [(family(n), l1(r, r["estimators"][name]) > 0.2, {
        "separation": -r["diagnostics"]["matching"][name]["separation"],
        "not monotone": not all(r["diagnostics"]["matching"][name]["monotone"].values()),
        "gap": -r["diagnostics"]["mixture"][name].get("height_gap", 0),
        "ambiguity": r["diagnostics"]["mixture"][name].get("ambiguity", 0)})
        for n, r in reports.items() if name in r["estimators"]],
        {"separation": [-0.5], "not monotone": [0.5], "gap": [-0.1], "ambiguity": [0.03]})
for method in ("translate", "marsc", "wd"):
    runs = {n: read(f"{n}.{method}") for n in names if os.path.getsize(f"{sys.argv[1]}/{n}.{method}")}
    error = lambda e: 1 - e["accuracy"]
    table(f"labels of {method} (bad: 10 points worse than its weighted error on the source)", [(family(n),
        error(e) > e["diagnostics"]["bound"]["weighted_source_error"] + 0.1, {
        "latent": e["diagnostics"]["bound"]["wasserstein"] / e["diagnostics"]["bound"]["wasserstein_floor"],
        **({"translation": ratio(e["diagnostics"]["translation"])} if method == "translate" else
           {"critic": e["diagnostics"]["bound"]["critic_distance"]})})
        for n, e in runs.items()], {"latent": [1.2, 1.3, 1.5, 2]} | ({"translation": [1.2, 1.3, 1.5, 2]} if method == "translate" else {}))
PY
