#!/bin/sh
# Judges the packages of `make deb` as Debian does (lintian, with its pedantic findings), and tests
# them in a small Debian: see in_root.sh. This small Debian, a directory in $BUILD, is made once and
# never changed afterwards: an overlay in memory, which only the test sees, gets the test's changes.
# Prints `ok` lines, a line for the table of results and `N passed, N failed`. Needs to be root, or
# sudo.
#
# usage: tests/delivery/packages/packages.sh    BUILD=build
set -u
export LC_ALL=C

cd "$(dirname "$0")/../../.." || exit 1
: "${BUILD:=build}"
BUILD=$(realpath "$BUILD")
if [ "$(id -u)" != 0 ]; then
  exec sudo -n env BUILD="$BUILD" "PATH=$PATH:/usr/sbin:/sbin" tests/delivery/packages/packages.sh
fi
root=$BUILD/roots/packages
content=g++,libarchive-dev,libcurl4-openssl-dev,libsodium-dev,libuv1-dev,make,pkgconf
content=$content,libgnutls30,libmicrohttpd12,libpcre2-8-0,libprotobuf-lite32,libssl3
. tests/support/checks.sh
said_lines=60

packages='upgrader agent-releases libagent-protocol1 libagent-protocol-dev libagent-releases-dev'
packages="$packages upgrader-fleet-agent upgrader-fleet"
file_of() { ls "$BUILD/deb/$1"_*.deb; }

# Checks that there are the packages of the list above and no others, since docs/packages.md
# installs all files in the directory.
all_there() {
  for package in $packages; do file_of "$package" || return 1; done >"$scratch/wanted"
  sort -o "$scratch/wanted" "$scratch/wanted"
  ls "$BUILD"/deb/*.deb | sort | diff - "$scratch/wanted"
}

# Runs lintian, but without its search for misspelled words in programs, which mistakes machine code
# for text. For example, this search takes the code of a comparison with `silent` for the misspelled
# word "lentH".
lints() {
  lintian --allow-root --pedantic --display-info --suppress-tags spelling-error-in-binary \
    --fail-on error,warning,info,pedantic "$@"
}

# Checks that the overridden findings of lintian are those that debian/*.lintian-overrides lists,
# each with its reason. One line of such a file may stand for several files of the package.
overrides() {
  lints --show-overrides "$BUILD"/deb/*.changes | sed -n 's/^O: \([^ ]*: [^ ]*\).*/\1/p' |
    sort -u >"$scratch/overridden"
  sed -n 's/^\([^# ][^ ]*: [^ ]*\).*/\1/p' debian/*.lintian-overrides | sort -u |
    diff - "$scratch/overridden"
}

# Checks that lintian finds an error: runs lintian on a package whose copyright file was removed.
# Lintian must report the missing file.
lints_spoilt() {
  dpkg-deb -R "$(file_of libagent-protocol1)" "$scratch/spoilt" &&
    rm "$scratch/spoilt/usr/share/doc/libagent-protocol1/copyright" &&
    dpkg-deb --root-owner-group -b "$scratch/spoilt" "$scratch/spoilt.deb" || return 1
  ! lints "$scratch/spoilt.deb" >"$scratch/lint" && cat "$scratch/lint" &&
    grep no-copyright-file "$scratch/lint"
}

multi_arch() { [ "$(dpkg-deb -f "$(file_of "$1")" Multi-Arch)" = "$2" ]; }

# Prints, as `deb` lines, the package sources of Debian that this machine's apt uses.
sources() {
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' | sort -u
}

makes_root() {
  [ "$(cat "$root/content" 2>/dev/null)" = "$content" ] && return
  . /etc/os-release
  rm -rf "$root"
  mkdir -p "$root" &&
    sources | mmdebstrap --variant=minbase --include="$content" \
      --aptopt='APT::Install-Recommends "false"' "$VERSION_CODENAME" "$root/tree" - &&
    echo "$content" >"$root/content"
}

# Runs in_root.sh in the small Debian, with namespaces of its own. So its mounts and processes end
# when the script ends.
# shellcheck disable=SC2016  # expanded by the inner shell
tries() {
  for package in $packages; do file_of "$package"; done >"$scratch/files"
  unshare --mount --pid --fork --net --kill-child sh -euc '
    root=$1 scratch=$2
    mount -t tmpfs -o mode=755 none "$scratch/place"
    mkdir "$scratch/place/upper" "$scratch/place/work" "$scratch/place/merged"
    mount -t overlay -o "lowerdir=$root,upperdir=$scratch/place/upper,workdir=$scratch/place/work" \
      none "$scratch/place/merged"
    cd "$scratch/place/merged"
    mount -t proc none proc
    mount --rbind /dev dev
    mkdir trial
    xargs cp -t trial <"$scratch/files"
    cp "$3" trial/in_root.sh
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/trial \
      chroot . sh /trial/in_root.sh
  ' sh "$root/tree" "$scratch" "$PWD/tests/delivery/packages/in_root.sh" >"$scratch/tried"
}

# Shows the output of the tests of in_root.sh, and counts them.
tell_of_trial() {
  mkdir "$scratch/place"
  tries
  status=$?
  grep -vE '^[0-9]+ passed, ' "$scratch/tried"
  passed=$((passed + $(grep -c '^ok ' "$scratch/tried")))
  failed=$((failed + $(grep -c '^not ok ' "$scratch/tried")))
  check 'all of that was tried' test "$status" = 0
}

check 'there are seven packages' all_there
check 'lintian finds nothing' lints "$BUILD"/deb/*.changes
check 'it was asked to overlook only what is written down' overrides
check 'canary: it finds a package without its copyright' lints_spoilt
check 'the program serves every architecture' multi_arch upgrader foreign
check 'and so does agent-releases' multi_arch agent-releases foreign
check 'libraries for several can stand side by side' multi_arch libagent-protocol1 same
check 'and so can what it takes to build agents' multi_arch libagent-protocol-dev same
check 'and to keep releases' multi_arch libagent-releases-dev same
check 'a small Debian' makes_root
tell_of_trial

sizes=$(for package in $packages; do
  echo "$package $(($(stat -c %s "$(file_of "$package")") / 1024)) KiB,"
done | tr '\n' ' ')
outcome=met
[ "$failed" = 0 ] || outcome="not met: see its output"
echo "result: deb | make deb | ${sizes}$passed passed, $failed failed |" \
  "lintian silent, 0 failed | $outcome"
counted
