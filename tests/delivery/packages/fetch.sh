#!/bin/sh
# Tests how packaging/static/fetch gets a source package from a repository that changes, or that
# lacks files which its list names. The repository is made in a temporary directory, and apt reads
# only this repository. Needs no network. Prints `ok` lines and `N passed, N failed`.
#
# usage: tests/delivery/packages/fetch.sh
set -u

cd "$(dirname "$0")/../../.." || exit 1
. tests/support/checks.sh
repository=$scratch/repository
dist=$repository/dists/stable
mkdir -p "$repository/pool" "$dist/main/source" "$dist/main/binary-amd64" \
  "$scratch/lists/partial" "$scratch/cache/archives/partial" "$scratch/source/thing"

hash_and_size() { # FILE SUM
  echo "$("$2" <"$1" | cut -d ' ' -f 1) $(stat -c %s "$1")"
}

# Puts a version of the source package `thing` into the pool of the repository.
add_source() { # VERSION
  tarball=thing_$1.tar.gz
  mkdir -p "$scratch/source/thing/debian"
  echo "$1" >"$scratch/source/thing/version"
  printf '#!/bin/sh\n' >"$scratch/source/thing/debian/rules"
  tar -czf "$repository/pool/$tarball" -C "$scratch/source" thing
  cat >"$repository/pool/thing_$1.dsc" <<EOF
Format: 1.0
Source: thing
Binary: thing
Architecture: any
Version: $1
Maintainer: test <test@example.org>
Files:
 $(hash_and_size "$repository/pool/$tarball" md5sum) $tarball
EOF
}

# Writes the repository's list of sources, with the given versions, which are in the pool.
list_sources() { # VERSION...
  for version in "$@"; do
    printf 'Package: thing\nBinary: thing\nVersion: %s\nArchitecture: any\n' "$version"
    printf 'Maintainer: test <test@example.org>\nFormat: 1.0\nDirectory: pool\n'
    echo 'Checksums-Sha256:'
    for file in "thing_$version.dsc" "thing_$version.tar.gz"; do
      echo " $(hash_and_size "$repository/pool/$file" sha256sum) $file"
    done
    echo
  done >"$dist/main/source/Sources"
  {
    printf 'Origin: Debian\nDate: %s\nSuite: stable\nCodename: stable\n' "$(date -Ru)"
    printf 'Components: main\nArchitectures: amd64\nSHA256:\n'
    for file in main/source/Sources main/binary-amd64/Packages; do
      echo " $(hash_and_size "$dist/$file" sha256sum) $file"
    done
  } >"$dist/Release"
}

fetch() {
  packaging/static/fetch "$scratch/kept" thing "$scratch/out" >"$scratch/told" 2>&1
  status=$?
  cat "$scratch/told"
  return $status
}

gives() { # VERSION
  fetch && [ "$(cat "$scratch/out/version")" = "$1" ]
}

warns() { # VERSION
  grep -q "warning: no repository has the newest thing; this is version $1\$" "$scratch/told"
}

# Tests a version that has left the pool, although the lists that apt has kept still name it.
after_a_change() {
  add_source 1.1 && list_sources 1.1 && rm "$repository/pool/thing_1.0".* && gives 1.1
}

# Tests a list that names a version of which the pool has only one of two files.
with_a_newest_that_is_missing() {
  add_source 1.2 && list_sources 1.1 1.2 && rm "$repository/pool/thing_1.2.tar.gz" &&
    rm "$scratch/kept/updated" && gives 1.1 && warns 1.1
}

fails_in_words() {
  rm "$repository/pool"/* && ! fetch && grep -q 'Failed to fetch' "$scratch/told"
}

printf 'Package: thing\nVersion: 1.0\nArchitecture: amd64\nFilename: pool/none\nSize: 1\n\n' \
  >"$dist/main/binary-amd64/Packages"
echo "deb [trusted=yes] file:$repository stable main" >"$scratch/sources.list"
: >"$scratch/status"
cat >"$scratch/apt.conf" <<EOF
Dir::Etc::SourceList "$scratch/sources.list";
Dir::Etc::SourceParts "-";
Dir::State::Lists "$scratch/lists";
Dir::Cache "$scratch/cache";
Dir::State::Status "$scratch/status";
APT::Architecture "amd64";
APT::Sandbox::User "";
Debug::NoLocking "1";
Acquire::AllowInsecureRepositories "true";
APT::Get::AllowUnauthenticated "true";
EOF
export APT_CONFIG="$scratch/apt.conf"
add_source 1.0
list_sources 1.0
apt-get -qq update

check 'a source package is fetched' gives 1.0
check 'a newer one is fetched, though the kept lists are older' after_a_change
check 'if files of the newest are missing, an older one is fetched, with a warning' \
  with_a_newest_that_is_missing
check 'if no version can be fetched, it says why' fails_in_words
counted
