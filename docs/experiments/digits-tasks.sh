# Sourced by the experiments on digits: the paper's tasks as streams.
# shares A,B,C...: proportions of classes 0 to 9 in the paper's numbers, which do not always sum to 1.
shares() { awk -v p="$1" 'BEGIN { n = split(p, x, ","); for (i in x) s += x[i]; for (i = 1; i <= n; i++) printf "%s%.9f", (i > 1 ? "," : ""), x[i] / s }'; }

proportions() {
  case $1 in
  *-balanced) shares 1,1,1,1,1,1,1,1,1,1 ;;
  *-mid | mm-1) shares .06,.06,.06,.06,.2,.2,.06,.1,.1,.1 ;;
  *-high) shares .3665,.3651,.0335,.0335,.0335,.0335,.0335,.0335,.0335,.0335 ;;
  mm-2) shares .03,.03,.03,.03,.03,.03,.03,.26,.26,.26 ;;
  mm-3) shares .175,.175,.175,.175,.05,.05,.05,.05,.05,.05 ;;
  *) echo "there is no task $1" >&2; return 2 ;;
  esac
}

source_proportions() {
  case $1 in
  mm-1) shares .05,.05,.05,.05,.05,.15,.15,.15,.15,.15 ;;
  mm-2) shares .26,.26,.26,.03,.03,.03,.03,.03,.03,.03 ;;
  mm-3) shares .05,.05,.05,.05,.05,.05,.175,.175,.175,.175 ;;
  *) shares 1,1,1,1,1,1,1,1,1,1 ;;
  esac
}

# As many rows as in the paper, but for MNIST → USPS: 10,000 source rows are enough, and with
# more than 2,700 target rows USPS has too few of the frequent classes.
task() {
  local mnist=$MARS_DATA/mnist/train-images-idx3-ubyte.gz usps=$MARS_DATA/usps/usps-train.npz files from to
  from=$(source_proportions "$1") to=$(proportions "$1")
  case $1 in
  um-*) files="--source $usps --source-resize 20 --source-pad 4 --target $mnist --target-rows 10000" ;;
  mu-*) files="--source $mnist --source-rows 10000 --target $usps --target-resize 20 --target-pad 4 --target-rows 2700" ;;
  mm-*) files="--source $mnist --source-rows 10000 --colour --target $mnist --target-rows 10000 ${BINARISE---target-binarise} --target-photographs $MARS_DATA/bsds500" ;;
  esac
  mars-featurize -q --truth --seed "$2" $files --source-proportions "$from" --target-proportions "$to" -o "$3"
}
export -f shares proportions source_proportions task
