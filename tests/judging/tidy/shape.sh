# Checks the form of files: the width of lines, the lengths of files and functions, opening
# comments, and format.

shape_checks='columns file_lengths budget function_lengths heads test_namespaces format waits
  targets seeds planted'

columns_max=100
file_lines_max=300
test_lines_max=500  # tests may be longer: their tables stay whole
function_lines_max=60

# Checks that no line is longer than a screen is wide, except rows of tables and links in Markdown.
# Columns are characters.
check_columns() {
  {
    code_files
    script_files
    page_files
    tree_files | grep -E '(^|/)Makefile$|\.mk$|\.md$|^NEWS$|^LICENSE$|^debian/|^fleet/http/.*\.js$'
  } | LC_ALL=C.UTF-8 xargs grep -nE "^.{$((columns_max + 1)),}$" /dev/null |
    grep -vE '^[^:]*\.md:[0-9]*:(\||.*\]\()' | sed -E 's/^([^:]*:[0-9]*):.*/\1: too many columns/'
}

canary_columns() {
  awk 'BEGIN { printf "// "; for (i = 0; i < 98; i++) printf "x"; print "" }' >upgrader/planted.h
  echo 'upgrader/planted.h:1: too many columns'
  cat upgrader/planted.h >fleet/http/planted.js
  echo 'fleet/http/planted.js:1: too many columns'
}

# Lists the files that check_file_lengths allows to be longer than others, each with the reason.
long_files() {
  sed 's/ *#.*//' <<'TABLE'
agent-protocol/agent.h  # the C++ interface is installed as one header
upgrader/core/supervisor.cc   # the state machine: one file, in the order of an upgrade's steps
TABLE
}

# Prints the files that have more than $1 lines of code. Comments and blank lines do not count,
# since people would leave them out if they counted.
longer_than() {
  xargs -r awk -v max="$1" '
    FNR == 1 { count = 0 }
    /^[[:space:]]*($|\/\/|#([^a-z]|$))/ { next }
    ++count == max + 1 { print FILENAME ": more than " max " lines" }'
}

check_file_lengths() {
  long_files >"$scratch/long"
  { code_files; script_files; } | sort -u | grep -vxFf "$scratch/long" >"$scratch/files"
  grep -v '^tests/' "$scratch/files" | longer_than $file_lines_max
  grep '^tests/' "$scratch/files" | longer_than $test_lines_max
  while IFS= read -r file; do
    [ -f "$file" ] || echo "$file: may be long, and does not exist"
  done <"$scratch/long"
}

canary_file_lengths() {
  awk 'BEGIN { for (i = 0; i < 301; i++) print "//\nint a;\n" }' >upgrader/planted.cc
  echo 'upgrader/planted.cc: more than 300 lines'
  awk 'BEGIN { for (i = 0; i < 501; i++) print "true" }' >tests/planted.sh
  echo 'tests/planted.sh: more than 500 lines'
}

# Checks that no loop in a test can run for ever, since that would hang the whole run without a
# message.
check_waits() {
  script_files | grep -E '^tests/' | grep -vE '^tests/judging/(mutation|coverage)/' |
    xargs -r tests/judging/tidy/waits.py
}

canary_waits() {
  cat >tests/planted.py <<'PLANTED'
while sent() < 2:
    look()
PLANTED
  echo 'tests/planted.py:1: a loop without a limit: while sent() < 2:'
  printf '%s\n' '#!/bin/sh' 'until grep -q ready log; do' '  look' 'done' >tests/planted.sh
  echo 'tests/planted.sh:2: a loop without a limit: until grep -q ready log; do'
}

check_function_lengths() {
  code_files | xargs -r awk -v limit=$function_lines_max -f tests/judging/tidy/functions.awk
}

canary_function_lengths() {
  {
    echo '// Planted.'
    echo 'namespace planted {'
    echo 'class Planted {'
    echo '  bool member_function(int a,'
    echo '                       int b) const {'
    awk 'BEGIN { for (i = 0; i < 60; i++) print "    a += b;" }'
    echo '  }'
    echo '};'
    echo 'int free_function(int a) {'
    awk 'BEGIN { for (i = 0; i < 59; i++) print "  if (a) {\n  }" }'
    echo '}'
    echo 'TEST_CASE("a test") {'
    awk 'BEGIN { for (i = 0; i < 59; i++) print "  a();" }'
    echo '}'
    echo '}  // namespace planted'
  } >upgrader/planted.cc
  echo 'upgrader/planted.cc:4: 63 lines:   bool member_function'
  echo '120 lines: int free_function'
  echo '61 lines: TEST_CASE("a test")'
}

# Checks that the upgrader stays small enough to be read, since it is replaced least often of all
# programs. Code that the upgrader does not need belongs in a program beside it.
# Requirements (tests/judging/rows): J-21
check_budget() {
  tests/judging/verify/lines >/dev/null || echo 'upgrader/: too many lines of code: see make lines'
}

canary_budget() {
  yes 'int planted;' | head -n 200 >upgrader/planted.h
  echo 'too many lines of code'
}

# Prints a line `PATTERN FILE` for each file that needs an opening comment. PATTERN is a regular
# expression that the file's first line must match, or `?` if the kind of the file is unknown.
# check_heads compares the first line of each FILE with its PATTERN.
openings() {
  tree_files | while IFS= read -r file; do
    case $file in
      *.md | LICENSE | NEWS | .gitignore | .clang-format | *.map | *.pc.in) continue ;;
      tests/decisions/scenario/*.txt) opening='^# *[A-Za-z`-]' ;;
      docs/*.svg) continue ;;  # the <title> of an SVG file says what the file is for
      # These files are in the formats of npm and cargo, and need no opening comment.
      agent-protocol/javascript/*.json | agent-protocol/*/*.toml) continue ;;
      fleet/http/openapi.json) continue ;;  # JSON has no comments
      agent-protocol/*/go.mod | */py.typed | */__init__.py) continue ;;
      debian/rules) opening='^# *[A-Za-z]' ;;
      debian/*) continue ;;  # files in Debian's formats
      sample-agent/init/s6/timeout-kill) continue ;;  # s6 allows only a number in this file
      sample-agent/init/s6/notification-fd) continue ;;
      */init/*.service | */init/*.conf) opening='^# *[A-Za-z`]' ;;
      sample-agent/init/*/inittab | sample-agent/init/*/keep.d) opening='^# *[A-Za-z]' ;;
      sample-agent/init/dinit/*) opening='^# *[A-Za-z`]' ;;
      tests/adversity/fuzz/inputs/*.txt | tests/together/releases/inputs.txt)
        opening='^# *[A-Za-z]'
        ;;
      # A test file in Go needs no opening comment: its name says what it tests.
      *_test.go) opening='^package ' ;;
      agent-protocol/go/event.go | agent-protocol/go/message.go | agent-protocol/go/session.go)
        opening='^package '
        ;;
      *.h | *.cc | *.c | *.pml | *.go | *.rs | *.ts | *.proto)
        opening='^(//!?|/\*) *[A-Za-z0-9`-]'
        ;;
      *.test.js) opening='^import ' ;;  # the name of a test of JavaScript says what it tests
      *.js) opening='^// *[A-Za-z]' ;;
      *.ld | *.css) opening='^/\* *[A-Za-z`]' ;;
      # These files are in the formats of Buildroot and Yocto, and need no opening comment.
      packaging/buildroot/Config.in | packaging/yocto/*.in) continue ;;
      packaging/openwrt/Makefile.in) continue ;;  # a file in OpenWrt's format
      packaging/*.in | packaging/container/Containerfile | packaging/nix/*.nix) opening='^#' ;;
      packaging/prometheus/*.yml) opening='^# *[A-Za-z`]' ;;
      packaging/openwrt/files/*) opening='^# *[A-Za-z`]' ;;
      *.html) opening='^<!doctype html><!-- [A-Z]' ;;
      man/*.[1-8]) opening='^\.\\" [A-Z`]' ;;
      Makefile | */Makefile | *.mk | .clang-tidy | *.sh | *.bash | *.zsh | *.table | *.dict)
        opening='^# *[A-Za-z`]'
        ;;
      *) opening='?' ;;
    esac
    printf '%s %s\n' "$opening" "$file"
  done
}

# Checks that every file opens with a comment that says what the file is for. A source file may open
# with the #include of its header instead, which has such a comment. openings() lists exceptions. If
# a file's kind is unknown, openings() must be extended, so the file is reported.
check_heads() {
  script_files >"$scratch/scripts"
  openings | awk -v scripts="$scratch/scripts" '
    BEGIN { while ((getline line < scripts) > 0) script[line] = 1 }
    {
      file = $NF
      pattern = substr($0, 1, length($0) - length(file) - 1)
      if (pattern == "?") {
        if (!(file in script)) { print file ": of no known kind"; next }
        pattern = "^(# *|\"\"\")[A-Za-z`]"  # a docstring in Python
      }
      opening = ""
      if ((getline opening < file) > 0 && opening ~ /^#(!|compdef |autoload$)/)
        getline opening < file
      close(file)
      header = file
      sub(/.*\//, "", header)
      # The header may lie in another directory: a public header does not lie beside its source.
      if (sub(/\.cc$/, ".h", header) && opening ~ "^#include \".*/" header "\"$") next
      if (opening !~ pattern) print file ": does not open with what it is for"
    }'
}

canary_heads() {
  echo '#pragma once' >upgrader/planted.h
  echo 'upgrader/planted.h: does not open'
  echo '#include "base/time.h"' >upgrader/planted.cc
  echo 'upgrader/planted.cc: does not open'
  printf '#!/bin/sh\nset -e\n' >tests/planted.sh
  echo 'tests/planted.sh: does not open'
  echo planted >upgrader/planted.odd
  echo 'upgrader/planted.odd: of no known kind'
}

# Checks that each test file has a namespace of its own. The test files of a directory are compiled
# together, so their names would clash otherwise.
check_test_namespaces() {
  code_files | grep '_test\.cc$' | xargs awk '
    FNR == 1 { name = FILENAME; gsub(/.*\/|\.cc$/, "", name) }
    /^TEST_CASE\(/ { needed[FILENAME] = name }
    $0 == "namespace " name " {" { has[FILENAME] }
    END {
      for (file in needed)
        if (!(file in has)) print file ": has no namespace " needed[file]
    }'
}

canary_test_namespaces() {
  sed -i 's/log_test {$/another {/' tests/decisions/scenario/log_test.cc
  echo 'tests/decisions/scenario/log_test.cc: has no namespace log_test'
}

clang_format() {
  for program in clang-format-14 clang-format; do
    if command -v "$program" && "$program" --version | grep -q 'version 14\.'; then return; fi
  done
}

# Checks the format of the code by the project's version of clang-format, since other versions
# format differently. The build keeps the checksums of well-formatted files, and these files are not
# checked again.
check_format() {
  program=$(clang_format | head -n 1)
  if [ -z "$program" ]; then
    echo 'clang-format 14 is not installed'
    return 77
  fi
  settings=$({ "$program" --version; cat .clang-format; } | cksum | cut -d ' ' -f 1)
  well=${BUILD:-build}/tidy/formatted-$settings
  [ -z "${in_copy:-}" ] || well=$scratch/formatted
  mkdir -p "${well%/*}"
  touch "$well"
  code_files | only_planted | xargs -r sha256sum >"$scratch/sums"
  grep -vxFf "$well" "$scratch/sums" | cut -c 67- | xargs -r "$program" --dry-run 2>&1 |
    grep -E '^[^ ].*: warning: ' |
    awk -F: '!seen[$1]++ { print $1 ":" $2 ": not as clang-format writes it" }' >"$scratch/ill"
  if [ -s "$scratch/ill" ]; then cat "$scratch/ill"; else cp "$scratch/sums" "$well"; fi
}

canary_format() {
  printf '// Planted.\nint  planted( int a ){return a;}\n' >upgrader/planted.cc
  echo 'upgrader/planted.cc:2: not as clang-format'
}

# Checks that the table in tests/judging/verify/targets has the targets that `make help-all` shows.
# `make check-targets` tries each target of this table.
check_targets() { tests/judging/verify/targets --compare 2>&1; }

canary_targets() {
  sed -i 's/make lines  */make lnies  /' Makefile
  echo '< lnies'
  echo '> lines'
}

# Checks that each error of `make seeded` can still be planted: the text that it replaces must be in
# the core. Otherwise nobody would notice before the next `make verify`.
check_seeds() { tests/judging/verify/seeded --look 2>&1; }

canary_seeds() {
  sed -i 's/on_unclean_stop == UncleanStop::fall_back/on_unclean_stop == UncleanStop{}/' \
    upgrader/core/supervisor.cc
  echo 'inverted condition: on_unclean_stop means its opposite'
}

# Checks that each error of `make simulate`, and each canary of `make mutate` (a mutant whose fate
# is known), can still be injected: the text that the error or canary replaces must be in its file.
check_planted() {
  grep -v '^#' tests/together/simulation/canaries.table | while IFS= read -r row; do
    file=${row#* | * | }
    script=${file#* | }
    file=${file%% | *}
    script=${script%% | *}
    sed -E "$script" "$file" | cmp -s - "$file" && echo "nothing is planted: ${row%% | *}"
  done
  python3 -B - <<'END'
import sys, types
sys.path.insert(0, "tests/judging/mutation")
# Replaces the module find.py, which needs a compiler's parser, by an empty module.
sys.modules["find"] = types.ModuleType("find")
from planted import PLANTED
for _, path, text, _ in PLANTED:
    if open(path).read().count(text) != 1:
        print("nothing is planted: " + text)
END
}

canary_planted() {
  sed -i 's/taken < lines_a_turn/lines_a_turn > taken/' upgrader/shell/agents.cc
  sed -i 's/is_control(c) ? 6 : 1/is_control(c) ? 6: 1/' base/escape.cc
  echo 'nothing is planted: long_turn'
  echo 'nothing is planted: is_control(c) ? 6 : 1'
}
