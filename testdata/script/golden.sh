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
