# Checks the pages for users against the code, in both directions: everything in the code is on a
# page, and everything on a page is in the code. protocol_pages.sh has the pages for authors of
# agents.

page_checks='lint headings options upgraderctl_page releases_library
  exit_statuses signals environment links
  named_code versions status_members processors
  fleet_options fleet_commands fleet_statuses fleet_records'

mandoc_is_installed() {
  command -v mandoc >/dev/null && return
  echo 'mandoc is not installed'
  return 77
}

check_lint() {
  mandoc_is_installed || return
  page_files | xargs mandoc -Tlint -Wwarning
}

canary_lint() {
  printf '.\\" Planted.\n.Dd November 20, 2026\n.Dt PLANTED 1\n.Os\n.Sh NAME\n.Nm planted\n' \
    >man/planted.1
  echo 'man/planted.1'
}

# Checks that headings are rendered as they are written. If a word in a heading is also the name of
# a macro, such as No or In, mandoc swallows the word without a warning, unless \& stands before it.
# In mandoc's output, headings begin at the first or at the fourth column; the first and the last
# line are not headings.
check_headings() {
  mandoc_is_installed || return
  page_files | while IFS= read -r page; do
    sed -nE '/^\.S[hs] +/{s///; s/\\&|"//g; p}' "$page" >"$scratch/written"
    mandoc -Tascii -Owidth=100 "$page" |
      sed -nE '1d; $d; s/.\x08//g; s/^(   )?([^ ].*)/\2/p' >"$scratch/rendered"
    cmp -s "$scratch/written" "$scratch/rendered" || diff "$scratch/written" "$scratch/rendered" |
      sed -nE "s|^< |$page: is not rendered as it is written: |p; s|^> |$page: is rendered: |p"
  done
}

canary_headings() {
  printf '.Sh PLANTED\n.Ss No planted word\nText.\n.Ss \\&No planted word\nText.\n' \
    >>man/upgrader.8
  echo 'man/upgrader.8: is not rendered as it is written: No planted word'
  echo 'man/upgrader.8: is rendered: planted word'
}

# usage: differ NAME LIST NAME LIST
# Prints the lines that only one of two lists has.
differ() {
  sort -u "$2" -o "$2"
  sort -u "$4" -o "$4"
  comm -23 "$2" "$4" | sed "s|^|in $1 and not in $3: |"
  comm -13 "$2" "$4" | sed "s|^|in $3 and not in $1: |"
}

# Prints the section $2 of the page $1.
section() {
  awk -v wanted="$2" '/^\.Sh / { inside = (substr($0, 5) == wanted); next } inside' "$1"
}

# Reads a page from standard input. Prints the tags of the list items that begin with the macro $1,
# one in a line.
tags() {
  sed -nE "s/^\.It $1 //p" | sed -E 's/ , /\n/g; s/ Ns .*//; s/ .*//; s/,$//'
}

upgrader_is_built() {
  [ -f "$UPGRADER" ] && [ -x "$UPGRADER" ] && return
  echo "$UPGRADER: has not been built"
  return 1
}

options_on_page() {
  sed -nE 's/^\.It Fl (-[a-z-]+).*/-\1/p' "$1"
}

options_in_help() {
  "$1" --help | grep -oE -- '(^|[ ,[])--[a-z][a-z-]+' | sed 's/^[^-]*//'
}

# Compares the options in the code of each program with those on its manual page. The code for
# --help and --version is in base/command_line.h, which all programs use, so these two options are
# added for each program.
check_options() {
  sed -nE 's/.*(name|text) == "(--[a-z-]+)".*/\2/p' upgrader/core/options.cc \
    base/command_line.h >"$scratch/code"
  options_on_page man/upgrader.8 >"$scratch/page"
  differ upgrader/core/options.cc "$scratch/code" man/upgrader.8 "$scratch/page"
  grep -ohE '"--[a-z-]+' sample-agent/configuration.cc | tr -d '"' >"$scratch/code"
  options_on_page man/sample-agent.1 >"$scratch/page"
  differ sample-agent/configuration.cc "$scratch/code" man/sample-agent.1 "$scratch/page"
  grep -ohE '"--[a-z][a-z0-9-]*"|,--[a-z]+"' tools/agent-releases/shell/options.cc |
    tr -d '",' >"$scratch/code"
  sed -nE 's/^\.It (Cm .*)?Fl (-[a-z0-9-]+).*/-\2/p' man/agent-releases.1 >"$scratch/page"
  differ tools/agent-releases/shell/options.cc "$scratch/code" man/agent-releases.1 "$scratch/page"
  sed -nE 's/.*(name|text|word) == "(--[a-z-]+)".*/\2/p' tools/agentify/options.cc \
    tools/agentify/launch/*.cc base/command_line.h | sort -u >"$scratch/code"
  { options_on_page man/agentify.1; sed -nE 's/^\.It Fl h , (-help)/-\1/p' man/agentify.1; } \
    >"$scratch/page"
  differ tools/agentify/options.cc "$scratch/code" man/agentify.1 "$scratch/page"
  sed -nE 's/.*name == "(--[a-z-]+)".*/\1/p' tools/agent-conformance/options.cc >"$scratch/code"
  options_on_page man/agent-conformance.1 >"$scratch/page"
  differ tools/agent-conformance/options.cc "$scratch/code" man/agent-conformance.1 "$scratch/page"
  sed -nE 's/.*(name|text) == "(--[a-z-]+)".*/\2/p' tools/notify-watchdog/options.cc \
    base/command_line.h >"$scratch/code"
  { options_on_page man/notify-watchdog.8
    sed -nE 's/^\.It Fl h , (-help)/-\1/p' man/notify-watchdog.8; } >"$scratch/page"
  differ tools/notify-watchdog/options.cc "$scratch/code" man/notify-watchdog.8 "$scratch/page"
  options_on_page man/upgrader.8 >"$scratch/page"
  upgrader_is_built || return
  options_in_help "$UPGRADER" >"$scratch/help"
  differ "upgrader --help" "$scratch/help" man/upgrader.8 "$scratch/page"
}

canary_options() {
  printf '.It Fl -planted-page\nNothing.\n' >>man/upgrader.8
  echo 'in man/upgrader.8 and not in upgrader/core/options.cc: --planted-page'
  echo 'in man/upgrader.8 and not in upgrader --help: --planted-page'
  echo 'if (name == "--planted-code") return;' >>upgrader/core/options.cc
  echo 'in upgrader/core/options.cc and not in man/upgrader.8: --planted-code'
  echo 'app.add_flag("--planted-flag", x);' >>tools/agent-releases/shell/options.cc
  echo 'in tools/agent-releases/shell/options.cc and not in man/agent-releases.1: --planted-flag'
  echo 'if (name == "--planted-code") return;' >>tools/agentify/options.cc
  echo 'in tools/agentify/options.cc and not in man/agentify.1: --planted-code'
  echo 'if (name == "--planted-code") return;' >>tools/agent-conformance/options.cc
  echo 'in tools/agent-conformance/options.cc and not in man/agent-conformance.1: --planted-code'
  printf '.It Fl -planted-page\nNothing.\n' >>man/notify-watchdog.8
  echo 'in man/notify-watchdog.8 and not in tools/notify-watchdog/options.cc: --planted-page'
  echo 'PathOption{"--planted-code="}' >>sample-agent/configuration.cc
  echo 'in sample-agent/configuration.cc and not in man/sample-agent.1: --planted-code'
}

# Compares the page upgraderctl(1) with the help texts of upgraderctl's commands, and with the exit
# statuses in its code.
check_upgraderctl_page() {
  ctl=$(dirname "$UPGRADER")/upgraderctl
  [ -x "$ctl" ] || { echo "$ctl: has not been built"; return 1; }
  for command in $("$ctl" --help | sed -nE '1,/^Commands:/d; s/^  ([a-z]+) .*/\1/p'); do
    grep -qE "^\.It Cm $command\$" man/upgraderctl.1 || echo "man/upgraderctl.1: no $command"
    "$ctl" "$command" --help
  done | tee "$scratch/helps" | grep '^man/'
  "$ctl" --help >>"$scratch/helps"
  grep -oE '^  (-h,)?--[a-z][a-z-]+' "$scratch/helps" | sed 's/^.*--/--/' | sort -u >"$scratch/help"
  { options_on_page man/upgraderctl.1; sed -nE 's/^\.It Fl h , (-help)/-\1/p' man/upgraderctl.1; } \
    >"$scratch/page"
  differ "upgraderctl --help" "$scratch/help" man/upgraderctl.1 "$scratch/page"
  sed -nE 's/.* exit_[a-z_]+ = ([0-9]);/\1/p' tools/upgraderctl/core/options.h >"$scratch/code"
  section man/upgraderctl.1 'EXIT STATUS' | sed -nE 's/^\.It ([0-9]+)$/\1/p' >"$scratch/page"
  differ tools/upgraderctl "$scratch/code" man/upgraderctl.1 "$scratch/page"
}

canary_upgraderctl_page() {
  sed -i 's/^\.It Fl -no-wait/.It Fl -no-weight/; s/^\.It Cm rehearse/.It Cm rehears/
    s/^\.It 5$/.It 9/' man/upgraderctl.1
  echo 'in upgraderctl --help and not in man/upgraderctl.1: --no-wait'
  echo 'in man/upgraderctl.1 and not in upgraderctl --help: --no-weight'
  echo 'man/upgraderctl.1: no rehearse'
  echo 'in tools/upgraderctl and not in man/upgraderctl.1: 5'
}

# Compares the page libagent-releases(3) with the functions of the classes Releases and Follower.
# Releases::store() is left out: it is only for code that extends the class.
check_releases_library() {
  for class in releases follower; do
    sed -nE 's/^  (\[\[nodiscard\]\] )?(static )?[A-Za-z_:<>& ]+ ([a-z_]+)\(.*/\3/p' \
      tools/agent-releases/include/agent-releases/$class.h | grep -v '^store$' >"$scratch/code"
    sed -nE "s/^\.It Fn $class::([a-z_]+)\$/\1/Ip" man/libagent-releases.3 >"$scratch/page"
    differ "$class.h" "$scratch/code" man/libagent-releases.3 "$scratch/page"
  done
}

canary_releases_library() {
  sed -i 's/^  void dispatch();/&\n  void planted();/' \
    tools/agent-releases/include/agent-releases/follower.h
  echo 'in follower.h and not in man/libagent-releases.3: planted'
  sed -i 's/^\.It Fn Releases::prune/.It Fn Releases::prunes/' man/libagent-releases.3
  echo 'in man/libagent-releases.3 and not in releases.h: prunes'
}

check_exit_statuses() {
  cat upgrader/*/*.h upgrader/*.cc upgrader/*/*.cc |
    sed -nE 's/.*constexpr int exit_[a-z_]+ = ([0-9]+);.*/\1/p' >"$scratch/code"
  echo 0 >>"$scratch/code"
  section man/upgrader.8 'EXIT STATUS' | sed -nE 's/^\.It ([0-9]+)$/\1/p' >"$scratch/page"
  differ upgrader/ "$scratch/code" man/upgrader.8 "$scratch/page"
  sed -nE 's/.*constexpr int exit_[a-z_]+ = ([0-9]+);.*/\1/p' tools/notify-watchdog/main.cc \
    >"$scratch/code"
  section man/notify-watchdog.8 'EXIT STATUS' | sed -nE 's/^\.It ([0-9]+)$/\1/p' >"$scratch/page"
  differ tools/notify-watchdog/ "$scratch/code" man/notify-watchdog.8 "$scratch/page"
  sed -nE 's/.*constexpr int exit_[a-z_]+ = ([0-9]+);.*/\1/p' \
    tools/agent-releases/shell/commands.h \
    >"$scratch/code"
  echo 0 >>"$scratch/code"
  section man/agent-releases.1 'EXIT STATUS' | sed -nE 's/^\.It ([0-9]+)$/\1/p' >"$scratch/page"
  differ tools/agent-releases/ "$scratch/code" man/agent-releases.1 "$scratch/page"
}

canary_exit_statuses() {
  echo 'inline constexpr int exit_planted = 99;' >>upgrader/core/supervisor.h
  echo 'in upgrader/ and not in man/upgrader.8: 99'
  echo 'inline constexpr int exit_planted = 97;' >>tools/agent-releases/shell/commands.h
  echo 'in tools/agent-releases/ and not in man/agent-releases.1: 97'
  echo 'inline constexpr int exit_planted = 96;' >>tools/notify-watchdog/main.cc
  echo 'in tools/notify-watchdog/ and not in man/notify-watchdog.8: 96'
  printf '.Sh EXIT STATUS\n.It 98\n' >>man/upgrader.8
  echo 'in man/upgrader.8 and not in upgrader/: 98'
}

# Checks that every member of status.json is on the page upgrader(8).
check_status_members() {
  section man/upgrader.8 'CONTROL DIRECTORY' | grep 'Cm' | grep -oE '[a-z_]+' | sort -u \
    >"$scratch/page"
  grep -oE '"[a-z_]+"' upgrader/core/status_news.cc | tr -d '"' | sort -u |
    grep -vxFf "$scratch/page" | sed 's/^/in status_news.cc and not in man\/upgrader.8: /'
}

canary_status_members() {
  echo 'paper_.put("planted", 1);' >>upgrader/core/status_news.cc
  echo 'in status_news.cc and not in man/upgrader.8: planted'
}

# Checks that the signals on the page upgrader(8) are those that the upgrader reads, except SIGCHLD.
check_signals() {
  awk '/ read_signals\[\]/ { on = 1 } on { print } on && /;/ { exit }' \
    base/descriptors.h |
    grep -ohE '\bSIG[A-Z]+[0-9]?\b' |
    grep -vx SIGCHLD >"$scratch/code"
  section man/upgrader.8 SIGNALS | tags Dv >"$scratch/page"
  differ read_signals "$scratch/code" man/upgrader.8 "$scratch/page"
  upgrader_is_built || return
  "$UPGRADER" --help | grep -oE '\bSIG[A-Z]+[0-9]?\b' >"$scratch/help"
  differ "upgrader --help" "$scratch/help" man/upgrader.8 "$scratch/page"
}

canary_signals() {
  sed -i 's/ read_signals\[\] = {/&SIGWINCH, /' base/descriptors.h
  echo 'in read_signals and not in man/upgrader.8: SIGWINCH'
  printf '.Sh SIGNALS\n.It Dv SIGPWR\n' >>man/upgrader.8
  echo 'in man/upgrader.8 and not in read_signals: SIGPWR'
  echo 'in man/upgrader.8 and not in upgrader --help: SIGPWR'
}

# Checks that the environment variables in the code are those on the pages. The names in
# init_messages.cc are left out: they belong to messages to init.
check_environment() {
  product_files | grep -E '^(base|upgrader|agent-protocol)/' | grep -v '/init_messages\.cc$' |
    xargs grep -ohE '"([A-Z]+(_[A-Z]+)+|PATH)[="]' | tr -d '"=' >"$scratch/code"
  for page in man/upgrader.8 man/agent-protocol.7 man/agent_protocol.3; do
    section $page ENVIRONMENT
  done | tags Ev >"$scratch/page"
  differ 'the code' "$scratch/code" 'the pages' "$scratch/page"
}

canary_environment() {
  echo 'const char* planted = getenv("PLANTED_CODE");' >>upgrader/main.cc
  echo 'in the code and not in the pages: PLANTED_CODE'
  printf '.Sh ENVIRONMENT\n.It Ev PLANTED_PAGE\n' >>man/upgrader.8
  echo 'in the pages and not in the code: PLANTED_PAGE'
}

# Prints a line `FILE:TEXT:TARGET` for each link in a Markdown file to a file of the tree.
markdown_links() {
  tree_files | grep '\.md$' | xargs awk '
    function print_links() {
      while (match(text, /\[[^]]*\]\([^)#:]+\)/)) {
        link = substr(text, RSTART + 1, RLENGTH - 2)
        text = substr(text, RSTART + RLENGTH)
        sub(/\]\(/, ":", link)
        print file ":" link
      }
    }
    FNR == 1 { print_links(); file = FILENAME; text = "" }
    { text = text $0 " " }
    END { print_links() }'
}

# Checks that every link leads to a file, and that a link to a test has the name of an existing
# test. Files that a page names by their paths must exist, too.
check_links() {
  markdown_links | while IFS=: read -r file text target; do
    case $file in */*) path=${file%/*}/$target ;; *) path=$target ;; esac
    if [ ! -e "$path" ]; then
      echo "$file: $target does not exist"
    elif [ "${target%_test.cc}" != "$target" ] && ! grep -qF "TEST_CASE(\"$text\"" "$path"; then
      echo "$file: $target has no test: $text"
    fi
  done
  tree_files >"$scratch/files"
  grep -ohE '`[a-z_/-]+\.(h|cc|sh)`' ARCHITECTURE.md STYLE.md | tr -d '`' | grep -vx uv.h |
    sort -u | while IFS= read -r path; do
      [ -e "$path" ] || [ -e "upgrader/$path" ] || [ -e "agent-protocol/$path" ] ||
        grep -qE "^(upgrader|agent-protocol/cpp|base)/([a-z]+/)?$path\$" "$scratch/files" ||
        echo "ARCHITECTURE.md or STYLE.md: $path does not exist"
    done
}

canary_links() {
  printf '[planted\ntext](planted.md)\n' >>README.md
  echo '[a test that is not there](tests/together/integration/canary_test.cc)' >>README.md
  echo 'README.md: planted.md does not exist'
  echo 'README.md: tests/together/integration/canary_test.cc has no test: a test that is not there'
  printf 'See %s.\n' '`planted.cc`' >>ARCHITECTURE.md
  echo 'planted.cc does not exist'
}

# Checks the pages that describe the code: every function that they name must exist.
check_named_code() {
  grep -ohE '`([A-Za-z]+::)?[a-z_]+(\(\))?`' ARCHITECTURE.md STYLE.md | tr -d '`' |
    grep -E '::|_|\(\)' | grep -vE '_$|^(uv_|snake_|LISTEN)' | sed 's/.*:://; s/()//' | sort -u \
    >"$scratch/named"
  product_files | xargs grep -ohwFf "$scratch/named" | sort -u | comm -23 "$scratch/named" - |
    sed 's/.*/ARCHITECTURE.md or STYLE.md: & is not in the code/'
}

canary_named_code() {
  printf 'See %s and %s.\n' '`Loop::plant`' '`planted_here`' >>ARCHITECTURE.md
  echo 'plant is not in the code'
  echo 'planted_here is not in the code'
}

# Checks that all places that name the version name the same version.
check_versions() {
  version=$(sed -n 's/.*upgrader_version\[\] = "\(.*\)".*/\1/p' base/version.h)
  for told in "NEWS: $(sed -nE '1s/^upgrader ([0-9.]+)(,.*)?$/\1/p' NEWS)" \
    "debian/changelog: $(sed -nE '1s/^upgrader \((.*)\).*/\1/p' debian/changelog)" \
    "docs/packages.md: $(sed -nE 's|.* \./upgrader-([0-9.]+)\.tgz.*|\1|p' docs/packages.md)" \
    "pyproject.toml: $(sed -nE 's/^version = "(.*)"$/\1/p' agent-protocol/python/pyproject.toml)" \
    "Cargo.toml: $(sed -nE 's/^version = "(.*)"$/\1/p' agent-protocol/rust/Cargo.toml)" \
    "package.json: $(sed -nE 's/^  "version": "(.*)",$/\1/p' \
      agent-protocol/javascript/package.json)"; do
    [ "${told#*: }" = "$version" ] || echo "$told is not $version, as base/version.h says"
  done
}

canary_versions() {
  sed -i '1s/[0-9][0-9.]*/99.0/' NEWS
  sed -i '1s/([0-9][0-9.]*/(98.0/' debian/changelog
  sed -i 's/"version": "[0-9.]*/"version": "97.0/' agent-protocol/javascript/package.json
  echo 'package.json: 97.0 is not'
  echo 'NEWS: 99.0 is not'
  echo 'debian/changelog: 98.0 is not'
}

# Checks the processors for which the static program can be built. Each must be named in
# docs/small-machines.md and in the first comment of static.mk, and a table of processors on the
# page must have no other.
check_processors() {
  sed -nE 's/^static_triplet_([a-z0-9]+) = .*/\1/p' packaging/static/static.mk >"$scratch/code"
  sed '/^$/q' packaging/static/static.mk >"$scratch/comment"
  sed -n '/^    make static/p' docs/small-machines.md >"$scratch/commands"
  while IFS= read -r processor; do
    grep -qw "$processor" "$scratch/comment" ||
      echo "packaging/static/static.mk: the first comment lacks $processor"
    grep -qw "$processor" "$scratch/commands" ||
      echo "docs/small-machines.md: make static lacks $processor"
  done <"$scratch/code"
  sed -n '/^## Processors$/,/^## [^P]/p' docs/small-machines.md |
    sed -nE 's/^\| ([a-z0-9]+) \| [0-9,]+ \|.*/\1/p' | grep -vxFf "$scratch/code" |
    sed 's/.*/docs\/small-machines.md: no such processor: &/'
}

canary_processors() {
  echo 'static_triplet_planted = planted-linux-gnu' >>packaging/static/static.mk
  echo 'packaging/static/static.mk: the first comment lacks planted'
  echo 'docs/small-machines.md: make static lacks planted'
  printf '## Processors\n| plantedpage | 1 | 1 |\n' >>docs/small-machines.md
  echo 'docs/small-machines.md: no such processor: plantedpage'
}

# ---- the manual pages of the fleet: their options, commands of fleetctl, exit statuses and kinds
# of records must be those of the fleet's programs

# Sets `program` to the path of a program of the build. Fails if the program is missing.
fleet_program() {
  program=$(dirname "$UPGRADER")/$1
  [ -x "$program" ] || { echo "$program: has not been built"; return 1; }
}

# Makes a directory "$scratch/fleetctl" that has, for each command of fleetctl, a file with the
# command's help text. The file's name has all words of the command, such as `status` or
# `rollout start`. Does this only once, since all checks are of the same program.
fleetctl_helps() {
  helps=$scratch/fleetctl
  [ ! -d "$helps" ] || return 0
  mkdir "$helps"
  commands_below() { sed -nE '1,/^Subcommands:/d; s/^  ([a-z][a-z-]*) .*/\1/p'; }
  for first in $("$program" --help | commands_below); do
    "$program" "$first" --help >"$helps/$first"
    for second in $(commands_below <"$helps/$first"); do
      "$program" "$first" "$second" --help >"$helps/$first $second"
      rm -f "$helps/$first"  # a word that needs a second word is no command
    done
  done
}

# Lists the options that a help text names, without their explanations.
options_of_help() {
  sed -nE 's/^  (-h,)?(--[a-z][a-z-]+).*/\2/p'
}

options_of_fleet_page() {
  sed -nE 's/^\.It Fl (h , )?(-[a-z-]+).*/-\2/p' "$1"
}

check_fleet_options() {
  for name in fleet-agent fleet-controller fleet-signer; do
    fleet_program $name || continue
    {
      "$program" --help
      [ $name != fleet-agent ] || "$program" join --help
    } | options_of_help >"$scratch/help"
    options_of_fleet_page man/$name.8 >"$scratch/page"
    differ "$name --help" "$scratch/help" man/$name.8 "$scratch/page"
  done
  fleet_program fleetctl || return
  fleetctl_helps
  {
    "$program" --help
    cat "$scratch/fleetctl"/*
  } | options_of_help >"$scratch/help"
  options_of_fleet_page man/fleetctl.1 >"$scratch/page"
  differ 'fleetctl --help' "$scratch/help" man/fleetctl.1 "$scratch/page"
}

canary_fleet_options() {
  sed -i 's/^\.It Fl -label/.It Fl -lable/' man/fleet-agent.8
  echo 'in fleet-agent --help and not in man/fleet-agent.8: --label'
  echo 'in man/fleet-agent.8 and not in fleet-agent --help: --lable'
  printf '.It Fl -planted\n' >>man/fleet-controller.8
  echo 'in man/fleet-controller.8 and not in fleet-controller --help: --planted'
  sed -i 's/^\.It Fl -canary/.It Fl -finch/' man/fleetctl.1
  echo 'in fleetctl --help and not in man/fleetctl.1: --canary'
  echo 'in man/fleetctl.1 and not in fleetctl --help: --finch'
}

check_fleet_commands() {
  fleet_program fleetctl || return
  fleetctl_helps
  ls "$scratch/fleetctl" >"$scratch/help"
  section man/fleetctl.1 DESCRIPTION | sed -nE 's/^\.It Cm ([a-z -]+)$/\1/p' >"$scratch/page"
  differ 'fleetctl --help' "$scratch/help" man/fleetctl.1 "$scratch/page"
}

canary_fleet_commands() {
  sed -i 's/^\.It Cm rollout abort/.It Cm rollout abandon/' man/fleetctl.1
  echo 'in fleetctl --help and not in man/fleetctl.1: rollout abort'
  echo 'in man/fleetctl.1 and not in fleetctl --help: rollout abandon'
}

check_fleet_statuses() {
  sed -nE 's/.* exit_[a-z_]+ = ([0-9]+);/\1/p' fleet/fleetctl/options.h >"$scratch/code"
  section man/fleetctl.1 'EXIT STATUS' | sed -nE 's/^\.It ([0-9]+)$/\1/p' >"$scratch/page"
  differ fleet/fleetctl "$scratch/code" man/fleetctl.1 "$scratch/page"
}

canary_fleet_statuses() {
  sed -i 's/^\.It 5$/.It 9/' man/fleetctl.1
  echo 'in fleet/fleetctl and not in man/fleetctl.1: 5'
}

# Compares the kinds of records on the page fleet(7) with keys.cc. Some parts of a key vary. For
# such a part, the page has a word such as ID, UUID, RID or N, and keys.cc has a sign such as `*`.
# The comparison treats all these words and signs as NAME.
check_fleet_records() {
  sed -nE 's/.*KeyKind::[a-z_]+, "([^"]+)".*/\1/p' fleet/model/records/keys.cc |
    sed -E ':again; s/(^|\/)[*cV#E](\/|$)/\1NAME\2/; t again' >"$scratch/code"
  section man/fleet.7 RECORDS | sed -nE 's/^\.It Pa //p' | sed 's/ , /\n/g' |
    sed -E 's/\b[A-Z]+\b/NAME/g' >"$scratch/page"
  differ fleet/model/records/keys.cc "$scratch/code" man/fleet.7 "$scratch/page"
}

canary_fleet_records() {
  sed -i 's/KeyKind::stop, "stop"/KeyKind::stop, "halt"/' fleet/model/records/keys.cc
  echo 'in fleet/model/records/keys.cc and not in man/fleet.7: halt'
  echo 'in man/fleet.7 and not in fleet/model/records/keys.cc: stop'
}
