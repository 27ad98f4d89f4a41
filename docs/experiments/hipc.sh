#!/usr/bin/env bash
# Flow cytometry, one patient to another in one laboratory: FTV_1 → FTV_7.
. "$(dirname "$0")/lib.sh"
mars-featurize -q --source "$MARS_DATA/hipc/FTV_1.npz" --target "$MARS_DATA/hipc/FTV_7.npz" --truth --standardize source -o "$work/hipc.arrow"

header
for method in source marsc marsg; do
  row 'HIPC FTV_1 → FTV_7' "$work/hipc.arrow" $method --arch mlp:7-100-100 "$@"
done
