#!/bin/sh
# Tests the service script for procd, the init of OpenWrt, without procd: this test defines the
# functions of procd that the script calls. The files that the upgrader and its agent keep must not
# be lost: a boot of OpenWrt empties /var and /tmp, and an update of the system keeps only the files
# that keep.d names. Prints `ok` lines and `N passed, N failed`.
set -u

cd "$(dirname "$0")/../../.." || exit 1
directory=sample-agent/init/procd
. tests/support/checks.sh

# Prints the command that the service script gives to procd, a word on each line.
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

# Prints the paths in the upgrader's command line that must outlive a boot. Leaves out the control
# directory, which the script itself makes, the lock in that directory, and the agent's input.
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

# Checks that the script starts the upgrader by OpenWrt's path, which differs from Debian's.
starts_the_package() { command_of | head -n 1 | grep -qx /usr/sbin/upgrader; }

# Checks that the script makes the directory of --control, which also has the lock's file. A boot
# removes this directory.
makes_its_directory() {
  made=$(sed -n 's/^  mkdir -p //p' "$directory/sample-agent")
  command_of | grep -qx -- "--control=$made" && command_of | grep -q -- "^--lock=$made/"
}

check 'links, releases and the position outlive a boot' outlives_a_boot
check 'links, releases and the position outlive an update of the system' outlives_an_update
check 'the upgrader is where packages put it' starts_the_package
check 'the directory in memory is made at every start' makes_its_directory
counted
