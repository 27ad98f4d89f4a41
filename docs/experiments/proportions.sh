#!/usr/bin/env bash
# L1 error of every estimator of the target's proportions on all ordered pairs of the four
# cytometry samples and on the paper's toy. Extra arguments go to mars proportions. Needs
# Python for the sums.
. "$(dirname "$0")/lib.sh"
python=${MARS_PYTHON:-python3}

pairs() {
  for from in FTV_1 FTV_4 FTV_7 W2_1; do
    for to in FTV_1 FTV_4 FTV_7 W2_1; do
      [ $from = $to ] || echo "$from $to"
    done
  done
}

# task NAME: the stream of a task, with truth, on standard output
task() {
  case $1 in
  toy*) mars-featurize toy -q --setting mid --shift 8 --target-proportions 0.66,0.17,0.17 --truth --seed "${1#toy}" ;;
  *) mars-featurize -q --truth --source "$MARS_DATA/hipc/${1%-*}.npz" --target "$MARS_DATA/hipc/${1#*-}.npz" ;;
  esac
}

tasks=$(pairs | tr ' ' -; for seed in 0 1 2 3 4; do echo "toy$seed"; done)
for name in $tasks; do
  task "$name" >"$work/$name.arrow"
  mars proportions -q --json --truth "$@" "$work/$name.arrow" >"$work/$name.json"
done

"$python" - "$work" $tasks <<'PY'
import json, sys
work, tasks = sys.argv[1], sys.argv[2:]
read = lambda name: json.load(open(f"{work}/{name}"))
reports = {t: read(t + ".json") for t in tasks}
families = {"HIPC": [t for t in tasks if not t.startswith("toy")], "toy": [t for t in tasks if t.startswith("toy")]}
mean = lambda values: sum(values) / len(values)
l1 = lambda r, p: sum(abs(a - b) for a, b in zip(p, r["proportions"]["true"]))
print("| mean L1 of p_T |", *[f"{f} |" for f in families])
print("|---|" + "---|" * len(families))
for name in ["mte", "refit", "adapt", "aligned", "cc", "bbse", "rlls", "em", "marsc", "marsg"]:
    print(f"| {name} |", *[f"{mean([l1(reports[t], reports[t]['estimators'][name]) for t in ts]):.3f} |" for ts in families.values()])
print("| source |", *[f"{mean([l1(reports[t], reports[t]['proportions']['source']) for t in ts]):.3f} |" for ts in families.values()])
inside = lambda r: [lo <= p <= hi for lo, p, hi in zip(r["interval"]["lower"], r["proportions"]["true"], r["interval"]["upper"])]
print("\nintervals hold:", *[f"{f} {mean([i for t in ts for i in inside(reports[t])]):.2f}" for f, ts in families.items()])
for t in tasks:
    print(f"{t}: L1 {reports[t]['proportions_l1']:.3f}, disagreement {reports[t]['disagreement']:.3f}, alignment {reports[t]['alignment']:.3f}")
PY
