# Trains models on tables of every kind, and prints each with the rows to label.
set -eu
model() { # TABLE NAME FLAGS
  table=$1 name=$2
  shift 2
  mars label -q --source $table-source.csv --target $table-target.csv --label kind --save $name.model "$@" -o $name-labels.csv
  echo "$name.model $table-target.csv"
}
for table in numbers pair gaps counts wide components mixed crowd; do
  model $table $table
done
for member in logistic kernel network trees; do
  model numbers only-$member --assume same --classifier $member
done
model numbers standardized --standardize source
model gaps robust --standardize domain --scale robust --method marsc --epochs 2
model gaps quantiles --standardize source --scale quantile
model counts quantiles-of-ties --standardize domain --scale quantile --method source --epochs 2
model positive logs --log1p --method translate --epochs 2 --decision balanced
model mixed arcsinh --arcsinh 5 --standardize source --method source --epochs 2
model numbers table-gmm-ot --method gmm-ot
