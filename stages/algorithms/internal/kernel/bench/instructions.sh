#!/bin/sh
# Prints how many instructions mars label executes for arm64 with its kernels and without, counted in an emulator:
# ROWS + ROWS rows (4000 unless said otherwise) of 50 columns and four normal classes in other proportions, moved by a third of a deviation.
# Needs qemu-aarch64 (qemu-user 7.2 or newer), a C compiler and python3 with numpy (PYTHON).
set -eu
rows=${ROWS:-4000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat > "$dir/count.c" <<'C'
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
/* What is used of qemu-plugin.h, version 1 of its interface. */
struct tb;
int qemu_plugin_version = 1;
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(uint64_t, struct tb *));
void qemu_plugin_register_atexit_cb(uint64_t, void (*)(uint64_t, void *), void *);
void qemu_plugin_register_vcpu_tb_exec_inline(struct tb *, int, void *, uint64_t);
size_t qemu_plugin_tb_n_insns(const struct tb *);
static uint64_t executed;
static void translated(uint64_t id, struct tb *tb) {
  qemu_plugin_register_vcpu_tb_exec_inline(tb, 0, &executed, qemu_plugin_tb_n_insns(tb));
}
static void ended(uint64_t id, void *data) {
  FILE *f = fopen(getenv("COUNT"), "w");
  fprintf(f, "%" PRIu64 "\n", executed);
  fclose(f);
}
int qemu_plugin_install(uint64_t id, const void *info, int n, char **words) {
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
C
${CC:-cc} -shared -fPIC -o "$dir/count.so" "$dir/count.c"
GOOS=linux GOARCH=arm64 CGO_ENABLED=0 "${GO:-go}" build -tags noasm -o "$dir/mars" mars.dev/mars/cmd/mars
"${PYTHON:-python3}" - "$rows" "$dir" <<'P'
import sys
import numpy as np

rows, folder = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(1)
means = 0.5 * rng.normal(size=(4, 50))
for name, shares, moved in (("source", [0.25] * 4, 0), ("target", [0.1, 0.2, 0.3, 0.4], 0.3 * rng.normal(size=50))):
    y = rng.choice(4, rows, p=shares)
    x = means[y] + rng.normal(size=(rows, 50)) + moved
    with open(f"{folder}/{name}.csv", "w") as f:
        f.write(",".join([f"x{j}" for j in range(50)] + ["y"] * (name == "source")) + "\n")
        for values, k in zip(x, y):
            f.write(",".join(["%.5g" % v for v in values] + [f"c{k}"] * (name == "source")) + "\n")
P
export COUNT="$dir/count"
for kernel in neon generic; do
  MARS_KERNEL=$kernel qemu-aarch64 -plugin "$dir/count.so" "$dir/mars" label --source "$dir/source.csv" --target "$dir/target.csv" \
    --label y -q --jobs 1 -o "$dir/labels.csv"
  printf '%s\t%s\n' "$kernel" "$(cat "$COUNT")"
done
