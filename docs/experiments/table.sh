# Sourced by the scripts that make the tables of all methods: runs every method on every
# task and seed and keeps what each gave in RESULTS, so that a run that was interrupted goes
# on where it was. Needs GNU time and Python. What the environment sets:
#
#   RESULTS   folder of the results (default: a new one, whose name is printed)
#   JOBS      how many runs at once, each with one thread (default 2)
#   METHODS   of: source dann wd0 to wd4 (wd with that --beta) iw-wd marsg marsc gmm-ot
#   SEEDS     seeds of the data and of training
#   SCHEDULE  default or paper
#   OPTIONS   more options of mars-train, but for gmm-ot, which trains nothing
set -euo pipefail
export RESULTS=${RESULTS:-$(mktemp -d)} SCHEDULE=${SCHEDULE:-default} OPTIONS=${OPTIONS:-}
METHODS=${METHODS:-source dann wd0 wd1 wd2 wd3 wd4 iw-wd marsg marsc gmm-ot}
python=${MARS_PYTHON:-python3}
mkdir -p "$RESULTS/streams"
echo "results: $RESULTS" >&2

# Results of other options are not these.
settings="--schedule $SCHEDULE${OPTIONS:+ $OPTIONS}"
if [ -e "$RESULTS/settings" ] && [ "$(cat "$RESULTS/settings")" != "$settings" ]; then
  echo "$RESULTS has results of $(cat "$RESULTS/settings"), not of $settings: give another RESULTS" >&2
  exit 2
fi
printf '%s\n' "$settings" >"$RESULTS/settings"

# each FUNCTION: calls it with the words of each line of standard input, JOBS at once.
each() { xargs -r -L 1 -P "${JOBS:-2}" bash -euo pipefail -c "$1 \"\$@\"" "$1"; }

# stream TASK SEED: the task's stream in a file, made by the function task TASK SEED FILE.
stream() {
  local file="$RESULTS/streams/$1-$2.arrow"
  [ -e "$file" ] || task "$1" "$2" "$file"
}

# method NAME: the flags of mars-train.
method() {
  case $1 in
  wd[0-9]*) echo "--method wd --beta ${1#wd}" ;;
  *) echo "--method $1" ;;
  esac
}

# fit TASK METHOD SEED: labels the task's stream on standard output. The function options
# TASK gives more flags of mars-train, representation TASK those of mars-embed before
# gmm-ot, if one is needed.
fit() {
  local stream="$RESULTS/streams/$1-$3.arrow" embed
  embed=$(representation "$1")
  if [ "$2" != gmm-ot ]; then
    mars-train -q --jobs 1 --seed "$3" $(method "$2") --schedule "$SCHEDULE" $(options "$1") $OPTIONS "$stream"
  elif [ -z "$embed" ]; then
    mars-train -q --jobs 1 --seed "$3" --method gmm-ot "$stream"
  else
    mars-embed -q --jobs 1 --seed "$3" $embed "$stream" | mars-train -q --jobs 1 --seed "$3" --method gmm-ot
  fi
}

# measure TASK METHOD SEED: keeps the evaluation of a run, its seconds and its peak kilobytes.
measure() {
  local stem="$RESULTS/$1/$2-$3"
  [ -e "$stem.json" ] && return
  mkdir -p "$RESULTS/$1"
  if /usr/bin/time -f '%e %M' -o "$stem.time" bash -euo pipefail -c 'fit "$@"' fit "$@" 2>"$stem.log" | mars-eval --json >"$stem.part" 2>>"$stem.log"; then
    mv "$stem.part" "$stem.json"
    rm "$stem.log"
    echo "$*: $(cat "$stem.time" | sed 's/ .*/ s/')" >&2
  else
    rm -f "$stem.part"
    echo "$*: failed, tried again next time: $(head -1 "$stem.log")" >&2
  fi
}

export -f stream method fit measure

processor() {
  grep -m1 'model name' /proc/cpuinfo | sed 's/.*: /Processor: /'
  mars version | sed 's/^/    /'
  echo "    mars-train $settings, ${JOBS:-2} runs at once with one thread each"
  echo
}
