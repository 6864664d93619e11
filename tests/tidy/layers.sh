# Checks that the house stands: which file may include which.

layer_checks='layers cereal uv decisions sample_agent_includes'

# The layer of every file of the libraries and the program. L0 names, L1 distrusts bytes, L2
# decides, L3 acts, L4 is main. A file includes only what lies in its own layer or below.
layer_table() {
  cat <<'TABLE'
0 agent-protocol/message.h
0 agent-protocol/names.h
0 agent-protocol/result.h
0 upgrader/check.h
0 upgrader/log_level.h
0 upgrader/time.h
0 upgrader/version.h
1 agent-protocol/archive.cc
1 agent-protocol/archive.h
1 agent-protocol/codec.cc
1 agent-protocol/codec.h
1 agent-protocol/escape.cc
1 agent-protocol/escape.h
1 agent-protocol/json_line.cc
1 agent-protocol/json_line.h
1 agent-protocol/line_reader.cc
1 agent-protocol/line_reader.h
1 agent-protocol/member.h
1 agent-protocol/serialize.h
1 agent-protocol/utf8.cc
1 agent-protocol/utf8.h
2 agent-protocol/session.cc
2 agent-protocol/session.h
2 agent-protocol/session_print.cc
2 agent-protocol/session_refusals.cc
2 upgrader/action.h
2 upgrader/ending.cc
2 upgrader/ending.h
2 upgrader/event.h
2 upgrader/log_limit.cc
2 upgrader/log_limit.h
2 upgrader/pace.h
2 upgrader/options.cc
2 upgrader/options.h
2 upgrader/state.cc
2 upgrader/state.h
2 upgrader/supervisor.cc
2 upgrader/supervisor.h
2 upgrader/supervisor_print.cc
2 upgrader/words.cc
2 upgrader/words.h
3 agent-protocol/agent.cc
3 agent-protocol/agent.h
3 agent-protocol/agent_channel.cc
3 agent-protocol/agent_channel.h
3 agent-protocol/agent_conversation.cc
3 agent-protocol/agent_conversation.h
3 agent-protocol/agent_descriptor.h
3 agent-protocol/agent_event.cc
3 agent-protocol/agent_event.h
3 agent-protocol/agent_mark.cc
3 agent-protocol/agent_mark.h
3 agent-protocol/agent_protocol.h
3 agent-protocol/agent_request.cc
3 agent-protocol/agent_request.h
3 agent-protocol/agent_signals.cc
3 agent-protocol/agent_signals.h
3 agent-protocol/agent_surroundings.cc
3 agent-protocol/agent_surroundings.h
3 upgrader/agents.cc
3 upgrader/agents_end.cc
3 upgrader/agents.h
3 upgrader/channel.cc
3 upgrader/channel.h
3 upgrader/check.cc
3 upgrader/descriptors.cc
3 upgrader/descriptors.h
3 upgrader/environment.cc
3 upgrader/environment.h
3 upgrader/errno_name.cc
3 upgrader/errno_name.h
3 upgrader/executable.cc
3 upgrader/executable.h
3 upgrader/execution.cc
3 upgrader/execution.h
3 upgrader/link.cc
3 upgrader/link.h
2 upgrader/init_news.cc
2 upgrader/init_news.h
3 upgrader/init_system.cc
3 upgrader/init_system.h
3 upgrader/readiness.cc
3 upgrader/readiness.h
3 upgrader/lock.cc
3 upgrader/lock.h
3 upgrader/lock_holders.cc
3 upgrader/lock_holders.h
3 upgrader/log.cc
3 upgrader/log.h
3 upgrader/loop_actions.cc
3 upgrader/loop.cc
3 upgrader/loop.h
3 upgrader/no_wait.cc
3 upgrader/no_wait.h
3 upgrader/owned_fd.h
3 upgrader/process.cc
3 upgrader/process.h
3 upgrader/program.cc
3 upgrader/program.h
3 upgrader/programs.cc
3 upgrader/programs.h
3 upgrader/uv_handle.h
4 upgrader/main.cc
TABLE
}

house_files() {
  product_files | grep -E '^(agent-protocol|upgrader)/'
}

# Lines `FILE:LINE:INCLUDED` for the files on standard input.
includes() {
  xargs grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null |
    sed -E 's/^([^:]*:[0-9]+):[^<"]*[<"]([^>"]*)[>"].*/\1:\2/'
}

# Every file has a layer, every layer's files exist, and nobody includes upwards.
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
      here[$0] = 1
      if (!($0 in layer)) print $0 ": has no layer in tests/tidy/layers.sh"
      next
    }
    {
      split($0, part_of, ":")
      file = part_of[1]; included = part_of[3]
      if (included !~ /^(agent-protocol|upgrader)\//) next
      if (!(included in layer)) print file ":" part_of[2] ": includes unknown " included
      else if (layer[included] > layer[file])
        print file ":" part_of[2] ": L" layer[file] " includes " included " of L" layer[included]
      if (file ~ /^agent-protocol\// && included ~ /^upgrader\//)
        print file ":" part_of[2] ": agent-protocol/ includes " included
    }
    END {
      for (file in layer) if (!(file in here)) print file ": has a layer and does not exist"
    }'
}

canary_layers() {
  echo '#include "upgrader/loop.h"' >>upgrader/supervisor.h
  echo 'L2 includes upgrader/loop.h of L3'
  echo '// Planted.' >upgrader/planted.h
  echo 'upgrader/planted.h: has no layer'
  echo '#include "upgrader/time.h"' >>agent-protocol/session.h
  echo 'agent-protocol/ includes upgrader/time.h'
  rm upgrader/event.h
  echo 'upgrader/event.h: has a layer and does not exist'
}

layer_of() {
  layer_table | awk -v layer="$1" '$1 == layer { print $2 }'
}

# cereal is for L1 alone.
check_cereal() {
  layer_of 1 >"$scratch/allowed"
  product_files | includes | grep -E ':(cereal|rapidjson)/' | while IFS=: read -r file line name; do
    grep -qxF "$file" "$scratch/allowed" || echo "$file:$line: includes $name"
  done
}

canary_cereal() {
  echo '#include <cereal/cereal.hpp>' >>agent-protocol/message.h
  echo 'agent-protocol/message.h'
  echo '#include <cereal/external/rapidjson/reader.h>' >>upgrader/loop.h
  echo 'upgrader/loop.h'
}

# libuv is for L3 alone, and of that for the upgrader and the sample agent: not for the library.
check_uv() {
  layer_of 3 | grep '^upgrader/' >"$scratch/allowed"
  product_files | includes | grep -E ':uv(\.h|/)' | while IFS=: read -r file line name; do
    case $file in sample-agent/*) continue ;; esac
    grep -qxF "$file" "$scratch/allowed" || echo "$file:$line: includes $name"
  done
}

canary_uv() {
  echo '#include <uv.h>' >>upgrader/options.h
  echo 'upgrader/options.h'
  echo '#include <uv.h>' >>agent-protocol/agent.h
  echo 'agent-protocol/agent.h'
}

# What L0 to L2 may include of the system: nothing that does input or output, tells the time, or
# knows a process. What they include is a list, so that whatever is new is looked at.
pure_headers='algorithm array bit cerrno charconv chrono compare concepts csignal cstddef cstdint
  cstdlib cstring errno.h functional initializer_list iterator limits map memory new numeric
  optional set signal.h span stdint.h string string_view tuple type_traits unordered_map utility
  variant vector'

# L0 to L2 do no input or output and read no clock.
check_decisions() {
  pure=$(for layer in 0 1 2; do layer_of $layer; done)
  echo "$pure_headers" | tr -s ' ' '\n' >"$scratch/allowed"
  for file in $pure; do [ ! -f "$file" ] || echo "$file"; done >"$scratch/pure"
  includes <"$scratch/pure" | grep -vE ':(agent-protocol|upgrader|cereal|rapidjson)/' |
    while IFS=: read -r file line name; do
      grep -qxF "$name" "$scratch/allowed" || echo "$file:$line: includes <$name>"
    done
  calls='getpid|getenv|system|gettimeofday|clock_gettime|fopen|printf|std::c(out|err)'
  xargs grep -nE "_clock\\b|\\b($calls)\\b" /dev/null <"$scratch/pure" |
    grep -v ':[[:space:]]*//'
}

canary_decisions() {
  echo '#include <unistd.h>' >>upgrader/supervisor.h
  echo 'includes <unistd.h>'
  echo '#include <sys/types.h>' >>agent-protocol/session.h
  echo 'includes <sys/types.h>'
  echo '#include <time.h>' >>upgrader/action.h
  echo 'includes <time.h>'
  echo '#include <iostream>' >>agent-protocol/codec.h
  echo 'includes <iostream>'
  echo 'auto planted = std::chrono::steady_clock::now();' >>upgrader/event.h
  echo 'planted = '
}

# The sample agent is written as anybody's agent is: against what is installed.
check_sample_agent_includes() {
  product_files | grep '^sample-agent/' | includes |
    grep -E ':(agent-protocol|upgrader)/' |
    grep -vE ':agent-protocol/(agent_protocol|agent)\.h$' | sed 's/$/: is not installed/'
}

canary_sample_agent_includes() {
  echo '// Planted.
#include "upgrader/time.h"
#include "agent-protocol/session.h"' >sample-agent/planted.h
  echo 'sample-agent/planted.h:2:upgrader/time.h'
  echo 'sample-agent/planted.h:3:agent-protocol/session.h'
}
