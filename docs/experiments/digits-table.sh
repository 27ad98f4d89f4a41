#!/usr/bin/env bash
# Every method on the paper's digits: USPS → MNIST and MNIST → USPS at mid (as the OSTAR code
# mends it) and high, and MNIST → MNIST-M at setting 2, beside the paper's numbers. TASKS
# chooses among um-balanced um-mid um-high mu-balanced mu-mid mu-high mm-1 mm-2 mm-3; EPOCHS
# shortens or lengthens training; BINARISE= (empty) leaves the digits of MNIST-M grey;
# without SEEDS, source, marsg and marsc run with seeds 0 1 2 and the others with 0. table.sh
# says what else the environment sets.
: "${MARS_DATA:?set it to the folder that holds mnist/, usps/ and bsds500/}"
OPTIONS="${EPOCHS:+--epochs $EPOCHS}${OPTIONS:+ $OPTIONS}"
. "$(dirname "$0")/table.sh"
TASKS=${TASKS:-um-mid um-high mu-mid mu-high mm-2}

. "$(dirname "$0")/digits-tasks.sh"

options() { :; }
representation() { echo "--arch auto ${EPOCHS:+--epochs $EPOCHS}"; }
export EPOCHS=${EPOCHS:-}
export -f options representation

seeds() {
  case $1 in
  source | marsg | marsc) echo "${SEEDS:-0 1 2}" ;;
  *) echo "${SEEDS:-0}" ;;
  esac
}

for name in $METHODS; do for seed in $(seeds "$name"); do for t in $TASKS; do echo "$t" "$seed"; done; done; done |
  sort -u | each stream
for seed in ${SEEDS:-0 1 2}; do for t in $TASKS; do for name in $METHODS; do
  case " $(seeds "$name") " in *" $seed "*) echo "$t $name $seed" ;; esac
done; done; done | each measure

processor
for name in $METHODS; do echo "$name $(seeds "$name")"; done |
  "$python" "$(dirname "$0")/digits_table.py" "$RESULTS" "$TASKS"
