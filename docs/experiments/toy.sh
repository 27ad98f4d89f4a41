#!/usr/bin/env bash
# The paper's toy at mid noise, shift 8, target balance 66/17/17.
MARS_DATA=${MARS_DATA:-none} . "$(dirname "$0")/lib.sh"
header
for seed in ${SEEDS:-0}; do
  mars-featurize toy -q --setting mid --shift 8 --target-proportions 0.66,0.17,0.17 --truth --seed "$seed" -o "$work/toy.arrow"
  for method in source marsc marsg; do
    row 'toy mid, shift 8, 66/17/17' "$work/toy.arrow" $method --seed "$seed" "$@"
  done
done
