#!/usr/bin/env bash
# What each part of the default schedule is worth: MARSc on the toy (mid noise, shift 8, target
# balance 66/17/17) and on digits (USPS → MNIST and MNIST → USPS, mid), one thing changed at a
# time. TASKS chooses among toy um-mid mu-mid; VARIANTS what is changed (a word of variant below);
# table.sh says what else the environment sets.
. "$(dirname "$0")/table.sh"
. "$(dirname "$0")/digits-tasks.sh"
TASKS=${TASKS:-toy um-mid mu-mid}

# method VARIANT: the flags of mars-train.
method() {
  echo "--method marsc"
  case $1 in
  default) ;;
  paper) echo "--schedule paper" ;;
  *-epochs) echo "--epochs ${1%-epochs}" ;;
  *-critic-steps) echo "--critic-steps ${1%-critic-steps}" ;;
  lambda-*) echo "--lambda ${1#lambda-}" ;;
  gamma-*) echo "--gamma ${1#gamma-}" ;;
  rate-*) echo "--learning-rate ${1#rate-}" ;;
  adam-*) echo "--optimiser adam --learning-rate ${1#adam-}" ;;
  no-average) echo "--average-from 1000" ;;
  no-decay) echo "--average-from 1000 --decay-from 1000" ;;
  plain | balanced | weighted) echo "--class-loss $1" ;;
  penalty-all) echo "--penalty-points all" ;;
  fresh) echo "--batches fresh" ;;
  *) echo "there is no variant $1" >&2; return 2 ;;
  esac
}

digits_task=$(declare -f task)
eval "digits_$digits_task"
task() {
  case $1 in
  toy) mars-featurize toy -q --truth --seed "$2" --setting mid --shift 8 --target-proportions 0.66,0.17,0.17 -o "$3" ;;
  *) digits_task "$@" ;;
  esac
}
options() { :; }
representation() { :; }
export -f method task digits_task options representation

variants() {
  case $1 in
  toy) echo "${VARIANTS:-default 20-epochs 80-epochs 2-critic-steps 10-critic-steps lambda-0.4 gamma-10 rate-0.02 rate-0.1 adam-5e-4 fresh penalty-all no-average no-decay plain balanced}" ;;
  *) echo "${VARIANTS:-default 10-epochs 40-epochs 2-critic-steps lambda-0.03 lambda-0.1 rate-3e-4 rate-2e-3 no-average no-decay plain weighted}" ;;
  esac
}
seeds() { [ "$1" = toy ] && echo "${SEEDS:-0 1 2}" || echo "${SEEDS:-0}"; }

for t in $TASKS; do for seed in $(seeds "$t"); do echo "$t $seed"; done; done | each stream
for t in $TASKS; do for seed in $(seeds "$t"); do for v in $(variants "$t"); do echo "$t $v $seed"; done; done; done | each measure

processor
for t in $TASKS; do for v in $(variants "$t"); do echo "$t $v $(seeds "$t")"; done; done |
  "$python" "$(dirname "$0")/schedules.py" "$RESULTS"
