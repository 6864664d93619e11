#!/bin/sh
# Plays the script for procd with functions in procd's place, and boots of OpenWrt: /var and /tmp
# are empty afterwards, and an update of the system keeps only what keep.d names. Prints `ok` lines
# and `N passed, N failed`.
set -u

cd "$(dirname "$0")/../../.." || exit 1
directory=sample-agent/init/procd
passed=0
failed=0

check() {
  name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    echo "ok $name"
  else
    failed=$((failed + 1))
    echo "not ok $name"
  fi
}

# The command that procd is given, a word on each line.
# shellcheck disable=SC2317  # called by the script
command_of() (
  mkdir() { :; }
  chown() { :; }
  procd_open_instance() { :; }
  procd_close_instance() { :; }
  procd_set_param() {
    [ "$1" = command ] || return 0
    shift
    printf '%s\n' "$@"
  }
  # shellcheck source=/dev/null
  . "./$directory/sample-agent"
  start_service
)

# What must be there after a boot: each path that is written, but for the control directory, which
# is made by the script itself, the lock in it, and the agent's input.
lasting_paths() {
  command_of | sed -n -e 's/^--\(previous\|output\|state\|releases\|events\)=//p' \
    -e '\|^/.*/current$|p'
}

outlives_a_boot() {
  [ "$(lasting_paths | wc -l)" = 6 ] && ! lasting_paths | grep -E '^/(var|tmp|run)/'
}

outlives_an_update() {
  ! lasting_paths | grep -vF "$(grep -v "^#" "$directory/keep.d")"
}

# Debian's paths are not OpenWrt's.
starts_the_package() { command_of | head -n 1 | grep -qx /usr/sbin/upgrader; }

# The script makes the directory of --control and of the lock, which a boot has emptied.
makes_its_directory() {
  made=$(sed -n 's/^  mkdir -p //p' "$directory/sample-agent")
  command_of | grep -qx -- "--control=$made" && command_of | grep -q -- "^--lock=$made/"
}

check 'links, releases and the position outlive a boot' outlives_a_boot
check 'links, releases and the position outlive an update of the system' outlives_an_update
check 'the upgrader is where packages put it' starts_the_package
check 'the directory in memory is made at every start' makes_its_directory
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
