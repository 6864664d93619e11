# Checks the #include lines of the tree's files. Each file belongs to a layer, and may include only
# files of its own layer and of lower layers.

layer_checks='layers crossings cereal uv decisions releases sample_agent_includes
  conformance_includes notify_watchdog_includes upgraderctl_includes fleet_model fleet_store
  fleet_orders fleet_cell fleet_http'

# The files of base/ that do input or output. The rest of base/ does no input or output, and reads
# no clock.
base_shell='check|curl_loop|descriptors|directory|environment|event_loop|executable'
base_shell="$base_shell|interruption|lock|no_wait|notify_listener|owned_fd|process|program|repeated"
base_shell="$base_shell|signal_watch|standard_output|temporary_path|terminal_size|uv_handle"

# Prints the layer of every file of the libraries and of the upgrader: L0 is plain data, L1 reads
# bytes from outside, L2 decides, L3 acts, L4 is main(). The layer follows from the directory,
# except for the files that are listed here and in base_shell.
layer_table() {
  find agent-protocol base upgrader -type f \( -name '*.cc' -o -name '*.h' \) | LC_ALL=C sort |
    awk -v base_shell="^base/($base_shell)[.]" '
    BEGIN {
      wire = "agent-protocol/cpp/wire/"; core = "upgrader/core/"
      split(wire "message.h " core "log_level.h " \
            "base/check.h base/result.h base/time.h base/version.h", nouns, " ")
      for (i in nouns) layer[nouns[i]] = 0
      layer["upgrader/main.cc"] = 4
    }
    $0 in layer { print layer[$0], $0; next }
    $0 ~ base_shell || /control_directory[.]/ { print 3, $0; next }
    /^base\/|^agent-protocol\/cpp\/control\// { print 1, $0; next }
    /^(agent-protocol\/cpp|upgrader)\/wire\// { print 1, $0; next }
    /^(agent-protocol\/cpp\/session|upgrader\/core)\// { print 2, $0; next }
    /^(agent-protocol\/(cpp\/agent\/|agent(_protocol)?\.h$)|upgrader\/shell\/)/ { print 3, $0 }'
}

house_files() {
  product_files | grep -E '^(agent-protocol|base|upgrader)/'
}

# Prints lines `FILE:LINE:INCLUDED` for the files on standard input.
includes() {
  xargs grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null |
    sed -E 's/^([^:]*:[0-9]+):[^<"]*[<"]([^>"]*)[>"].*/\1:\2/'
}

# Reads lines `FILE:LINE:INCLUDED` from standard input, and reports those whose INCLUDED is not
# listed in the file "$scratch/allowed". In the report, $1 stands before INCLUDED, and $2 after it.
not_allowed() {
  awk -F: -v allowed="$scratch/allowed" -v opening="${1:-}" -v closing="${2:-}" '
    BEGIN { while ((getline name < allowed) > 0) is_allowed[name] }
    !($3 in is_allowed) { print $1 ":" $2 ": includes " opening $3 closing }'
}

# Reads lines `FILE:LINE:INCLUDED` from standard input, and reports those whose FILE is not listed
# in the file "$scratch/allowed".
not_allowed_here() {
  awk -F: -v allowed="$scratch/allowed" '
    BEGIN { while ((getline name < allowed) > 0) is_allowed[name] }
    !($1 in is_allowed) { print $1 ":" $2 ": includes " $3 }'
}

# usage: without PATTERN BUT
# Passes on the lines `FILE:LINE:INCLUDED`, except for those whose INCLUDED matches PATTERN and does
# not match BUT.
without() {
  awk -F: -v pattern="$1" -v but="$2" '$3 !~ pattern || $3 ~ but'
}

# Checks that every file has a layer, and includes no file of a higher layer.
check_layers() {
  {
    layer_table
    echo ---
    house_files
    echo ---
    house_files | includes
  } | awk '
    $0 == "---" { part++; next }
    part == 0 { layer[$2] = $1; next }
    part == 1 {
      if (!($0 in layer)) print $0 ": its folder says no layer: see tests/judging/tidy/layers.sh"
      next
    }
    {
      split($0, part_of, ":")
      file = part_of[1]; included = part_of[3]
      if (included !~ /^(agent-protocol|base|upgrader)\//) next
      if (!(included in layer)) print file ":" part_of[2] ": includes unknown " included
      else if (layer[included] > layer[file])
        print file ":" part_of[2] ": L" layer[file] " includes " included " of L" layer[included]
      if (file ~ /^agent-protocol\// && included ~ /^upgrader\//)
        print file ":" part_of[2] ": agent-protocol/ includes " included
      if (file ~ /^base\// && included !~ /^base\//)
        print file ":" part_of[2] ": base/ includes " included
    }'
}

canary_layers() {
  echo '#include "upgrader/shell/loop.h"' >>upgrader/core/supervisor.h
  echo 'L2 includes upgrader/shell/loop.h of L3'
  echo '// Planted.' >upgrader/planted.h
  echo 'upgrader/planted.h: its folder says no layer'
  echo '#include "upgrader/core/log_level.h"' >>agent-protocol/cpp/session/session.h
  echo 'agent-protocol/ includes upgrader/core/log_level.h'
  echo '#include "agent-protocol/cpp/wire/message.h"' >>base/time.h
  echo 'base/ includes agent-protocol/cpp/wire/message.h'
}

# Checks that a program of upgrader/, tools/ or fleet/ includes only its own files, base/,
# agent-protocol/ and the installed headers of libagent-releases, but no other program's files.
# There is one exception: `agentify run` checks the upgrader's options with the upgrader's own code.
check_crossings() {
  product_files | grep -E '^(base|agent-protocol|upgrader|tools|fleet)/' | includes |
    awk -F: '
      function program(path, parts) {
        split(path, parts, "/")
        return parts[1] == "tools" ? parts[1] "/" parts[2] : parts[1]
      }
      $3 !~ /^(base|agent-protocol|upgrader|tools|fleet)\// { next }
      $1 ~ /^tools\/agentify\/launch\// && $3 == "upgrader/core/options.h" { next }
      program($3) == "base" || program($1) == program($3) { next }
      program($3) == "agent-protocol" && program($1) != "base" { next }
      { print $1 ":" $2 ": includes " $3 ", of another program" }'
}

canary_crossings() {
  echo '#include "tools/upgraderctl/core/errand.h"' >>fleet/agent/main.cc
  echo 'fleet/agent/main.cc:'
  echo '#include "upgrader/core/state.h"' >>tools/agentify/adapter.h
  echo 'includes upgrader/core/state.h, of another program'
  echo '#include "tools/agent-releases/core/names.h"' >>tools/agentify/loop.h
  echo 'tools/agentify/loop.h:'
  echo '#include "fleet/model/records/keys.h"' >>upgrader/main.cc
  echo 'upgrader/main.cc:'
  echo '#include "agent-protocol/cpp/wire/codec.h"' >>base/time.h
  echo 'base/time.h:'
}

layer_of() {
  layer_table | awk -v layer="$1" '$1 == layer { print $2 }'
}

# Checks that only the files of layer L1, fleet/model and agent-conformance include cereal. Separate
# checks name the files of fleet/model and of agent-conformance that may include cereal.
check_cereal() {
  {
    layer_of 1
    product_files | grep -E '^(tools/agent-conformance|fleet/model)/'
  } \
    >"$scratch/allowed"
  product_files | includes | grep -E ':(cereal|rapidjson)/' | not_allowed_here
}

canary_cereal() {
  echo '#include <cereal/cereal.hpp>' >>agent-protocol/cpp/wire/message.h
  echo 'agent-protocol/cpp/wire/message.h'
  echo '#include <cereal/external/rapidjson/reader.h>' >>upgrader/shell/loop.h
  echo 'upgrader/shell/loop.h'
}

# Checks that libuv is included only by the files of layer L3 of base/ and the upgrader, by the
# sample agent, and by programs of tools/ and fleet/. The library for agents must not include it.
check_uv() {
  layer_of 3 | grep -E '^(base|upgrader)/' >"$scratch/allowed"
  product_files | grep -vE '^(sample-agent|tools|fleet)/' | includes | grep -E ':uv(\.h|/)' |
    not_allowed_here
}

canary_uv() {
  echo '#include <uv.h>' >>upgrader/core/options.h
  echo 'upgrader/core/options.h'
  echo '#include <uv.h>' >>agent-protocol/agent.h
  echo 'agent-protocol/agent.h'
}

# The system headers that the layers L0 to L2 (all code that does not act on the system) may
# include. None of them is for input or output, for the time, or for processes. The check reports
# any other header, so that somebody decides about each new one.
pure_headers='algorithm array bit cerrno charconv chrono compare concepts csignal cstdarg cstddef
  cstdint cstdlib cstring errno.h functional initializer_list iterator limits map memory new numeric
  optional set signal.h span stdint.h string string_view tuple type_traits unordered_map
  unordered_set utility variant vector'

# Prints the calls that do input or output, or that read a clock, in the files that "$scratch/pure"
# lists.
impure_calls() {
  calls='getpid|getenv|gettimeofday|clock_gettime|fopen|printf|std::c(out|err)'
  # The pattern finds calls of system(), but not `system/`, which is a part of the names of
  # systemd's directories.
  xargs grep -nE "_clock\\b|\\b($calls)\\b|\\bsystem\\b([^/]|\$)" /dev/null <"$scratch/pure" |
    grep -v ':[[:space:]]*//'
}

# Checks that the files of the layers L0 (plain data), L1 (reads bytes from outside) and L2
# (decides) do no input or output, and read no clock.
check_decisions() {
  pure=$(for layer in 0 1 2; do layer_of $layer; done)
  echo "$pure_headers sodium.h" | tr -s ' ' '\n' >"$scratch/allowed"
  for file in $pure; do [ ! -f "$file" ] || echo "$file"; done >"$scratch/pure"
  includes <"$scratch/pure" | grep -vE ':(agent-protocol|base|upgrader|cereal|rapidjson)/' |
    not_allowed '<' '>'
  impure_calls
}

canary_decisions() {
  echo '#include <unistd.h>' >>upgrader/core/supervisor.h
  echo 'includes <unistd.h>'
  echo '#include <sys/types.h>' >>agent-protocol/cpp/session/session.h
  echo 'includes <sys/types.h>'
  echo '#include <time.h>' >>upgrader/core/action.h
  echo 'includes <time.h>'
  echo '#include <iostream>' >>agent-protocol/cpp/wire/codec.h
  echo 'includes <iostream>'
  echo 'auto planted = std::chrono::steady_clock::now();' >>upgrader/core/event.h
  echo 'planted = '
}

# Checks that the deciding part of agent-releases does no input or output, and reads no clock: it
# may include neither system headers nor the files of agent-releases that do input or output.
# libsodium's headers are allowed, since libsodium only computes.
check_releases() {
  echo "$pure_headers array sodium.h" | tr -s ' ' '\n' >"$scratch/allowed"
  product_files | grep -E '^tools/agent-releases/(core|include)/' |
    grep -vE '/agent-releases/(self_test|trust)[.]h$' | includes |
    grep -vE ':(agent-protocol/cpp/wire|base|tools/agent-releases/core|agent-releases)/' |
    not_allowed
}

canary_releases() {
  echo '#include "tools/agent-releases/shell/store.h"' >>tools/agent-releases/core/choice.h
  echo 'includes tools/agent-releases/shell/store.h'
  echo '#include <sys/stat.h>' >>tools/agent-releases/core/ledger.cc
  echo 'includes sys/stat.h'
}

# Checks that the sample agent is written like any other agent: it may only use files that are
# installed.
check_sample_agent_includes() {
  product_files | grep '^sample-agent/' | includes |
    grep -E ':(agent-protocol|base|upgrader)/' |
    grep -vE ':agent-protocol/(agent_protocol|agent)\.h$' | sed 's/$/: is not installed/'
}

canary_sample_agent_includes() {
  echo '// Planted.
#include "base/time.h"
#include "agent-protocol/cpp/session/session.h"' >sample-agent/planted.h
  echo 'sample-agent/planted.h:2:base/time.h'
  echo 'sample-agent/planted.h:3:agent-protocol/cpp/session/session.h'
}

# The files of agent-conformance that do input or output. All its other files only decide.
conformance_shell='agent_process(_look|_start)?|main|stage'

# Checks three things. agent-conformance, which judges agents, and its double, a bad agent that
# tests it, include no code of the library or the upgrader. The double includes no code of
# agent-conformance. And the deciding part of agent-conformance does no input or output.
check_conformance_includes() {
  code_files | grep -E '^(tools/agent-conformance|tests/together/conformance)/' | includes |
    grep -E ':(agent-protocol|base|upgrader)/' |
    grep -vE ':base/(version|argument|duration|owned_fd|signal_watch|uv_handle)\.h$' |
    sed 's/$/: is code of what is judged/'
  includes <<FILES | grep ':tools/' | sed 's/$/: is code of the judge/'
tests/together/conformance/double.cc
FILES
  echo "$pure_headers deque memory rapidjson/document.h rapidjson/error/en.h sstream cstdio" |
    tr -s ' ' '\n' >"$scratch/allowed"
  code_files | grep '^tools/agent-conformance/' |
    grep -vE "/($conformance_shell)\.(h|cc)\$" | includes |
    grep -vE ':(tools/agent-conformance|base)/' | not_allowed '<' '>'
}

canary_conformance_includes() {
  echo '#include "agent-protocol/cpp/wire/codec.h"' >>tools/agent-conformance/said.cc
  echo 'agent-protocol/cpp/wire/codec.h: is code of what is judged'
  echo '#include "tools/agent-conformance/said.h"' >>tests/together/conformance/double.cc
  echo 'tools/agent-conformance/said.h: is code of the judge'
  echo '#include <uv.h>' >>tools/agent-conformance/play.h
  echo 'includes <uv.h>'
}

# The files of notify-watchdog that do input or output. All its other files only decide.
notify_watchdog_shell='device|log|main|notify_socket'

# Checks that the deciding part of notify-watchdog does no input or output, and that the whole
# program uses only base/ and the C library.
check_notify_watchdog_includes() {
  product_files | grep '^tools/notify-watchdog/' | includes | grep -E ':[^:]*/[^:]*$' |
    grep -vE ':(base|tools/notify-watchdog|sys|linux)/[^:]*$' | sed 's/$/: is not of base\//'
  echo "$pure_headers" | tr -s ' ' '\n' >"$scratch/allowed"
  product_files | grep '^tools/notify-watchdog/' | grep -vE "/($notify_watchdog_shell)\.(h|cc)\$" \
    >"$scratch/pure"
  includes <"$scratch/pure" |
    without '^(base|tools)/' "^base/($base_shell)[.]|^tools/.*/($notify_watchdog_shell)[.]h" |
    not_allowed '<' '>'
  impure_calls
}

canary_notify_watchdog_includes() {
  echo '#include "upgrader/core/state.h"' >>tools/notify-watchdog/device.cc
  echo 'upgrader/core/state.h: is not of base/'
  echo '#include "tools/notify-watchdog/device.h"' >>tools/notify-watchdog/guard.h
  echo 'includes <tools/notify-watchdog/device.h>'
  echo '#include <unistd.h>' >>tools/notify-watchdog/options.cc
  echo 'includes <unistd.h>'
}

# Checks that core/ of upgraderctl, which decides by the content of a control directory, does no
# input or output.
check_upgraderctl_includes() {
  echo "$pure_headers" | tr -s ' ' '\n' >"$scratch/allowed"
  product_files | grep '^tools/upgraderctl/core/' | includes |
    grep -vE ':(agent-protocol/cpp/(control|wire)|base|tools/upgraderctl/core)/' |
    not_allowed
}

canary_upgraderctl_includes() {
  echo '#include "tools/upgraderctl/shell/terminal.h"' >>tools/upgraderctl/core/conversation.h
  echo 'includes tools/upgraderctl/shell/terminal.h'
  echo '#include <poll.h>' >>tools/upgraderctl/core/errand.cc
  echo 'includes poll.h'
}

# Checks fleet/model, which decides for many machines as the supervisor does for one. It must do no
# input or output, read no clock, and use no code of the store or of the programs that use the
# store. Only record_archive and record_members may include cereal, and only target_match may use
# regular expressions.
check_fleet_model() {
  echo "$pure_headers deque" | tr -s ' ' '\n' >"$scratch/allowed"
  product_files | grep '^fleet/model/' >"$scratch/pure"
  includes <"$scratch/pure" | grep -v ':fleet/model/' | while IFS=: read -r file line name; do
    case $file:$name in
      *:base/result.h | *:base/number.h) continue ;;
      fleet/model/records/settings.cc:base/duration.h) continue ;;
      fleet/model/agent/capsule.cc:base/escape.h | fleet/model/agent/capsule.cc:base/signals.h)
        continue ;;
      fleet/model/rollouts/judge_*:cmath | fleet/model/rollouts/gates.cc:cmath | \
        fleet/model/agent/health_watch.cc:cmath) continue ;;
      fleet/model/records/record_*:base/*) continue ;;
      fleet/model/records/record_*:cereal/cereal.hpp) continue ;;
      fleet/model/records/record_*:agent-protocol/cpp/wire/*) continue ;;
      fleet/model/nodes/target_match.cc:pcre2.h) continue ;;
      fleet/model/releases/release_list.cc:agent-releases/version.h) continue ;;
    esac
    echo "$file:$line:$name"
  done | not_allowed '<' '>'
  impure_calls
}

canary_fleet_model() {
  echo '#include "fleet/store/store.h"' >>fleet/model/records/transaction.h
  echo 'includes <fleet/store/store.h>'
  echo '#include <thread>' >>fleet/model/records/transaction.cc
  echo 'includes <thread>'
  echo '#include <cereal/cereal.hpp>' >>fleet/model/records/transaction.h
  echo 'includes <cereal/cereal.hpp>'
  echo 'auto planted = std::chrono::steady_clock::now();' >>fleet/model/records/transaction.cc
  echo 'planted = '
}

# The files of fleet/store that do input or output. All other files of fleet/store do no input or
# output, and use only fleet/model.
fleet_store_shell='etcd_(admin|call|line|store)|http2|uv_timers'

check_fleet_store() {
  echo "$pure_headers random" | tr -s ' ' '\n' >"$scratch/allowed"
  product_files | grep '^fleet/store/' | grep -vE "/($fleet_store_shell)[a-z0-9_]*\.(h|cc)\$" \
    >"$scratch/pure"
  includes <"$scratch/pure" |
    without '^(fleet/model/records/transaction|etcd[.]pb)[.]h$|^fleet/store/' \
      "^fleet/store/($fleet_store_shell)[a-z0-9_]*[.]h\$" | not_allowed '<' '>'
  xargs grep -nE "(steady|system)_clock\\b" /dev/null <"$scratch/pure"
}

canary_fleet_store() {
  echo '#include "fleet/store/uv_timers.h"' >>fleet/store/mirror.h
  echo 'includes <fleet/store/uv_timers.h>'
  echo '#include "fleet/model/records/record_text.h"' >>fleet/store/store.h
  echo 'includes <fleet/model/records/record_text.h>'
  echo '#include <uv.h>' >>fleet/store/timers.h
  echo 'includes <uv.h>'
  echo 'auto planted = std::chrono::steady_clock::now();' >>fleet/store/timers.h
  echo 'planted = '
}

# Checks fleet/orders, which decides which orders are allowed. It must do no input or output, and
# read no clock. Of the project's other headers, it may include only those of fleet/model,
# fleet/common/release_draft.h and base/result.h.
check_fleet_orders() {
  echo "$pure_headers" | tr -s ' ' '\n' >"$scratch/allowed"
  product_files | grep '^fleet/orders/' >"$scratch/pure"
  includes <"$scratch/pure" | while IFS=: read -r file line name; do
    case $name in
      fleet/orders/* | fleet/model/* | fleet/common/release_draft.h | base/result.h) continue ;;
    esac
    echo "$file:$line:$name"
  done | not_allowed '<' '>'
  xargs grep -nE "(steady|system)_clock\\b|std::time\\b" /dev/null <"$scratch/pure"
}

canary_fleet_orders() {
  echo '#include "fleet/store/store.h"' >>fleet/orders/order.h
  echo 'includes <fleet/store/store.h>'
  echo '#include "fleet/http/message.h"' >>fleet/orders/orders.cc
  echo 'includes <fleet/http/message.h>'
  echo 'auto planted = std::time(nullptr);' >>fleet/orders/set_record.cc
  echo 'planted = '
}

# Checks that fleet/cell uses neither files nor processes. It describes and checks a cell, and
# decides when the programs of a trial cell are started and stopped.
check_fleet_cell() {
  echo "$pure_headers" | tr -s ' ' '\n' >"$scratch/allowed"
  product_files | grep '^fleet/cell/' >"$scratch/pure"
  includes <"$scratch/pure" | while IFS=: read -r file line name; do
    case $name in
      fleet/cell/* | fleet/model/* | base/ending.h | base/moment.h | base/result.h | base/time.h)
        continue ;;
    esac
    echo "$file:$line:$name"
  done | not_allowed '<' '>'
  impure_calls
}

canary_fleet_cell() {
  echo '#include "fleet/common/text_file.h"' >>fleet/cell/cell_terms.h
  echo 'includes <fleet/common/text_file.h>'
  echo '#include <unistd.h>' >>fleet/cell/dev_life.h
  echo 'includes <unistd.h>'
  echo 'auto planted = std::chrono::steady_clock::now();' >>fleet/cell/dev_life.cc
  echo 'planted = '
}

# The files of fleet/http that do input or output. All its other files only judge requests and
# choose answers.
fleet_http_shell='join_door|outside|peer|server'
fleet_http_shell="$fleet_http_shell|server_connections|server_listen|website|website_config"

check_fleet_http() {
  echo "$pure_headers" | tr -s ' ' '\n' >"$scratch/allowed"
  product_files | grep '^fleet/http/' | grep -vE "/($fleet_http_shell)\.(h|cc)\$" >"$scratch/pure"
  includes <"$scratch/pure" |
    without '^fleet/(model|orders|http)/|^fleet/store/store[.]h$|^(agent-protocol/cpp/wire|base)/' \
      "^fleet/http/($fleet_http_shell)[.]h\$" | not_allowed '<' '>'
  xargs grep -nE "(steady|system)_clock\\b|std::time\\b" /dev/null <"$scratch/pure"
}

canary_fleet_http() {
  echo '#include "fleet/http/server.h"' >>fleet/http/config.h
  echo 'includes <fleet/http/server.h>'
  echo '#include <microhttpd.h>' >>fleet/http/access.cc
  echo 'includes <microhttpd.h>'
  echo 'auto planted = std::time(nullptr);' >>fleet/http/state.cc
  echo 'planted = '
}
