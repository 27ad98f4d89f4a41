#!/usr/bin/env bash
# USPS → MNIST and MNIST → USPS with the proportions "mid" of the paper's supplement (as the
# OSTAR code mends them), source alone and MARSc. Extra arguments go to mars-train.
. "$(dirname "$0")/lib.sh"
mid=0=0.06,1=0.06,2=0.06,3=0.06,6=0.06,4=0.2,5=0.2,7=0.1,8=0.1,9=0.1
uniform=0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1

mars-featurize -q --source "$MARS_DATA/usps/usps-train.npz" --source-resize 20 --source-pad 4 --source-proportions $uniform \
  --target "$MARS_DATA/mnist/train-images-idx3-ubyte.gz" --target-proportions $mid --target-rows 10000 --truth -o "$work/um.arrow"
mars-featurize -q --source "$MARS_DATA/mnist/train-images-idx3-ubyte.gz" --source-proportions $uniform --source-rows 10000 \
  --target "$MARS_DATA/usps/usps-train.npz" --target-resize 20 --target-pad 4 --target-proportions $mid --target-rows 2700 --truth -o "$work/mu.arrow"

header
for method in source marsc; do
  row 'USPS → MNIST mid' "$work/um.arrow" $method --arch digits "$@"
  row 'MNIST → USPS mid' "$work/mu.arrow" $method --arch digits "$@"
done
