#!/bin/sh
# Makes release archives from a copy of the tree without git, from the unpacked archive, and from a
# commit: all archives must be equal, byte for byte, and must contain every file of the tree and no
# other file. Prints `ok` lines and `N passed, N failed`.
# usage: tests/delivery/packages/archive.sh
set -u
export LC_ALL=C GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
unset MAKEFLAGS MAKELEVEL MFLAGS GIT_DIR GIT_WORK_TREE BUILD

cd "$(dirname "$0")/../../.." || exit 1
. tests/judging/tidy/files.sh
. tests/support/checks.sh

# usage: archive DIRECTORY NAME    makes $scratch/NAME.tar.gz from the tree in the directory
archive() {
  made=$(make -s -C "$1" BUILD=build dist | tail -n 1) && mv "$1/$made" "$scratch/$2.tar.gz"
}

of_the_tree() {
  mkdir "$scratch/tree" && tree_files | tar -c -T - | tar -x -C "$scratch/tree" &&
    archive "$scratch/tree" tree
}

has_all_files() {
  tar -tzf "$scratch/tree.tar.gz" | grep -v '/$' | sed 's|^[^/]*/||' | sort >"$scratch/packed"
  tree_files | diff - "$scratch/packed"
}

# Checks that the archive contains one directory, and that this directory has the archive's name.
has_its_name() {
  version=$(sed -n 's/.*upgrader_version\[\] = "\(.*\)".*/\1/p' base/version.h)
  names=$(tar -tzf "$scratch/tree.tar.gz" | cut -d / -f 1 | sort -u)
  [ -n "$version" ] && [ "$names" = "upgrader-$version" ]
}

# Unpacks an archive, changes the files' owners, times and modes, and makes a new archive from these
# files. The two archives must be equal.
of_itself() {
  mkdir "$scratch/unpacked" && tar -xzf "$scratch/tree.tar.gz" --strip-components=1 -m \
    -C "$scratch/unpacked" && chmod -R g+w,o-rwx "$scratch/unpacked" &&
    (umask 077 && archive "$scratch/unpacked" itself) &&
    cmp "$scratch/tree.tar.gz" "$scratch/itself.tar.gz"
}

git_here() { git -C "$scratch/unpacked" -c user.name=test -c user.email=test "$@"; }

# Makes an archive from a git repository with a changed and a new file that are not committed. These
# changes must not be in the archive.
of_a_commit() {
  git_here init -q && git_here add -A && git_here commit -q -m test &&
    echo planted >>"$scratch/unpacked/NEWS" && echo planted >"$scratch/unpacked/planted" &&
    archive "$scratch/unpacked" commit &&
    cmp "$scratch/tree.tar.gz" "$scratch/commit.tar.gz"
}

tells_of_change() {
  git_here add -A && git_here commit -q -m test && archive "$scratch/unpacked" changed || return 1
  ! cmp "$scratch/tree.tar.gz" "$scratch/changed.tar.gz"
}

check 'an archive of the tree' of_the_tree
check 'it has every file, and no other' has_all_files
check 'it unpacks into a directory of its name' has_its_name
check 'an archive of what was unpacked is the same' of_itself
check 'an archive of a commit is the same' of_a_commit
check 'canary: an archive of another commit is not' tells_of_change
counted
