#!/usr/bin/env bash
# Estimates of the target's proportions, their intervals and expected errors, and labels, on
# tasks with known answers, 4,000 source rows and at most 2,000 target rows each:
# all ordered pairs of the four cytometry samples, the paper's toy, and digits from and to
# USPS and MNIST with ten random proportions each, in the embedding of a network that was
# trained on the source. PARTS chooses among "hipc toy digits"; what came of each task is left in
# the folder STUDY for study.py, which prints the tables; seconds are of processor time. Extra
# arguments go to mars proportions.
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
python=${MARS_PYTHON:-python3}
study=${STUDY:-$work}
mkdir -p "$study"
uniform=0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1
usps=$MARS_DATA/usps/usps-train.npz
mnist=$MARS_DATA/mnist/train-images-idx3-ubyte.gz

# ask NAME: what is estimated and labelled on the stream NAME.arrow, and with what success.
ask() {
  mars proportions -q --json --truth "${options[@]}" "$study/$1.arrow" >"$study/$1.json"
  for decision in accuracy balanced; do
    /usr/bin/time -f %U -o "$study/$1.$decision.seconds" mars-train --method translate --decision $decision -q "$study/$1.arrow" -o "$work/out.arrow"
    mars-eval --json "$work/out.arrow" >"$study/$1.$decision.eval"
  done
}

hipc() {
  for from in FTV_1 FTV_4 FTV_7 W2_1; do
    for to in FTV_1 FTV_4 FTV_7 W2_1; do
      [ $from = $to ] && continue
      mars-featurize -q --truth --seed 1 --source "$MARS_DATA/hipc/$from.npz" --source-rows 4000 \
        --target "$MARS_DATA/hipc/$to.npz" --target-rows 2000 -o "$study/hipc-$from-$to.arrow"
      ask "hipc-$from-$to"
    done
  done
}

toy() {
  for seed in 0 1 2 3 4; do
    mars-featurize toy -q --setting mid --shift 8 --target-proportions 0.66,0.17,0.17 --truth --seed $seed -o "$study/toy-mid-$seed.arrow"
    mars-featurize toy -q --setting high --shift 5 --target-proportions 0.8,0.1,0.1 --truth --seed $seed -o "$study/toy-high-$seed.arrow"
    ask "toy-mid-$seed"
    ask "toy-high-$seed"
  done
}

# proportions prints ten, drawn uniformly from the simplex.
proportions() {
  "$python" -c '
import random
random.seed(0)
for i in range(10):
    p = [random.expovariate(1) for _ in range(10)]
    p = [round(v / sum(p), 4) for v in p]
    p[p.index(max(p))] += 1 - sum(p)
    print(i, ",".join(f"{v:.4f}" for v in p))'
}

# embed: networks for both directions, which see no target row.
embed() {
  mars-featurize -q --source "$usps" --source-resize 20 --source-pad 4 \
    --target "$mnist" --target-rows 10 --target-proportions $uniform |
    mars-embed -q --arch digits --epochs 10 --save "$work/usps-mnist.safetensors" -o "$work/out.arrow"
  mars-featurize -q --source "$mnist" --source-rows 10000 --source-proportions $uniform \
    --target "$usps" --target-resize 20 --target-pad 4 --target-rows 10 --target-proportions $uniform |
    mars-embed -q --arch digits --epochs 10 --save "$work/mnist-usps.safetensors" -o "$work/out.arrow"
}

# direction NAME SEED PROPORTIONS FLAGS...: as many of 2,000 target rows as there are.
direction() {
  local name=$1 seed=$2 target=$3 n
  shift 3
  for n in 2000 1400 1000 700 500; do
    mars-featurize -q --truth --seed "$seed" --source-rows 4000 --source-proportions $uniform \
      --target-rows $n --target-proportions "$target" "$@" -o "$work/images.arrow" 2>"$work/error" && break
  done
  mars-embed -q --load "$work/$name.safetensors" "$work/images.arrow" -o "$study/$name-$seed.arrow"
  ask "$name-$seed"
}

digits() {
  embed
  proportions | while read -r seed target; do
    direction usps-mnist "$seed" "$target" --source "$usps" --source-resize 20 --source-pad 4 --target "$mnist"
    direction mnist-usps "$seed" "$target" --source "$mnist" --target "$usps" --target-resize 20 --target-pad 4
  done
}

options=("$@")
for part in ${PARTS:-hipc toy digits}; do $part; done
"$python" "$here/study.py" "$study"
