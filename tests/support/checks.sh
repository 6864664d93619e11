# Tests in shell that count themselves, to be sourced from the top of the tree: `check` runs a
# command by a name, and `counted` closes with `N passed, N failed`. `$scratch` is a directory that
# is removed at the end; a script with a trap of its own removes it there.

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# usage: check NAME COMMAND...
# Of a command that fails all that it said is shown, or the last `$said_lines` lines, and then
# `$scratch/log`, if there is one.
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

# The last line of the script; its status is that of the script.
counted() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
