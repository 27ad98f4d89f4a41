#!/bin/sh
# Prints what llvm-mca's models of processors say of the innermost loops for arm64: the cycles that
# the multiply-adds of a loop take alone, as a share of those that the whole loop takes. 100 % means
# that the pipes for multiply-adds are always busy. It is a model: no cache misses, no branches
# mispredicted, and it is as good as LLVM's description of the processor.
# Needs llvm-mca (LLVM 17 or newer: LLVM_MCA) and aarch64-linux-gnu-objdump.
set -eu
mca=${LLVM_MCA:-llvm-mca}
processors="neoverse-n1 neoverse-v2 cortex-a76 apple-m1"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
GOOS=linux GOARCH=arm64 CGO_ENABLED=0 "${GO:-go}" test -tags noasm -c -o "$dir/kernel" mars.dev/mars/stages/algorithms/internal/kernel
aarch64-linux-gnu-objdump -d --no-show-raw-insn "$dir/kernel" > "$dir/code"

# loop NAME prints the longest loop of a function that has no other branch in it.
loop() {
  awk -v name="$1" '
    $0 ~ "\\." name "\\.abi0>:$" { on = 1; next }
    on && /^$/ { exit }
    on { line = $0; sub(/^[^\t]*\t/, "", line); sub(/\/\/.*/, "", line); sub(":", "", $1); number[$1] = ++n; text[n] = line }
    END {
      branch = "^(cbn?z|b\\.?[a-z]*|ret)[ \t]*"
      for (i = 1; i <= n; i++) {
        if (text[i] !~ branch) continue
        target = text[i]; sub(/ *<.*/, "", target); words = split(target, w, /[ ,\t]+/); start = number[w[words]]
        if (!start || start > i) continue
        for (j = start; j < i && text[j] !~ branch; j++) ;
        if (j == i && i - start > best) { best = i - start; from = start; to = i }
      }
      print "loop:"
      for (j = from; j < to; j++) print text[j]
      sub(/[0-9a-f]+ <.*/, "loop", text[to]); print text[to]
    }' "$dir/code"
}

cycles() { "$mca" -mtriple=aarch64 -mcpu="$1" -iterations=200 "$2" 2>/dev/null | awk '/^Total Cycles/ { print $3 }'; }

printf '| loop | instructions | multiply-adds |'
for p in $processors; do printf ' %s |' "$p"; done
printf '\n|---|---|---|---|---|---|---|\n'
for kernel in sgemmWide sgemmNarrow dgemmWide dgemmNarrow convolve3 correlate; do
  loop "${kernel}NEON" > "$dir/loop.s"
  grep fmla "$dir/loop.s" > "$dir/fmla.s"
  printf '| %s | %d | %d |' "$kernel" "$(grep -vc : "$dir/loop.s")" "$(grep -c . "$dir/fmla.s")"
  for p in $processors; do
    printf ' %.0f %% |' "$(echo "$(cycles "$p" "$dir/fmla.s") $(cycles "$p" "$dir/loop.s")" | awk '{ print 100 * $1 / $2 }')"
  done
  printf '\n'
done
