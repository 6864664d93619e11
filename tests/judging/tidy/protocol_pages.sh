# Checks the pages for authors of agents, agent-protocol(7) and agent_protocol(3), against the code,
# in both directions.

protocol_checks='messages values limits transcripts functions constants structures'

# Prints each message type in the code as a line `TYPE`, and each member of a message as a line
# `TYPE MEMBER`.
members_in_code() {
  awk '
    /^struct [A-Za-z]+ \{/ { name = $2 }
    /^  static constexpr std::string_view type = / {
      if (match($0, /"[a-z_]+"/)) type[name] = substr($0, RSTART + 1, RLENGTH - 2)
    }
    /^void serialize(_terms)?\(/ {
      match($0, /[A-Za-z]+& ?[a-z]*\) \{/); name = substr($0, RSTART, RLENGTH); sub(/&.*/, "", name)
    }
    /serialize\(archive, message\.failure\)/ {
      members[name] = members[name] " " members["Failure"]
    }
    {
      rest = $0
      while (match(rest, /make_nvp\("[a-z_]+"/)) {
        members[name] = members[name] " " substr(rest, RSTART + 10, RLENGTH - 11)
        rest = substr(rest, RSTART + RLENGTH)
      }
    }
    END {
      for (name in type) {
        print type[name]
        count = split(members[name], member, " ")
        for (i = 1; i <= count; i++) print type[name], member[i]
      }
    }' agent-protocol/cpp/wire/message.h agent-protocol/cpp/wire/serialize.h
}

# Prints lines in the form of members_in_code, for the message types and members on the page
# agent-protocol(7). The page has a list of types, and below each type a list of its members.
members_on_page() {
  awk '
    /^\.S[hs] / { part = $0; depth = 0 }
    /^\.Bl / { depth++ }
    /^\.El/ { depth-- }
    part ~ /^\.Sh MESSAGES/ && depth == 1 && /^\.It Cm / { type = $3; print type }
    part ~ /^\.Sh MESSAGES/ && depth == 2 && /^\.It Va / { print type, $3 }
    part == ".Sh UPGRADES" && depth == 1 && /^\.It Va / { print "upgrade", $3 }
  ' man/agent-protocol.7
}

check_messages() {
  members_in_code >"$scratch/code"
  members_on_page >"$scratch/page"
  differ agent-protocol/cpp/wire/serialize.h "$scratch/code" man/agent-protocol.7 "$scratch/page"
}

canary_messages() {
  cat >>agent-protocol/cpp/wire/serialize.h <<'CODE'
struct Planted {
  static constexpr std::string_view type = "planted";
};
void serialize(auto& archive, Planted& message) {
  archive(make_nvp("in_code", message.in_code));
}
CODE
  echo 'in agent-protocol/cpp/wire/serialize.h and not in man/agent-protocol.7: planted'
  echo 'in agent-protocol/cpp/wire/serialize.h and not in man/agent-protocol.7: planted in_code'
  cat >>man/agent-protocol.7 <<'PAGE'
.Sh MESSAGES TO AN AGENT
.Bl -tag
.It Cm stop
.Bl -tag
.It Va on_page
.El
.El
PAGE
  echo 'in man/agent-protocol.7 and not in agent-protocol/cpp/wire/serialize.h: stop on_page'
}

# Checks that every value of an enumeration is on the page agent-protocol(7), and that the code and
# the page have the same stages of a failure.
check_values() {
  tr '\n' ' ' <agent-protocol/cpp/wire/message.h | tr ';' '\n' |
    sed -nE 's/.*names_of<([A-Za-z]+)>\{(.*)\}.*/\1 \2/p' | tr -d '",' >"$scratch/enums"
  while read -r enum values; do
    for value in $values; do
      grep -qE "^(\.It )?\.?Ql $value( |$)|^\.It Ql $value$" man/agent-protocol.7 ||
        echo "man/agent-protocol.7: the value $value of $enum is missing"
    done
  done <"$scratch/enums"
  sed -n 's/^Stage //p' "$scratch/enums" | tr ' ' '\n' | grep . >"$scratch/code"
  section man/agent-protocol.7 FAILURES | tags Ql >"$scratch/page"
  differ agent-protocol/cpp/wire/message.h "$scratch/code" man/agent-protocol.7 "$scratch/page"
}

canary_values() {
  echo 'names_of<Planted>{"planted_value"};' >>agent-protocol/cpp/wire/message.h
  echo 'the value planted_value of Planted is missing'
  printf '.Sh FAILURES\n.It Ql planted_stage\n' >>man/agent-protocol.7
  echo 'in man/agent-protocol.7 and not in agent-protocol/cpp/wire/message.h: planted_stage'
}

# Checks that every limit of message.h and json_line.h is on the page agent-protocol(7), written
# with commas, such as 65,536.
check_limits() {
  sed -nE "s/^inline constexpr [a-z:0-9_]+ ([a-z_]+_max) = ([0-9']+);.*/\1 \2/p" \
    agent-protocol/cpp/wire/message.h base/json_line.h | tr "'" ',' >"$scratch/limits"
  [ -s "$scratch/limits" ] || echo 'agent-protocol/cpp/wire/message.h: no limits found'
  while read -r name number; do
    grep -qE "(^|[^0-9,])$number([^0-9,]|,?$|, )" man/agent-protocol.7 ||
      echo "man/agent-protocol.7: $name is $number, which is not on the page"
  done <"$scratch/limits"
}

canary_limits() {
  sed -i "s/^\(inline constexpr .*state_bytes_max =\).*/\1 32'769;/" \
    agent-protocol/cpp/wire/message.h
  echo 'state_bytes_max is 32,769'
}

# Prints the messages in the transcripts of agent-protocol(7), one on each line, such as `1> {...}`.
transcript_lines() {
  awk '
    /^\.\\" BEGIN transcript/ { inside = 1; next }
    /^\.\\" END transcript/ { inside = 0; next }
    inside && /^\./ { next }
    !inside { next }
    /^    / { sub(/^ +/, ""); line = line $0; next }
    { if (line != "") print line; line = $0 }
    END { if (line != "") print line }
  ' man/agent-protocol.7
}

# Checks that the message types and members in the transcripts of agent-protocol(7) exist in the
# code.
check_transcripts() {
  members_in_code >"$scratch/code"
  sed -nE '/serialize\(auto& archive, (Past)?Failure&/,/^\}/s/.*make_nvp\("([a-z_]+)".*/\1/p' \
    agent-protocol/cpp/wire/serialize.h | sed 's/^/welcome /' >>"$scratch/code"
  transcript_lines | grep -E '^[0-9]+[<>] ' >"$scratch/lines"
  [ -s "$scratch/lines" ] || echo 'man/agent-protocol.7: no transcript found'
  awk -v code="$scratch/code" '
    BEGIN { while ((getline known < code) > 0) is_known[known] }
    {
      type = $0
      if (!sub(/^[0-9]+[<>] \{"type":"/, "", type) || !sub(/".*\}$/, "", type)) type = ""
      if (!(type in is_known)) print "man/agent-protocol.7: no message: " $0
      rest = $0
      while (match(rest, /"[a-z_]+":/)) {
        member = substr(rest, RSTART + 1, RLENGTH - 3)
        rest = substr(rest, RSTART + RLENGTH)
        if (member != "type" && !((type " " member) in is_known))
          print "man/agent-protocol.7: " type " has no " member ": " $0
      }
    }' "$scratch/lines"
}

canary_transcripts() {
  cat >>man/agent-protocol.7 <<'PAGE'
.\" BEGIN transcript planted
1> {"type":"planted"}
1> {"type":"ready","planted":1}
1> {"type":"ready"
.\" END transcript
PAGE
  echo 'no message: 1> {"type":"planted"}'
  echo 'ready has no planted'
  echo 'no message: 1> {"type":"ready"'
}

check_functions() {
  tr '\n' ' ' <agent-protocol/agent_protocol.h | tr ';' '\n' |
    sed -nE 's/.*AGENT_PROTOCOL_API [^(]*(agent_protocol_[a-z_]+)\(.*/\1/p' >"$scratch/code"
  section man/agent_protocol.3 NAME | sed -nE 's/^\.Nm ([a-z_]+).*/\1/p' >"$scratch/page"
  differ agent-protocol/agent_protocol.h "$scratch/code" man/agent_protocol.3 "$scratch/page"
  section man/agent_protocol.3 SYNOPSIS | sed -nE 's/^\.F[no] "?(agent_protocol_[a-z_]+).*/\1/p' \
    >"$scratch/synopsis"
  differ 'its SYNOPSIS' "$scratch/synopsis" man/agent_protocol.3 "$scratch/page"
}

canary_functions() {
  echo 'AGENT_PROTOCOL_API int agent_protocol_planted(void);' >>agent-protocol/agent_protocol.h
  echo 'in agent-protocol/agent_protocol.h and not in man/agent_protocol.3: agent_protocol_planted'
  sed -i 's/^\.Nm agent_protocol_fd ,/&\n.Nm agent_protocol_on_page ,/' man/agent_protocol.3
  echo 'in man/agent_protocol.3 and not in its SYNOPSIS: agent_protocol_on_page'
}

# Checks that the page agent_protocol(3) has the constants of the header, and no others.
check_constants() {
  grep -oE '\bAGENT_PROTOCOL_[A-Z_]+' agent-protocol/agent_protocol.h |
    grep -vxE 'AGENT_PROTOCOL_(H|API)' >"$scratch/code"
  grep -oE '\bAGENT_PROTOCOL_[A-Z_]+' man/agent_protocol.3 >"$scratch/page"
  differ agent-protocol/agent_protocol.h "$scratch/code" man/agent_protocol.3 "$scratch/page"
}

canary_constants() {
  echo 'AGENT_PROTOCOL_PLANTED = 99' >>agent-protocol/agent_protocol.h
  echo 'in agent-protocol/agent_protocol.h and not in man/agent_protocol.3: AGENT_PROTOCOL_PLANTED'
  echo '.Dv AGENT_PROTOCOL_ON_PAGE' >>man/agent_protocol.3
  echo 'in man/agent_protocol.3 and not in agent-protocol/agent_protocol.h: AGENT_PROTOCOL_ON_PAGE'
}

# Checks that the page agent_protocol(3) prints the structures of the header unchanged, except for
# comments.
check_structures() {
  awk '/^struct [a-z_]+ \{$/ { inside = 1 } inside; /^\};$/ { inside = 0 }' \
    agent-protocol/agent_protocol.h | sed -E 's| */\*.*\*/||' >"$scratch/code"
  sed '/^\.\\" BEGIN structures$/,/^\.\\" END structures$/!d; /^\./d' man/agent_protocol.3 \
    >"$scratch/page"
  [ -s "$scratch/code" ] || echo 'agent-protocol/agent_protocol.h: no structures found'
  diff "$scratch/code" "$scratch/page" | sed -n 's|^[<>]|structures differ:&|p'
}

canary_structures() {
  sed -i 's/^  int clean;.*/&\n  int planted_in_code; \/* new *\//' agent-protocol/agent_protocol.h
  echo 'structures differ:<   int planted_in_code;'
  sed -i 's/^  int64_t trial_ms;/&\n  int planted_on_page;/' man/agent_protocol.3
  echo 'structures differ:>   int planted_on_page;'
}
