#!/bin/sh
# Runs the tidy checks on the tree, except for those that compile, which the script `compiling`
# runs. With --canaries, runs the canary of every check instead: plants violations in a copy of the
# tree, and runs the check on this copy. The check must report these violations. Prints `ok NAME` or
# `not ok NAME: where` lines and at the end `N passed, N failed`. A check that cannot be run on this
# machine is reported as `skipped`, and is not counted as passed.
#
# usage: tests/judging/tidy/run.sh [--canaries | --compiling] [CHECK ...]
#        UPGRADER=build/upgrader, CXX=g++, BUILD=build
#
# A check is a function check_NAME that looks at the tree in the current directory and prints one
# line for each violation, or returns 77 and prints the reason why it cannot be run. canary_NAME
# plants violations in the tree in the current directory. For each violation, canary_NAME prints a
# text that the output of check_NAME must then contain.
set -u
export LC_ALL=C

root=$(cd "$(dirname "$0")/../../.." && pwd) || exit 1
cd "$root" || exit 1
: "${UPGRADER:=${BUILD:-build}/upgrader}"
case $UPGRADER in /*) ;; *) UPGRADER=$root/$UPGRADER ;; esac
export UPGRADER

scratch=$(mktemp -d "${TMPDIR:-/tmp}/tidy.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

. tests/judging/tidy/files.sh
. tests/judging/tidy/layers.sh
. tests/judging/tidy/shape.sh
. tests/judging/tidy/words.sh
. tests/judging/tidy/pages.sh
. tests/judging/tidy/protocol_pages.sh
. tests/judging/tidy/living_pages.sh
. tests/judging/tidy/front_pages.sh

passed=0
failed=0
skipped=0

pass() {
  passed=$((passed + 1))
  echo "ok $1"
}

fail() {
  failed=$((failed + 1))
  echo "not ok $1: $2"
}

# usage: skip NAME FILE-WITH-THE-REASON
skip() {
  skipped=$((skipped + 1))
  echo "skipped $1: $(cat "$2")"
}

# Runs the check NAME on the tree itself.
try_check() {
  ("check_$1") >"$scratch/found" 2>&1
  if [ $? = 77 ]; then
    skip "$1" "$scratch/found"
  elif [ -s "$scratch/found" ]; then
    fail "$1" "$(wc -l <"$scratch/found") found"
    sed 's/^/  /' "$scratch/found"
  else
    pass "$1"
  fi
}

list_tree "$scratch/listed"

# The next two functions keep a copy of the tree, in which the functions canary_NAME plant
# violations. renew_copy makes the copy, or undoes all changes in it. of_copy runs git on the copy.
# The git repository is beside the copy, so that the copy has only files of the tree.
of_copy() {
  git --git-dir="$scratch/record" --work-tree="$scratch/tree" -C "$scratch/tree" \
    -c core.autocrlf=false -c user.name=tidy -c user.email=tidy@localhost -c gc.auto=0 "$@"
}
renew_copy() {
  if [ -d "$scratch/record" ]; then
    of_copy reset -q --hard && of_copy clean -ffdxq
    return
  fi
  mkdir "$scratch/tree"
  tree_files | tar -cf - -T - | tar -xf - -C "$scratch/tree"
  git init -q --bare "$scratch/record" && of_copy add -Af . && of_copy commit -qm copy
}

# Lists the files that a function canary_NAME has added to the copy of the tree, or changed there.
planted_files() {
  of_copy ls-files --others --modified --exclude-standard
}

# Reads a list of files, and passes on those that a check must judge. In the tree itself, these are
# all files. In the copy of the tree, these are only the files in which a function canary_NAME has
# planted violations: the tree itself is judged, too, so the other files need not be judged again.
only_planted() {
  if [ -n "${in_copy:-}" ]; then
    planted_files >"$scratch/new"
    grep -xFf "$scratch/new"
  else
    cat
  fi
}

# Runs the check NAME on a copy of the tree in which the function canary_NAME has planted
# violations.
try_canary() {
  renew_copy || { fail "$1, canary" 'no copy of the tree can be made'; return; }
  (cd "$scratch/tree" && "canary_$1") >"$scratch/planted" 2>&1
  (
    cd "$scratch/tree" && in_copy=1 && list_tree "$scratch/listed_copy" && "check_$1"
  ) >"$scratch/caught" 2>&1
  if [ $? = 77 ]; then
    skip "$1, canary" "$scratch/caught"
    return
  fi
  missed=$(while IFS= read -r text; do
    grep -qF -- "$text" "$scratch/caught" || echo "$text"
  done <"$scratch/planted")
  if [ ! -s "$scratch/planted" ]; then
    fail "$1, canary" 'planted nothing'
  elif [ -n "$missed" ]; then
    fail "$1, canary" "not caught: $missed"
  else
    pass "$1, canary"
  fi
}

# The checks that compile. They take as long as all other checks together.
compiling_checks='examples first_change'

try=try_check
compiling=
case ${1:-} in
  --canaries) try=try_canary compiling=$compiling_checks && shift ;;
  --compiling) shift && set -- $compiling_checks ;;
esac
# shellcheck disable=SC2086  # lists of names
[ $# -gt 0 ] || set -- $layer_checks $shape_checks $word_checks $page_checks $protocol_checks \
  $living_checks $front_checks $compiling
for name in "$@"; do
  "$try" "$name"
done

[ "$skipped" = 0 ] || echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
