# What golden scripts have in common.

# run prints a command, what it says and what it prints. Two files may be read at once: what is said of them is sorted.
# Times and versions are left out.
run() {
  echo "\$ $*"
  "$@" >out 2>err || echo "exit status $?"
  sort err | cat - out | sed 's/([0-9.]* s)//; /mars.provenance/d'
}

# keep FILE COMMAND… runs a command that writes a file, if it does not fail, and prints what is in that.
keep() {
  file=$1
  shift
  rm -f "$file"
  "$@"
  [ ! -f "$file" ] || digest "$file"
}

# filled TABLE ASKED [TYPE] is what mars ask has written, with the types that the rows of a table have, or TYPE in the fourth.
filled() {
  awk -F, -v OFS=, -v fourth=$(($# > 2)) -v other="$3" 'FNR == 1 {for (i = 1; i <= NF; i++) if ($i == "id") at = i; else if ($i == "type") to = i}
    NR == FNR {type[$at] = $to; next} FNR > 1 {$to = fourth && FNR == 5 ? other : type[$at]} {print}' "$1" "$2"
}
