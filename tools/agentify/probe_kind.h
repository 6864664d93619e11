// The kinds of --ready and --health, by which a daemon can be asked, as data. Probes are made in
// prober.h.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "tools/agentify/duration.h"
#include "tools/agentify/http_url.h"

namespace agentify {

// ---- what the daemon does by itself

struct ByStart {  // it has been executed
  bool operator==(const ByStart&) const = default;
};
struct ByNotify {  // it says READY=1 on its NOTIFY_SOCKET
  bool operator==(const ByNotify&) const = default;
};
struct ByDescriptor {  // it writes a newline to this descriptor
  int number = 0;
  bool operator==(const ByDescriptor&) const = default;
};
struct ByTime {  // it has lived for so long
  Duration time{};
  bool operator==(const ByTime&) const = default;
};

// ---- what is asked of it again and again

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

// Or what is wrong with it.
[[nodiscard]] std::variant<ReadyKind, std::string> parse_ready_kind(std::string_view text);
[[nodiscard]] std::variant<ProbeKind, std::string> parse_probe_kind(std::string_view text);

}  // namespace agentify
