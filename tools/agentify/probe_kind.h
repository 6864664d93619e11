// The values of --ready and --health as data: the ways to find out whether a daemon works. prober.h
// makes the probes.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "tools/agentify/duration.h"
#include "tools/agentify/http_url.h"

namespace agentify {

// ---- signs that the daemon gives of its own accord

struct ByStart {  // --ready=started: the daemon works as soon as it is executed
  bool operator==(const ByStart&) const = default;
};
struct ByNotify {  // --ready=notify: the daemon works when it says READY=1
  bool operator==(const ByNotify&) const = default;
};
// --ready=fd:N: the daemon works when it has written a newline to descriptor N
struct ByDescriptor {
  int number = 0;
  bool operator==(const ByDescriptor&) const = default;
};
struct ByTime {  // --ready=after:D: the daemon works when it has lived for this time
  Duration time{};
  bool operator==(const ByTime&) const = default;
};

// ---- probes, which agentify repeats

struct TcpProbe {
  TcpAddress address;
  bool operator==(const TcpProbe&) const = default;
};
struct UnixProbe {
  std::string path;
  bool operator==(const UnixProbe&) const = default;
};
struct HttpProbe {
  HttpUrl url;
  bool operator==(const HttpProbe&) const = default;
};
struct CommandProbe {
  std::string command;
  bool operator==(const CommandProbe&) const = default;
};
struct FileProbe {
  std::string path;
  bool operator==(const FileProbe&) const = default;
};

using ProbeKind = std::variant<TcpProbe, UnixProbe, HttpProbe, CommandProbe, FileProbe>;
using ReadyKind = std::variant<ByStart, ByNotify, ByDescriptor, ByTime, ProbeKind>;

// The next two functions parse the value of --ready and of --health. They return the reason in
// words if the value is wrong.
[[nodiscard]] std::variant<ReadyKind, std::string> parse_ready_kind(std::string_view text);
[[nodiscard]] std::variant<ProbeKind, std::string> parse_probe_kind(std::string_view text);

}  // namespace agentify
