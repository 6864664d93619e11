#!/bin/sh
# Unpacks a release archive, and builds and installs it without a network and without git.
# Prints `ok` lines, a line for the table of results and `N passed, N failed`.
#
# usage: tests/delivery/packages/built_archive.sh ARCHIVE
set -u
export LC_ALL=C
unset MAKEFLAGS MAKELEVEL MFLAGS BUILD

cd "$(dirname "$0")/../../.." || exit 1
archive=$(realpath "$1") || exit 1
. tests/support/checks.sh
said_lines=60
root=$scratch/root

# Runs a command in its own network namespace, so that the command reaches no other host, and with a
# `git` that always fails.
alone() {
  as_whom=--map-root-user
  [ "$(id -u)" = 0 ] && as_whom=
  # shellcheck disable=SC2086  # one option, or empty
  unshare $as_whom --net env PATH="$scratch/no-git:$PATH" "$@"
}

unpacks() {
  mkdir "$scratch/tree" "$scratch/no-git" &&
    tar -xzf "$archive" --strip-components=1 -C "$scratch/tree" &&
    printf '#!/bin/sh\nexit 1\n' >"$scratch/no-git/git" && chmod +x "$scratch/no-git/git" &&
    (cd "$scratch/tree" && find . -type f | sort | xargs sha256sum) >"$scratch/before"
}

# Checks that `alone` isolates its command: there is one network interface, and git fails.
is_alone() {
  interfaces=$(alone grep -c : /proc/net/dev)
  [ "$interfaces" = 1 ] && ! alone git --version
}

builds() { alone make -C "$scratch/tree" -j"$(nproc)"; }

changes_nothing() {
  (cd "$scratch/tree" && find . -type f ! -path './build/*' | sort | xargs sha256sum) |
    diff "$scratch/before" -
}

installs() { alone make -C "$scratch/tree" DESTDIR="$root" PREFIX=/usr "$1"; }

runs() {
  "$root/usr/bin/upgrader" --version && "$root/usr/bin/sample-agent" --version &&
    "$root/usr/bin/upgrader" /usr/bin/true
}

leaves_no_file() {
  installs uninstall || return 1
  left=$(find "$root" ! -type d)
  [ -z "$left" ] || { echo "$left" && return 1; }
}

check 'the archive unpacks' unpacks
check 'there is no network and no git' is_alone
check 'make' builds
check 'nothing is written but into build/' changes_nothing
check 'make install' installs install
check 'what is installed runs' runs
check 'make uninstall leaves no file' leaves_no_file
size=$(stat -c %s "$archive")
outcome=met
[ "$failed" = 0 ] || outcome="not met: see its output"
echo "result: dist | make check-dist | $(basename "$archive"), $((size / 1024)) KiB, built and" \
  "installed without network and git; $passed passed, $failed failed | 0 failed | $outcome"
counted
