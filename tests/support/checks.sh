# Runs tests in shell and counts them. A test sources this file from the top of the tree. `check`
# runs a command under a name, and `counted` prints `N passed, N failed` at the end. `$scratch` is a
# directory that is removed at the end; a script with a trap of its own must remove `$scratch` in
# that trap.

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# usage: check NAME COMMAND...
# Runs the command, which must succeed. If it fails, shows its output, and then `$scratch/log`, if
# that file exists. If `$said_lines` is set, shows only that number of lines from the end of the
# output.
check() {
  name=$1
  shift
  if "$@" >"$scratch/said" 2>&1; then
    passed=$((passed + 1))
    echo "ok $name"
  else
    failed=$((failed + 1))
    echo "not ok $name"
    tail -n "${said_lines:-+1}" "$scratch/said"
    [ ! -e "$scratch/log" ] || cat "$scratch/log"
  fi
}

# usage: check NAME fails COMMAND...    checks that the command fails
fails() {
  ! "$@"
}

# usage: count COMMAND...
# Runs a test program, whose output has a line `N passed, N failed`, and adds these numbers. Shows
# what the program says of failed tests, and its lines `report:`.
count() {
  "$@" >"$scratch/played" 2>&1
  counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$scratch/played")
  [ -n "$counts" ] || { cat "$scratch/played"; counts='0 passed, 1 failed'; }
  grep -E '^(not ok|report:)' "$scratch/played"
  passed=$((passed + ${counts%% *}))
  counts=${counts% failed}
  failed=$((failed + ${counts##* }))
}

# Prints the counts. Must be the last line of the script, so that the script's exit status is that
# of this function.
counted() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
