#!/bin/sh
# Tests the protection of the static program, which may run as root: it must have a different
# address in every process, no memory that can be both written and executed, and relocated pages
# that cannot be written any more. Its code must use no part of the C++ library that
# packaging/static/run_time.cc lacks. Most tests also run on a canary, a program or a description of
# a program that lacks the protection, and must refuse it. Prints `ok` lines and `N passed, N
# failed`.
#
# usage: tests/delivery/static/run.sh    BUILD=build  ARCH=amd64
set -u

cd "$(dirname "$0")/../../.." || exit 1
: "${BUILD:=build}" "${ARCH:=amd64}"
directory=$BUILD/static/$ARCH
upgrader=$(realpath "$directory/upgrader") || exit 1
. tests/support/checks.sh

make_one() {
  env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s BUILD="$BUILD" ARCH="$ARCH" "$directory/tests/$1"
}

# ---- protection that the program's file shows

has_no_fixed_address() {
  readelf -hW "$1" | grep 'Type: *DYN' && readelf -dW "$1" | grep 'FLAGS.*PIE'
}

asks_for_protection() {
  readelf -lW "$1" | grep 'GNU_RELRO' && readelf -dW "$1" | grep 'FLAGS.*NOW'
}

needs_no_loader() {
  ! readelf -lW "$1" | grep INTERP && ! readelf -dW "$1" | grep NEEDED
}

# ---- protection that the kernel shows while the program runs

# Starts the upgrader with an agent that writes the upgrader's memory maps to a file.
look_at_upgrader() {
  # shellcheck disable=SC2016  # the agent expands the text
  printf '#!/bin/sh\ncat "/proc/$PPID/maps" >"$MAPS"\n' >"$scratch/agent"
  chmod +x "$scratch/agent"
  MAPS=$1 timeout 60 "$upgrader" "$scratch/agent" 2>/dev/null
  [ -s "$1" ]
}

# usage: pages_of PROGRAM MAPS
# Prints the access rights of the program's mappings, one on each line.
pages_of() {
  awk -v program="$(realpath "$1")" '$NF == program { print $2 }' "$2"
}

relocated_pages_are_protected() {
  pages_of "$1" "$2" | grep 'r--p'
}

is_writable_and_executable() {
  awk '$2 ~ /w.*x/' "$1" | grep .
}

begins_elsewhere() {
  awk -v program="$(realpath "$1")" '$NF == program { print $1; exit }' "$2" >"$scratch/first"
  awk -v program="$(realpath "$1")" '$NF == program { print $1; exit }' "$3" >"$scratch/second"
  ! cmp "$scratch/first" "$scratch/second"
}

check 'the program has no fixed address' has_no_fixed_address "$upgrader"
check 'it asks for its relocated pages to be protected' asks_for_protection "$upgrader"
check 'it needs no loader and no library' needs_no_loader "$upgrader"
check 'a program with a loader is found (canary)' fails needs_no_loader "$(realpath /bin/sh)"

check 'a program that asks nobody of what kind he is can be linked' make_one kind
check 'a dynamic_cast cannot be linked' fails make_one asks
cp "$scratch/said" "$scratch/refusal"
check 'and for that very reason' grep __dynamic_cast "$scratch/refusal"

if [ "$ARCH" != amd64 ]; then
  echo "report: skipped: how $ARCH's program is mapped: the emulator's own memory is all to be seen"
  counted
  exit
fi

check 'the agent sees how the upgrader is mapped' look_at_upgrader "$scratch/maps"
check 'relocated pages cannot be written' \
  relocated_pages_are_protected "$upgrader" "$scratch/maps"
check 'nothing can be both written and executed' fails is_writable_and_executable "$scratch/maps"
check 'the agent sees it once more' look_at_upgrader "$scratch/again"
check 'another process has another address' \
  begins_elsewhere "$upgrader" "$scratch/maps" "$scratch/again"
check 'the same address is found (canary)' fails \
  begins_elsewhere "$upgrader" "$scratch/maps" "$scratch/maps"
check 'a program without our start can be linked' make_one maps
"$directory/tests/maps" >"$scratch/unprotected"
check 'relocated pages that can be written are found (canary)' fails \
  relocated_pages_are_protected "$directory/tests/maps" "$scratch/unprotected"
echo '0-1 rwxp' >"$scratch/planted"
check 'what can be written and executed is found (canary)' \
  is_writable_and_executable "$scratch/planted"
counted
