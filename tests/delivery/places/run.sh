#!/bin/sh
# Makes complete upgrades, good and bad, in surroundings that lack something, such as /proc, memory
# or space on the disk. Prints `ok` lines and `N passed, N failed`. If this machine cannot make some
# of these surroundings, prints a line `report: skipped` that names them, and does not count their
# tests as passed.
# usage: tests/delivery/places/run.sh    BUILD=build  UPGRADER=build/upgrader
set -u

cd "$(dirname "$0")/../../.." || exit 1
: "${UPGRADER:=${BUILD:-build}/upgrader}"
UPGRADER=$(realpath "$UPGRADER")
sample_agent=$(realpath "${BUILD:-build}/sample-agent/sample-agent")
scratch=$(mktemp -d) || exit 1
export MEMORY_GROUP=/sys/fs/cgroup/memory/upgrader-places-$$
clean_up() {
  rm -rf "$scratch"
  [ ! -d "$MEMORY_GROUP" ] || rmdir "$MEMORY_GROUP"
}
trap clean_up EXIT
passed=0
failed=0

pass() {
  passed=$((passed + 1))
  echo "ok $1"
}

fail() {
  failed=$((failed + 1))
  echo "not ok $1"
  cat "$scratch/said"
}

# usage: try PLACE
# Makes good and bad upgrades in the surroundings PLACE, which the script `in` makes. If the script
# cannot make these surroundings on this machine, prints a line that says so.
try() {
  if ! reason=$(tests/delivery/places/in "$1"); then
    echo "report: skipped: upgrades, $1: $reason"
    return
  fi
  timeout 120 tests/delivery/places/upgrades "$UPGRADER" "$PWD/tests/delivery/places/in" "$1" \
    >"$scratch/said" 2>&1
  if [ $? = 0 ]; then pass "upgrades, $1"; else fail "upgrades, $1"; fi
}

# usage: lacks PLACE COMMAND
# Checks that the surroundings PLACE really lack something: the shell command must fail there. If it
# succeeded, the upgrades in these surroundings would prove nothing.
lacks() {
  tests/delivery/places/in "$1" >/dev/null || return
  if tests/delivery/places/in "$1" sh -c "$2" >"$scratch/said" 2>&1; then
    fail "$1 lacks what it is to lack"
  else
    pass "$1 lacks what it is to lack"
  fi
}

# Checks that an upgrader with a closed standard descriptor refuses to start without /dev/null, and
# says why.
wants_dev_null() {
  tests/delivery/places/in without-devices >/dev/null || return
  tests/delivery/places/in without-devices "$UPGRADER" /bin/true 0<&- >"$scratch/said" 2>&1
  if [ $? = 125 ] && grep -q 'cannot open /dev/null: No such file' "$scratch/said"; then
    pass 'a closed descriptor without /dev/null is refused'
  else
    fail 'a closed descriptor without /dev/null is refused'
  fi
}

# Checks the message about a lock that another process holds. Without /proc, the upgrader cannot
# find out whether the process that the lock's file names still runs, so it must not say that this
# process has gone.
names_the_holder() {
  tests/delivery/places/in without-proc >/dev/null || return
  echo '1 1' >"$scratch/lock"
  flock "$scratch/lock" tests/delivery/places/in without-proc \
    "$UPGRADER" --lock="$scratch/lock" --lock-timeout=1ms /bin/true >"$scratch/said" 2>&1
  if [ $? = 125 ] && grep -q 'process 1 or an agent of it holds it' "$scratch/said"; then
    pass 'without /proc no holder of a lock is called gone'
  else
    fail 'without /proc no holder of a lock is called gone'
  fi
}

# Checks that the sample agent notices a full disk before it is activated.
notices_a_full_disk() {
  tests/delivery/places/in small-disk >/dev/null || return
  mkdir "$scratch/disk"
  if SMALL_DISK=$scratch/disk timeout 120 tests/delivery/places/in small-disk \
    tests/delivery/places/full_disk \
    "$UPGRADER" "$sample_agent" "$scratch/disk" >"$scratch/said" 2>&1; then
    pass 'a full disk makes the sample agent unfit, and never active'
  else
    fail 'a full disk makes the sample agent unfit, and never active'
  fi
}

# Checks that a disk that becomes read-only makes upgrades fail, but ends no agent.
bears_a_read_only_disk() {
  if ! reason=$(tests/delivery/places/in read-only-data); then
    echo "report: skipped: a data disk that becomes read-only: $reason"
    return
  fi
  mkdir "$scratch/data"
  if DATA_DISK=$scratch/data timeout 120 tests/delivery/places/in read-only-data \
    tests/delivery/places/read_only_data "$UPGRADER" "$scratch/data" >"$scratch/said" 2>&1; then
    pass 'a data disk that becomes read-only takes no agent away'
  else
    fail 'a data disk that becomes read-only takes no agent away'
  fi
}

for place in plain without-proc without-sys without-run without-devices read-only descriptors-24 \
  stack-64 memory-32 old-kernel; do
  try $place
done
lacks without-proc 'test -e /proc/self'
lacks without-sys 'test -e /sys/kernel'
lacks without-run 'mkdir -p /run/upgrader'
lacks memory-32 'head -c 64M /dev/zero | tail'
lacks without-devices 'test -e /dev/null'
lacks read-only 'touch /tmp/upgrader-planted'
lacks descriptors-24 'exec 24</'
lacks stack-64 '[ "$(ulimit -s)" != 64 ]'
lacks old-kernel 'python3 -c "import os; os.memfd_create(str(1))"'
wants_dev_null
names_the_holder
notices_a_full_disk
bears_a_read_only_disk
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
