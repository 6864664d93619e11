#!/bin/sh
# Installs into a separate directory. Builds an agent in C and an agent in C++ with the installed
# files and pkg-config alone. Upgrades the C agent to the C++ agent under the installed upgrader,
# and uninstalls. The directory must then have the files that it had before the installation, and no
# others. Prints `ok` lines and `N passed, N failed`.
# usage: tests/delivery/install/run.sh    BUILD=build
set -u
export LC_ALL=C
umask 022
unset MAKEFLAGS MAKELEVEL MFLAGS

cd "$(dirname "$0")/../../.." || exit 1
. tests/judging/tidy/files.sh
: "${BUILD:=build}" "${CXX:=g++}" "${CC:=gcc}"
. tests/support/checks.sh
root=$scratch/root

# Runs a test function in a subshell, since the function changes the directory and variables.
in_a_shell() { ("$@"); }

# Installs or uninstalls by make, with the strict umask that root has on some machines. Does not
# rebuild outdated files, since other tests run from the same build at the same time.
installs() { (umask 077 && make -s BUILD="$BUILD" DESTDIR="$root" PREFIX=/usr "$1"); }

# Makes a directory with files that other packages have installed, some of them in directories that
# the project installs into, too.
settle() {
  mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/usr/include" "$root/usr/share/man/man8" \
    "$root/usr/share/bash-completion/completions" "$root/usr/share/doc" || return 1
  for neighbour in bin/neighbour lib/libneighbour.a include/neighbour.h share/man/man8/neighbour.8 \
    share/bash-completion/completions/neighbour share/doc/neighbour; do
    echo "$neighbour" >"$root/usr/$neighbour" || return 1
  done
  listing >"$scratch/before"
}

listing() { (cd "$root" && find . -printf '%y %m %p %l\n' | sort); }

# Checks that each kind of file is installed in the usual directory for it: the programs that use
# such files look for them there.
puts_in_place() {
  (cd "$root/usr" && ls -d bin/upgrader bin/upgraderctl bin/sample-agent bin/agentify \
    bin/agent-releases bin/notify-watchdog bin/agent-conformance bin/fleet-agent \
    bin/fleet-controller bin/fleetctl \
    share/man/man1/fleetctl.1 share/man/man7/fleet.7 share/man/man8/fleet-agent.8 \
    share/man/man8/fleet-controller.8 lib/libagent-protocol.a lib/libagent-releases.a \
    include/agent-releases/releases.h include/agent-releases/follower.h \
    lib/libagent-protocol.so lib/libagent-protocol.so.1 lib/pkgconfig/agent-protocol.pc \
    include/agent-protocol/agent.h include/agent-protocol/agent_protocol.h \
    share/man/man8/upgrader.8 share/man/man8/notify-watchdog.8 \
    share/man/man7/agent-protocol.7 share/man/man3/agent_protocol.3 \
    share/man/man1/sample-agent.1 share/man/man1/upgraderctl.1 \
    share/bash-completion/completions/upgrader \
    share/zsh/site-functions/_upgrader)
}

# Checks that other users than the one who installs can read what was installed.
is_for_everybody() { ! find "$root" ! -type l ! -perm -o+r | grep .; }

# Loads each program's shell completion alone, as a shell does when the user first presses tab. Each
# completion must find the functions that all completions share.
completions_load() {
  for program in upgrader upgraderctl agentify agent-conformance agent-releases fleetctl \
    fleet-agent fleet-controller notify-watchdog; do
    bash --noprofile --norc -c '. "$1" && complete -p "$2" && declare -F _upgrader_durations' - \
      "$root/usr/share/bash-completion/completions/$program" "$program" || return 1
  done
  [ -f "$root/usr/share/zsh/site-functions/_upgrader_durations" ]
}

flags() { PKG_CONFIG_PATH=$root/usr/lib/pkgconfig pkg-config --define-prefix "$@" agent-protocol; }

# Prints the code in the language $1 that docs/agents.md has between lines of ```. Then prints a
# function work() that does nothing, since the code calls a function of that name.
example() {
  awk -v opening="\`\`\`$1" '
    $0 == "```" { inside = 0 }
    inside
    $0 == opening { inside = 1 }' docs/agents.md
  echo 'void work(void) {}'
}

builds_c() {
  example c >"$scratch/agent.c"
  # shellcheck disable=SC2046  # pkg-config prints several options
  $CC -Wl,-z,lazy,-z,norelro -o "$scratch/agent-c" "$scratch/agent.c" $(flags --cflags --libs) \
    "-Wl,-rpath,$root/usr/lib"
}

builds_cxx() {
  example cpp >"$scratch/agent.cc"
  # shellcheck disable=SC2046
  $CXX -std=c++20 -o "$scratch/agent-cc" "$scratch/agent.cc" $(flags --cflags --libs) \
    "-Wl,-rpath,$root/usr/lib"
}

links_soname() { readelf -d "$scratch/agent-c" | grep 'NEEDED.*libagent-protocol\.so\.1'; }

exports_c_only() {
  nm -D --defined-only "$root/usr/lib/libagent-protocol.so" | awk '{print $3}' |
    grep -vE '^(agent_protocol_|AGENT_PROTOCOL_1)' && return 1
  return 0
}

# Checks that the installed upgrader needs only the permitted libraries. Also checks that the test
# can fail: it must refuse `agent-c`, a program that needs another library.
needs_little() {
  tests/benchmark/libraries "$root/usr/bin/upgrader" &&
    ! tests/benchmark/libraries "$scratch/agent-c"
}

# Waits until the log has a line with this text.
logged() {
  tail -n +1 -f "$scratch/log" --pid="$pid" | grep -q -m 1 -- "$1"
}

# Prints which protections a program or library lacks. It has the stack protector if it calls
# __stack_chk_fail(). Only functions with a buffer make this call, but every program and library
# here has such a function.
lacks_protection() {
  readelf -lW "$1" | grep -q GNU_RELRO || echo "$1: tables of addresses can be written"
  readelf -dW "$1" | grep -qE 'BIND_NOW|FLAGS.* NOW' || echo "$1: addresses are looked up late"
  readelf --dyn-syms -W "$1" | grep -q __stack_chk_fail || echo "$1: no stack protector"
  [ "$(uname -m)" != x86_64 ] || objdump -d "$1" | grep -q -m 1 endbr64 ||
    echo "$1: no control-flow protection"
}

# Tells whether a program calls a function such as __fprintf_chk(), which _FORTIFY_SOURCE calls
# instead of fprintf().
calls_fortified() {
  readelf --dyn-syms -W "$1" | grep -qE ' __[a-z]+_chk(@|$)'
}

# Checks that every installed file is protected. Also checks that the test can fail: it must find at
# least three missing protections in `agent-c`, which was built without them, and no call of a
# fortified function.
protected() {
  [ "$(lacks_protection "$scratch/agent-c" | wc -l)" -ge 3 ] || { echo 'canary'; return 1; }
  ! calls_fortified "$scratch/agent-c" || { echo 'canary: a fortified function'; return 1; }
  for file in "$root"/usr/bin/* "$root"/usr/lib/libagent-protocol.so.1; do
    case $file in */neighbour) ;; *) lacks_protection "$file" ;; esac
  done | grep . && return 1
  # Not every program calls a fortified function. agentify does, since it prints by fprintf().
  calls_fortified "$root/usr/bin/agentify" || { echo 'agentify: no fortified function'; return 1; }
}

upgrades() {
  ln -s "$scratch/agent-c" "$scratch/current"
  : >"$scratch/log"
  "$root/usr/bin/upgrader" --trial=0 "$scratch/current" 2>"$scratch/log" &
  pid=$!
  logged 'generation 1 .*is active' || return 1
  ln -sf "$scratch/agent-cc" "$scratch/current"
  kill -USR2 "$pid"
  logged 'is committed' || return 1
  kill -TERM "$pid"
  wait "$pid"
}

# Lists the files that belong to the installed hello-agents (small examples of agents): the examples
# in C, C++ and shell, and for each other language the library with its example. Leaves out tests
# and the files that only tests need.
hello_agents() {
  libraries='agent-protocol/(python|go|javascript|rust)'
  tree_files | grep -E "^(sample-agent/hello|$libraries)/" |
    grep -vE "^$libraries/test(s|ing)?/|_test\\.go\$|/rustfmt\\.toml\$"
}

puts_hello_agents() {
  hello=$scratch/examples/hello-agent
  mkdir "$hello" && hello_agents | tar -c -T - | tar -x -C "$hello" &&
    mv "$hello"/sample-agent/hello/* "$hello"/agent-protocol/* "$hello" &&
    rm -r "$hello/sample-agent" "$hello/agent-protocol"
}

# Checks that the installed service files are those of the tree, except for the paths of the
# programs, and that the scripts among them can be executed.
has_examples() {
  cp -R sample-agent/init "$scratch/examples" &&
    cp -R tools/agentify/init "$scratch/examples/agentify" &&
    cp -R fleet/init "$scratch/examples/fleet" && puts_hello_agents &&
    find "$scratch/examples" -type f -exec sed -i 's|/usr/local/bin/|/usr/bin/|g' {} + &&
    diff -r "$scratch/examples" "$root/usr/share/doc/upgrader/examples" &&
    [ -x "$root/usr/share/doc/upgrader/examples/runit/run" ] &&
    [ -x "$root/usr/share/doc/upgrader/examples/agentify/nginx" ]
}

# Checks that the examples for each init system name the upgrader by the path at which it was
# installed. The examples of the sample agent must also name the installed program sample-agent,
# because its users copy this program as their first release.
examples_name_what_is_installed() {
  for directory in "$root"/usr/share/doc/upgrader/examples/*; do
    case $directory in
      # The examples in the next three directories are not checked. Those for agentify and the
      # hello-agents name no program by its path. The script for procd names the programs in
      # /usr/sbin, where OpenWrt's package puts them.
      */agentify | */hello-agent | */procd) programs= ;;
      */fleet) programs='upgrader fleet-agent fleet-controller' ;;
      *) programs='upgrader sample-agent' ;;
    esac
    for program in $programs; do
      named=$(grep -rhoE "[^ ='\"]*/bin/$program\\>" "$directory" | sort -u)
      [ "$named" = "/usr/bin/$program" ] || { echo "$directory: $named"; return 1; }
      [ -x "$root$named" ] || return 1
    done
  done
}

# Prints the paragraph of commands number $1 of docs/by-hand.md. The paragraphs are typed one after
# the other, in an empty directory.
by_hand() {
  awk -v wanted="$1" '
    /^    / { if (!inside) number++; inside = 1; if (number == wanted) print; next }
    { inside = 0 }' docs/by-hand.md
}

runs_by_hand() {
  by_hand 1 >"$scratch/first" && by_hand 2 >"$scratch/second" || return 1
  cat "$scratch/first" "$scratch/second"
  mkdir "$scratch/hand" && cd "$scratch/hand" || return 1
  PATH=$root/usr/bin:$PATH
  : >"$scratch/log"
  . "$scratch/first" 2>>"$scratch/log"
  pid=$!
  logged 'generation 1 .*is active' || return 1
  . "$scratch/second"
  logged 'generation 2 .*is active' || return 1
  echo 'another line' >>app.log
  tail -n +1 -f copy --pid="$pid" | grep -q -m 1 'another line$' || return 1
  kill -TERM "$pid"
  wait "$pid"
}

# Copies the installed hello-agents, as a person does who develops an agent from one of them.
copies_hello_agents() {
  cp -R "$root/usr/share/doc/upgrader/examples/hello-agent" "$scratch/hello" &&
    [ "$(find "$scratch/hello" -name 'hello[-_]agent*' | wc -l)" = 7 ]
}

builds_hello_agents() {
  cd "$scratch/hello" || return 1
  # shellcheck disable=SC2046  # pkg-config prints several options
  $CC -o hello-agent-c hello-agent.c $(flags --cflags --libs) "-Wl,-rpath,$root/usr/lib" &&
    $CXX -std=c++20 -o hello-agent-cc hello-agent.cc $(flags --cflags --libs) \
      "-Wl,-rpath,$root/usr/lib"
}

# Runs the commands that docs/agents.md shows for the hello-agent, on the copy of the installed
# files. The agent must continue to count after an upgrade.
hello_agent_counts() {
  PYTHONDONTWRITEBYTECODE=1 PATH=$root/usr/bin:$PATH tests/together/languages/readme.py \
    "$scratch/hello/python"
}

leaves_nothing() {
  installs uninstall || return 1
  listing >"$scratch/after"
  diff "$scratch/before" "$scratch/after"
}

# Installs into an empty directory, and uninstalls. Only the directories that every system has may
# then be left.
leaves_no_directories() {
  rm -rf "$root"
  installs install && installs uninstall || return 1
  listing | grep -vE '^d [0-7]* \.(/usr(/(bin|lib|include|share(/man|/doc)?))?)? $' && return 1
  return 0
}

check 'a place with neighbours' settle
check 'make install' installs install
check 'all is where it is looked for' puts_in_place
check 'everybody may read it, whatever the umask' is_for_everybody
check 'each completion finds what they share' completions_load
check 'an agent in C is built by pkg-config alone' builds_c
check 'an agent in C++ is built by pkg-config alone' builds_cxx
check 'an agent links the soname' links_soname
check 'the library exports the C interface only' exports_c_only
check 'the upgrader needs libc, libstdc++, libgcc and libuv only' needs_little
check 'programs and library are protected against overflows' protected
check 'the one is upgraded to the other' upgrades
check 'service files and hello-agents are the examples' has_examples
check 'they name the programs where they were installed' examples_name_what_is_installed
check 'so are the hello-agents, in seven languages' copies_hello_agents
check 'those in C and C++ are built by pkg-config alone' in_a_shell builds_hello_agents
check 'the one in Python has its library beside it, and counts' hello_agent_counts
check 'the commands of docs/by-hand.md run as printed' in_a_shell runs_by_hand
check 'make uninstall leaves nothing, and what was there before' leaves_nothing
check 'make uninstall takes its directories with it' leaves_no_directories
counted
