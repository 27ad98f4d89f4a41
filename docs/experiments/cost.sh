#!/usr/bin/env bash
# Wall seconds and peak memory of training by each method on a stream in a file, every
# training a process of its own: cost.sh STREAM.arrow "METHOD..." [FLAGS of mars-train].
# Needs GNU time.
set -euo pipefail
stream=$1 methods=$2
shift 2

grep -m1 'model name' /proc/cpuinfo | sed 's/.*: /Processor: /'
mars version | sed 's/^/    /'
printf '\n| method | seconds | peak MB |\n|---|---|---|\n'
for method in $methods; do
  cost=$(/usr/bin/time -f '%e %M' mars-train --method "$method" "$@" -q "$stream" 2>&1 >/dev/null | tail -1)
  read -r seconds kilobytes <<<"$cost"
  printf '| %s | %.1f | %d |\n' "$method" "$seconds" $((kilobytes / 1000))
done
