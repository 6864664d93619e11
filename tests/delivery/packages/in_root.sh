#!/bin/sh
# Runs inside a small Debian with the packages, a compiler and the libraries. Installs the packages,
# and builds the sample agent from their examples. Upgrades the agent while it works, to good and
# bad versions, under the installed upgrader. Meanwhile newer packages replace the installed ones.
# Adds a release to a directory of releases, and removes the packages without a trace. Prints `ok`
# lines and `N passed, N failed`. Run by packages.sh.
set -u
cd /trial || exit 1
passed=0
failed=0
packages='upgrader agent-releases libagent-protocol1 libagent-protocol-dev libagent-releases-dev'
packages="$packages upgrader-fleet-agent upgrader-fleet"
examples=/usr/share/doc/libagent-protocol-dev/examples
limit=120  # the limit for one wait in seconds; only a test that hangs takes this long
upgrader=

# usage: check NAME COMMAND...
check() {
  name=$1
  shift
  if "$@" >said 2>&1; then
    passed=$((passed + 1))
    echo "ok $name"
  else
    failed=$((failed + 1))
    echo "not ok $name"
    tail -n 60 said
  fi
}

# Lists all files of the system, except the records of the package manager.
listing() {
  find / -xdev \( -path /trial -o -path /proc -o -path /dev -o -path /var/log \
    -o -path /var/cache/ldconfig \) -prune -o -type f -printf '%y %m %s %p\n' \
    -o -printf '%y %m %p %l\n' | grep -vE ' /var/lib/dpkg(/[a-z-]+)?$' | sort
}

installs() {
  listing >before
  dpkg -i ./*.deb && [ -z "$(dpkg --audit)" ]
}

in_place() {
  # shellcheck disable=SC2086  # a list of package names
  dpkg -V $packages && upgrader --version && sample-agent --version && agent-releases --version &&
    fleet-agent --version && fleet-controller --version && fleetctl --version &&
    ls /usr/share/man/man8/upgrader.8.gz \
    /usr/share/man/man7/agent-protocol.7.gz /usr/share/man/man3/agent_protocol.3.gz \
    /usr/share/man/man1/agent-releases.1.gz /usr/share/man/man3/libagent-releases.3.gz \
    /usr/share/bash-completion/completions/upgrader /usr/share/zsh/vendor-completions/_upgrader \
    /usr/share/doc/upgrader/NEWS*
}

# Checks that the installed service files name the installed programs.
names_itself() {
  ! grep -r /usr/local /usr/share/doc/upgrader/examples &&
    grep -r '^ExecStart=/usr/bin/upgrader ' /usr/share/doc/upgrader/examples/systemd &&
    ! grep /usr/local /lib/systemd/system/fleet-*.service &&
    grep '^ExecStart=/usr/bin/fleet-controller ' /lib/systemd/system/fleet-controller.service
}

builds() {
  cp -r "$examples/sample-agent" . || return 1
  for release in 1.0.0=none 2.0.0=none 3.0.0=crash_at_start 4.0.0=crash_on_trial; do
    make -C sample-agent -j"$(nproc)" CXXFLAGS=-O0 VERSION="${release%=*}" \
      FAULT="${release#*=}" || return 1
  done
}

links_the_library() {
  ldd sample-agent/build/agent-v1.0.0 | grep 'libagent-protocol\.so\.1 => /.*lib/.*/libagent'
}

# Waits until the log has a line with this text.
logged() { timeout "$limit" tail -n +1 -f log | grep -q -m 1 -- "$1" || ! cat log; }

# Waits until the agent has copied $1 lines.
copied() { [ "$(timeout "$limit" tail -n +1 -f copy | head -n "$1" | wc -l)" = "$1" ]; }

writes() { for number in $(seq "$1" "$2"); do echo "line $number"; done >>app.log; }

works() {
  mkdir state releases && : >log && : >copy && writes 1 100 &&
    cp sample-agent/build/agent-v1.0.0 releases && ln -s agent-v1.0.0 releases/current || return 1
  upgrader --relink --lock=lock --trial=300ms releases/current --input=app.log --output=copy \
    --state=state --events=events 2>log &
  upgrader=$!
  copied 100
}

# usage: goes_to VERSION TEXT
# Upgrades to a release by a signal, and waits for a line of the log with TEXT.
goes_to() {
  cp "sample-agent/build/agent-v$1" releases && ln -sf "agent-v$1" releases/current &&
    kill -USR2 "$upgrader" && logged "$2"
}

upgrades() { goes_to 2.0.0 'generation 2.*is committed' && writes 101 200 && copied 200; }

# usage: with_systemd COMMAND...
# Runs a command while systemd seems to be process 1, with all services enabled and active. A
# stand-in for systemctl writes the arguments of each call to the file `told`, one call in a line.
# It leaves out calls that only ask for the state of a service.
with_systemd() {
  mkdir -p systemd /run/systemd/system && : >told || return 1
  cat >systemd/systemctl <<'END'
#!/bin/sh
case " $* " in
  *' is-enabled '*) echo enabled ;;
  *' is-active '* | *' show '*) ;;
  *) echo "$*" >>/trial/told ;;
esac
END
  chmod 755 systemd/systemctl
  PATH=/trial/systemd:$PATH "$@"
  status=$?
  rmdir /run/systemd/system /run/systemd
  return "$status"
}

# Installs newer versions of the same packages while the upgrader runs. The upgrader must continue
# to run its old program, whose file has been deleted.
becomes_newer() {
  for package in ./*.deb; do
    rm -rf newer && dpkg-deb -R "$package" newer || return 1
    version=$(sed -n 's/^Version: //p' newer/DEBIAN/control)
    sed -i "s/\([ (]\)$version\()\|\$\)/\1$version+newer\2/" newer/DEBIAN/control &&
      dpkg-deb --root-owner-group -b newer "newer-${package#./}" || return 1
  done
  with_systemd dpkg -i newer-*.deb && [ -z "$(dpkg --audit)" ] &&
    dpkg -s upgrader | grep '^Version: .*+newer$' &&
    kill -0 "$upgrader" && readlink "/proc/$upgrader/exe" | grep ' (deleted)$'
}

# Checks what systemd was told during the upgrade of the packages. fleet-agent must not have been
# stopped or restarted, since a rollout upgrades it. The controller and the signer must have been
# restarted, since they are upgraded by their package only.
services_go_on() {
  cat told
  ! grep -E '(stop|restart).*fleet-agent' told && ! grep stop told && grep daemon-reload told &&
    grep -E 'restart.*fleet-controller' told && grep -E 'restart.*fleet-signer' told
}

# Adds a release by the commands on the page of agent-releases, beginning with a new key.
adds_a_release() {
  mkdir keys && agent-releases key make --no-password --public=keys/release.pub release.key &&
    manifest=$(agent-releases pack --name=agent --version=1.5.0 --out=public --sign=release.key \
      sample-agent/build/agent-v1.0.0) &&
    agent-releases --dir=store --name=agent --keys=keys add "${manifest%%: *}" &&
    agent-releases --dir=store list | grep '1\.5\.0' &&
    cmp store/agent-v1.5.0 sample-agent/build/agent-v1.0.0
}

# Upgrades to a version that crashes before it is ready. The agent of this version is generation 3,
# the third agent that the upgrader has started. Generation 2 must stay active, and the link must
# again name generation 2's version.
survives_start() {
  goes_to 3.0.0 'generation 3: .*generation 2 .*stays active' && writes 201 300 && copied 300 &&
    [ "$(readlink releases/current)" = agent-v2.0.0 ]
}

# Upgrades to a version that crashes on trial. The agent of this version is generation 4. Generation
# 5, which runs the version of generation 2 again, must become active.
survives_trial() {
  goes_to 4.0.0 'generation 5.*is active' && writes 301 400 && copied 400 &&
    [ "$(readlink releases/current)" = agent-v2.0.0 ]
}

# Checks that the installed hello-agents are uncompressed, since their files name each other without
# `.gz`. Also checks that their scripts are executable.
has_hello_agents() {
  cp -r "$examples/hello-agent" . &&
    [ "$(find hello-agent -mindepth 1 -name 'hello[-_]agent*' | wc -l)" = 7 ] &&
    ls hello-agent/python/agent_protocol/session.py hello-agent/go/session.go \
      hello-agent/javascript/lib/session.js hello-agent/rust/src/session.rs || return 1
  for script in hello-agent.sh python/examples/hello_agent.py javascript/examples/hello-agent.js; do
    [ -x "hello-agent/$script" ] || { echo "$script"; return 1; }
  done
}

# Switches on the loopback device of the network namespace in which this script runs.
switches_on_network() {
  perl -MSocket -e 'socket(S, AF_INET, SOCK_DGRAM, 0) or die $!;
    my $up = pack("a16 s x14", "lo", 0x41); ioctl(S, 0x8914, $up) or die $!'
}

# Prints the next number that the active hello-agent serves.
next_number() {
  # shellcheck disable=SC2016  # the inner bash expands the text
  timeout "$limit" bash -c '
    # This loop ends when the shell has a connection, or when `timeout` kills the shell.
    until exec 7<>/dev/tcp/127.0.0.1/7000; do :; done 2>/dev/null
    head -n 1 <&7'
}

hello_agent_counts() {
  switches_on_network || return 1
  # shellcheck disable=SC2046  # pkg-config prints several options
  cc -o hello-agent/hello-1 hello-agent/hello-agent.c \
    $(pkg-config --cflags --libs agent-protocol) || return 1
  # shellcheck disable=SC2046  # pkg-config prints several options
  c++ -std=c++20 -o hello-agent/hello-2 hello-agent/hello-agent.cc \
    $(pkg-config --cflags --libs agent-protocol) || return 1
  ln -s hello-1 hello-agent/current && : >log
  upgrader hello-agent/current 7000 count 2>log &
  upgrader=$!
  [ "$(next_number)" = 1 ] && ln -sfn hello-2 hello-agent/current && kill -USR2 "$upgrader" &&
    logged 'generation 2 .*is active' && [ "$(next_number)" = 2 ] || { cat log; return 1; }
  kill -TERM "$upgrader" && wait "$upgrader"
}

stops() { kill -TERM "$upgrader" && wait "$upgrader"; }

# Checks that each line of the log was copied once, in order. Compares only numbers and texts: a
# copied line has number, version, time and text.
loses_nothing() {
  awk '{ print $1, $NF }' copy >got && awk '{ print NR, $NF }' app.log >wanted && diff wanted got
}

versions_at_work() {
  [ "$(sed -n '1p;100p;200p;300p;400p' copy | cut -d ' ' -f 2 | tr '\n' ' ')" = \
    '1.0.0 1.0.0 2.0.0 2.0.0 2.0.0 ' ]
}

# shellcheck disable=SC2086  # a list of package names
removes() { with_systemd dpkg --purge $packages; }

services_are_stopped() {
  cat told
  for service in agent controller signer; do grep "stop.*fleet-$service" told || return 1; done
}

is_seen() { listing >during && ! diff before during >seen && grep /usr/bin/upgrader seen; }

leaves_nothing() { listing >after && diff before after; }

check 'dpkg installs the packages, and what they need is there' installs
check 'all is in its place, and as it was packed' in_place
check 'service files name the program where it is' names_itself
check 'the sample agent is built from the examples' builds
check 'it links the installed library' links_the_library
check 'the installed upgrader runs it' works
check 'a good upgrade' upgrades
check 'newer packages, while it works' becomes_newer
check 'fleet-agent goes on; controller and signer get their new programs' services_go_on
check 'a bad one, at its start' survives_start
check 'a bad one, on trial' survives_trial
check 'it stops with status 0' stops
check 'every line was copied once' loses_nothing
check 'by the versions that were to do it' versions_at_work
check 'agent-releases adds a release' adds_a_release
check 'the hello-agents are there, in seven languages' has_hello_agents
check 'one in C counts, and one in C++ counts on' hello_agent_counts
check 'canary: what is installed is seen' is_seen
check 'dpkg removes the packages' removes
check 'their services are stopped' services_are_stopped
check 'nothing is left' leaves_nothing
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
