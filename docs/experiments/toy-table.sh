#!/usr/bin/env bash
# Every method on the paper's toy: balanced accuracy against the shift of the class-conditionals
# (setting 2: mid noise, target balance 80/10/10) and against imbalance (setting 4: mid
# noise, setting 6: high noise, both at shift 8, the first class having 34 + 6.4 q % of the target).
# POINTS chooses SETTING:p or SETTING:q; table.sh says what else the environment sets.
. "$(dirname "$0")/table.sh"
POINTS=${POINTS:-2:2 2:5 2:8 4:0 4:5 4:8 6:0 6:5 6:8}

# problem POINT: noise, shift and percentage of the first class.
problem() {
  local at=${1#*:}
  case $1 in
  2:*) echo mid "$at" 80 ;;
  4:*) awk -v q="$at" 'BEGIN { print "mid", 8, int(34 + 6.4 * q) }' ;;
  6:*) awk -v q="$at" 'BEGIN { print "high", 8, int(34 + 6.4 * q) }' ;;
  *) echo "there is no setting ${1%:*} here: choose 2, 4 or 6" >&2; return 2 ;;
  esac
}

task() {
  local noise shift percent found
  found=$(problem "$1")
  read -r noise shift percent <<<"$found"
  mars-featurize toy -q --truth --seed "$2" --setting "$noise" --shift "$shift" -o "$3" \
    --target-proportions "$(awk -v p="$percent" 'BEGIN { r = (100 - p) / 200; print p / 100 "," r "," r }')"
}

# The paper's λ grows with the shift.
options() {
  local noise shift percent found
  found=$(problem "$1")
  read -r noise shift percent <<<"$found"
  [ "$SCHEDULE" != paper ] || awk -v p="$shift" 'BEGIN { print "--lambda", 0.05 * p }'
}

representation() { :; }
export -f problem task options representation

for point in $POINTS; do for seed in ${SEEDS:-0 1 2}; do echo "$point" "$seed"; done; done | each stream
for seed in ${SEEDS:-0 1 2}; do for point in $POINTS; do for name in $METHODS; do
  echo "$point $name $seed"
done; done; done | each measure

processor
for point in $POINTS; do echo "$point $(problem "$point")"; done |
  "$python" "$(dirname "$0")/toy_table.py" "$RESULTS" "$METHODS" "${SEEDS:-0 1 2}"
