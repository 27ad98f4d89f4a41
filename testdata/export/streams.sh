# Trains models of every kind on small streams, and prints each with the rows to label.
set -eu
featurize() { mars featurize "$@" -q; }
featurize toy --source-rows 90 --target-rows 90 --shift 4 -o toy.arrow
featurize --source grey-source.npz --target grey-target.npz -o grey.arrow
featurize --source colour-source.npz --target colour-target.npz -o colour.arrow
mars embed --epochs 1 -q grey.arrow -o embedded.arrow --save embed.safetensors
model() { # STREAM NAME FLAGS
  stream=$1 name=$2
  shift 2
  mars train -q --save $name.model "$@" $stream.arrow -o /dev/null
  echo "$name.model $stream.arrow"
}
echo "embed.safetensors grey.arrow"
for method in source dann wd iw-wd marsg marsc translate; do
  model toy $method --method $method --epochs 2
done
model toy gmm-ot --method gmm-ot
model toy gmm-ot-accuracy --method gmm-ot --decision accuracy
for decision in none balanced; do
  model toy hedge-$decision --method hedge --decision $decision
  model toy translate-$decision --method translate --epochs 2 --decision $decision
done
model toy marsc-accuracy --method marsc --epochs 2 --decision accuracy
for arch in visda office identity mlp:2-7-5; do
  model toy arch-${arch%:*} --method source --arch $arch --epochs 2
done
for input in as-is symmetric standard row; do
  model toy input-$input --method source --input $input --epochs 2
done
for arch in digits ganin digits-gn resnet8 mlp:784-20-10; do
  model grey grey-${arch%:*} --method marsc --arch $arch --epochs 1
done
for arch in ganin resnet8; do
  model colour colour-$arch --method source --arch $arch --epochs 1
done
model grey grey-row --method source --input row --epochs 1
model grey self --method self-training --epochs 1
model grey self-resnet8 --method self-training --arch resnet8 --epochs 1 --decision balanced
model embedded on-embedding --method translate --epochs 1
model embedded gmm-ot-embedding --method gmm-ot
