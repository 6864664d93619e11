#!/bin/sh
# Checks that compiled agents can still use libagent-protocol.so.1. Compares its exported symbols
# and their types, the layout of the structures, the values of the constants and the soname with
# tables that are written by hand. Also compiles each header by itself, in each language that may
# use it. Each comparison has a canary: an error planted in a copy of the header or of the list of
# symbols. Prints `ok` lines and `N passed, N failed`.
#
# usage: tests/delivery/abi/run.sh    BUILD=build CC CXX
set -u
export LC_ALL=C

cd "$(dirname "$0")/../../.." || exit 1
: "${BUILD:=build}" "${CXX:=g++}" "${CC:=gcc}"
library=$BUILD/libagent-protocol.so.1
. tests/support/checks.sh

refuses() { ! "$@"; }

# Prints the rows of a table without its comments.
rows() { sed -e '/^#/d' -e '/^$/d' "$1"; }

# ---- the symbols that the library exports

exported() { nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sort; }

expected_symbols() {
  rows tests/delivery/abi/functions.table |
    sed -nE '/^typedef/!s/.*\b(agent_protocol_[a-z_]+)\(.*/\1@@AGENT_PROTOCOL_1/p' | sort
}

# usage: same_symbols FILE    compares the output of `exported` with the expected symbols
same_symbols() {
  expected_symbols >"$scratch/expected"
  [ -s "$scratch/expected" ] && diff -u "$scratch/expected" "$1"
}

# Checks that the library exports exactly the expected symbols.
symbols_of_library() {
  exported "$library" >"$scratch/exported" && same_symbols "$scratch/exported"
}

# Checks that the list of symbols in the Debian package has exactly the expected symbols. From this
# list, other packages learn the version of the library that they need.
symbols_of_package() {
  sed -nE 's/^ (agent_protocol_[a-z_]+)@(AGENT_PROTOCOL_1) .*/\1@@\2/p' \
    debian/libagent-protocol1.symbols | sort >"$scratch/packaged"
  same_symbols "$scratch/packaged"
}

# usage: symbols_of_list FILE
# Checks that the linker's version script, which lists the symbols to export, names each expected
# symbol by itself. A pattern such as `agent_protocol_*` would also export other symbols.
symbols_of_list() {
  awk '/^[A-Z]/ { version = $1 } /local:/ { exit } / global:/ { on = 1; next }
       on { sub(/;.*/, "", $1); print $1 "@@" version }' "$1" | sort >"$scratch/listed"
  same_symbols "$scratch/listed"
}

# usage: list_tells SED-COMMAND
# Plants an error in a copy of the version script. symbols_of_list must find the error.
list_tells() {
  sed "$1" agent-protocol/agent-protocol.map >"$scratch/planted.map"
  refuses symbols_of_list "$scratch/planted.map"
}

symbols_missing() { sed 1d "$scratch/exported" >"$scratch/fewer" && same_symbols "$scratch/fewer"; }

symbols_added() {
  { cat "$scratch/exported" && echo planted; } >"$scratch/more" && same_symbols "$scratch/more"
}

soname() { readelf -d "$library" | grep 'SONAME.*\[libagent-protocol\.so\.1\]$'; }

# ---- the types of the functions. The compiler refuses a second declaration of a function that
# differs from the first, and every use of a function that is not declared.

# usage: same_types INCLUDES
# Checks that the header declares every exported function, with the type that functions.table gives.
# For this, compiles a file that includes the header, names every exported function, and then
# declares the functions as in functions.table.
same_types() {
  {
    echo '#include <agent-protocol/agent_protocol.h>'
    expected_symbols | sed 's/@@.*//' | while IFS= read -r name; do
      echo "void mention_$name(void); void mention_$name(void) { (void)$name; }"
    done
    rows tests/delivery/abi/functions.table
  } | $CC -std=c11 -Werror -Wall -Wpedantic -I "$1" -x c -fsyntax-only -
}

# ---- the layout of the structures on this machine. On x86-64, also the layout on 32-bit machines:
# the same compiler makes code for them if it has the right options.

# usage: probe HEADER
# Makes a C program from agent_protocol.h that shows everything on which a compiled agent relies.
# The assembly of this program has a line `->KIND NAME NUMBER...` for each structure (size), member
# (offset, size) and constant. So the program need not be run, and can be compiled for any kind of
# machine.
probe() {
  awk '
  BEGIN {
    print "#include <agent-protocol/agent_protocol.h>"
    print "#define say(text, a) __asm__ volatile(\".ascii \\\"->\" text \" %c0\\\"\" : : \"i\"(a))"
    print "#define say2(text, a, b) \\"
    print "  __asm__ volatile(\".ascii \\\"->\" text \" %c0 %c1\\\"\" : : \"i\"(a), \"i\"(b))"
    print "void probe(void);"
    print "void probe(void) {"
  }

  # Removes comments. The first rule is for comments within a line. The second rule is for the lines
  # of longer comments, which begin with `/*` or ` *`.
  { gsub(/\/\*.*\*\//, "") }
  /^\/\*/ || /^ \*/ { next }

  /^struct [a-z_]+ \{$/ {
    of = $2
    printf "say(\"struct %s\", sizeof(struct %s));\n", of, of
    next
  }
  /^enum [a-z_]+ \{$/ { in_enum = 1; next }
  /^\}/ { of = ""; in_enum = 0; next }

  of != "" && /;/ {
    match($0, /[a-z_]+;/)
    name = substr($0, RSTART, RLENGTH - 1)
    printf "say2(\"member %s.%s\", offsetof(struct %s, %s), sizeof(((struct %s*)0)->%s));\n", \
      of, name, of, name, of, name
  }
  in_enum && match($0, /AGENT_PROTOCOL_[A-Z_]+/) {
    name = substr($0, RSTART, RLENGTH)
    printf "say(\"constant %s\", %s);\n", name, name
  }

  END { print "}" }
  ' "$1"
}

# usage: layout INCLUDES OPTION...
# Prints the sizes, offsets and constants of agent_protocol.h that the compiler finds with these
# options.
layout() {
  includes=$1
  shift
  probe "$includes/agent-protocol/agent_protocol.h" >"$scratch/probe.c" &&
    $CC -std=gnu99 -ffreestanding "$@" -I "$includes" -S -o "$scratch/probe.s" "$scratch/probe.c" &&
    sed -n 's/.*"->\(.*\)"$/\1/p' "$scratch/probe.s"
}

# usage: same_layout TABLE INCLUDES OPTION...
# Compares the output of `layout` with a table.
same_layout() {
  rows "tests/delivery/abi/$1" >"$scratch/expected"
  shift
  layout "$@" >"$scratch/found" && diff -u "$scratch/expected" "$scratch/found"
}

lays_out() {
  case $(echo '__SIZEOF_POINTER__' | $CC -E -P -) in
    8) same_layout layout-64.table "$1" ;;
    *) same_layout layout-32.table "$1" ;;
  esac
}

# Compiles for 32 bits, with 64-bit numbers at multiples of eight bytes, as on arm.
lays_out_32() { same_layout layout-32.table . -m32 -malign-double; }

# ---- a program that was compiled with an older header, in which agent_protocol_upgrade had fewer
# members

# usage: older_caller SIZE
# Acts as an agent that was compiled with a header whose agent_protocol_upgrade had SIZE bytes.
# Compiles and runs a program that requests an upgrade, with this size and with a wrong value in the
# member `fallback`. If `fallback` lies beyond SIZE, the library must not read it. The program
# prints the library's error: the request is either malformed, or cannot be sent since there is no
# upgrader.
older_caller() {
  cat >"$scratch/older.c" <<END
#include <agent-protocol/agent_protocol.h>
#include <stdio.h>
int main(void) {
  struct agent_protocol_upgrade asked = AGENT_PROTOCOL_UPGRADE_INIT;
  agent_protocol_agent* agent = agent_protocol_open(NULL);
  if (agent == NULL || agent_protocol_ready(agent) != 0) return 1;
  asked.size = $1;
  asked.id = "u1";
  asked.executable = "/agent";
  asked.fallback = "not a member that this program knows";
  if (agent_protocol_request_upgrade(agent, &asked) == 0) return 1;
  puts(agent_protocol_error(agent));
  return 0;
}
END
  $CC -I . -o "$scratch/older" "$scratch/older.c" "$library" &&
    LD_LIBRARY_PATH="$BUILD" "$scratch/older" >"$scratch/said_older"
}

# usage: says TEXT    checks that the output of older_caller has the text
says() { cat "$scratch/said_older" && grep -q "$1" "$scratch/said_older"; }

# An agent that was compiled with the first libagent-protocol.so.1 knows only the members up to
# trial_ms, so the library must not read `fallback`.
of_first_version() {
  older_caller 'offsetof(struct agent_protocol_upgrade, trial_ms) + 8' && says 'no upgrader'
}

# An agent that was compiled with the current header knows all members, so the library must refuse
# the wrong value of `fallback`.
of_present_version() { older_caller 'sizeof asked' && says 'fallback cannot be "not a member'; }
# No version of the structure has had this size, so the library must refuse the size.
of_no_version() {
  older_caller 'offsetof(struct agent_protocol_upgrade, trial_ms)' && says UPGRADE_INIT
}

# ---- canaries: errors that are planted in a copy of the header

# usage: plant SED-COMMAND
# Makes a copy of the header in $scratch/planted, changed by the sed command.
plant() {
  mkdir -p "$scratch/planted/agent-protocol"
  sed "$1" agent-protocol/agent_protocol.h >"$scratch/planted/agent-protocol/agent_protocol.h"
  ! cmp -s agent-protocol/agent_protocol.h "$scratch/planted/agent-protocol/agent_protocol.h"
}

# usage: tells_of JUDGE SED-COMMAND
# Plants an error in a copy of the header. The function JUDGE must refuse the copy.
tells_of() { plant "$2" && refuses "$1" "$scratch/planted"; }

# ---- each header compiled alone

# usage: alone HEADER COMPILER OPTION...    compiles the header without any other
alone() {
  header=$1
  shift
  printf '#include <agent-protocol/%s>\n#include <agent-protocol/%s>\n' "$header" "$header" |
    "$@" -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I . -fsyntax-only -
}

headers() {
  for standard in c99 c11 c17; do
    check "agent_protocol.h by itself in $standard" \
      alone agent_protocol.h "$1" "-std=$standard" -x c
  done
  for standard in c++11 c++17 c++20; do
    check "agent_protocol.h by itself in $standard" \
      alone agent_protocol.h "$2" "-std=$standard" -x c++
  done
  check 'agent.h by itself in c++20' alone agent.h "$2" -std=c++20 -x c++
}

check 'the library exports what the table says' symbols_of_library
check 'the list for the linker names what the table says' \
  symbols_of_list agent-protocol/agent-protocol.map
check "the package's symbols are those of the table" symbols_of_package
check 'the soname is libagent-protocol.so.1' soname
check 'functions have the types of the table' same_types .
check 'structures and constants are as the table says' lays_out .
case $($CC -dumpmachine) in
  x86_64-*) check 'and so they are with 32 bits' lays_out_32 ;;
esac
headers "$CC" "$CXX"

check 'a request of a program that knows the first members only' of_first_version

check 'canary: a request that is read whole' of_present_version
check 'canary: a request of no version' of_no_version
check 'canary: a symbol that has gone' refuses symbols_missing
check 'canary: a symbol that is new' refuses symbols_added
check 'canary: a list for the linker without a name' list_tells '/agent_protocol_fd;/d'
check 'canary: a list for the linker with a pattern' list_tells 's/agent_protocol_fd;/agent_*;/'
check 'canary: a parameter of another type' \
  tells_of same_types 's/, int timeout_ms)/, long timeout_ms)/'
check 'canary: a result of another type' \
  tells_of same_types 's/int agent_protocol_alone/long agent_protocol_alone/'
check 'canary: a check that takes something else' \
  tells_of same_types 's/char\* reason, size_t size)/char* reason, int size)/'
check 'canary: a function that has gone' \
  tells_of same_types 's/agent_protocol_heartbeat/agent_protocol_beat/'
check 'canary: a member of another size' \
  tells_of lays_out 's/int64_t watchdog_ms/int watchdog_ms/'
check 'canary: members that have changed places' \
  tells_of lays_out 's/char\* about;/char* X;/; s/char\* id;/char* about;/; s/char\* X;/char* id;/'
check 'canary: a member that is new' \
  tells_of lays_out 's/^  const char\* fallback;/&\n  int planted;/'
check 'canary: a constant of another value' \
  tells_of lays_out 's/AGENT_PROTOCOL_ERROR = 9 /AGENT_PROTOCOL_ERROR = 10 /'
counted
