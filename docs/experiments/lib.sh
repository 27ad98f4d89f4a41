# Sourced by the experiments: runs a method on a stream in a file and prints a row of
# a Markdown table. Needs GNU time for the memory.
set -euo pipefail
: "${MARS_DATA:?set it to the folder that holds mnist/, usps/ and hipc/}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

value() { sed -n "s/.*\"$1\": \([0-9.e-]*\).*/\1/p" "$2"; }

header() {
  grep -m1 'model name' /proc/cpuinfo | sed 's/.*: /Processor: /'
  mars version | sed 's/^/    /'
  echo
  echo '| task | method | balanced accuracy | accuracy | L1 of p_T | seconds | peak MB |'
  echo '|---|---|---|---|---|---|---|'
}

# row TASK STREAM METHOD [FLAGS...]
row() {
  local task=$1 stream=$2 method=$3
  shift 3
  /usr/bin/time -f '%e %M' -o "$work/time" mars-train --method "$method" "$@" -q "$stream" -o "$work/out.arrow"
  mars-eval --json "$work/out.arrow" >"$work/out.json"
  read -r seconds kilobytes <"$work/time"
  printf '| %s | %s | %.3f | %.3f | %s | %.0f | %.0f |\n' "$task" "$method $*" \
    "$(value balanced_accuracy "$work/out.json")" "$(value accuracy "$work/out.json")" \
    "$(value proportions_l1 "$work/out.json" | xargs -r printf '%.3f')" "$seconds" $((kilobytes / 1000))
}
