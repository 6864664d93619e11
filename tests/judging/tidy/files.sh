# Lists the files of the tree for the tidy checks. Every list is of the tree in the current
# directory, without the files that a build or git leaves there.

tree_files() {
  if [ "$PWD" = "${listed_tree:-}" ]; then
    cat "$listing"
    return
  fi
  find . \( -path './.git' -o -path './build*' -o -path ./sample-agent/build \) -prune \
    -o -type f ! -name '*.deb' ! -name '*.swp' -print |
    grep -vE "$packaging_leavings" | sed 's|^\./||' | sort
}

# Writes the list of the tree's files to the file $1. As long as the current directory stays the
# same, tree_files then prints that file, and does not search again.
list_tree() {
  listed_tree=
  listing=$1
  tree_files >"$listing"
  listed_tree=$PWD
}

# Files that debhelper leaves in debian/ if packages are built in the tree itself.
own_packages='upgrader|upgrader-fleet(-agent)?|agent-releases|'
own_packages="${own_packages}libagent-(protocol1|protocol-dev|releases-dev)"
packaging_leavings="^\\./debian/(\\.debhelper/|tmp/|($own_packages)/|files\$"
packaging_leavings="$packaging_leavings|debhelper-build-stamp\$|[^/]*\\.(substvars|debhelper)\$)"

# Lists the C and C++ files of this project.
code_files() {
  tree_files | grep -E '\.(h|cc|c)$'
}

# Lists the code of the libraries and programs that are installed.
product_files() {
  code_files | grep -E '^(agent-protocol|base|upgrader|sample-agent|tools|fleet)/'
}

# Lists the scripts, which are recognized by their names or by their first lines.
script_files() {
  tree_files | grep -E '\.(sh|awk|py|bash|zsh)$'
  tree_files | grep -vE '\.[a-z]+$' |
    xargs -r awk 'FNR == 1 { if (/^#!/) print FILENAME; nextfile }'
}

page_files() {
  tree_files | grep -E '^man/'
}
