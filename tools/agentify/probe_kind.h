// The values of --ready and --health as data: the methods by which agentify finds out whether a
// daemon works. prober.h runs the probes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "tools/agentify/duration.h"

namespace agentify {

// ---- addresses that can be probed

struct HttpUrl {
  std::string text;  // the whole URL, for libcurl
  std::string host;  // the host, without the brackets of an IPv6 address
  bool tls = false;

  bool operator==(const HttpUrl&) const = default;
};

// Parses `http://HOST[:PORT][/PATH]` or `https://HOST[:PORT][/PATH]`. HOST may be an IPv6 address
// in brackets. Returns nothing for any other text. Also returns nothing for a URL with a user or a
// password, because logs would show it.
[[nodiscard]] std::optional<HttpUrl> parse_http_url(std::string_view text);

// An address `PORT` or `HOST:PORT`. Without HOST, the loopback address is used.
struct TcpAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;

  bool operator==(const TcpAddress&) const = default;
};
[[nodiscard]] std::optional<TcpAddress> parse_tcp_address(std::string_view text);

// ---- signs of readiness that need no probe

struct ByStart {  // --ready=started: the daemon is regarded as working after its exec
  bool operator==(const ByStart&) const = default;
};
struct ByNotify {  // --ready=notify: the daemon works when it has sent READY=1
  bool operator==(const ByNotify&) const = default;
};
// --ready=fd:N: the daemon works when it has written a newline to descriptor N
struct ByDescriptor {
  int number = 0;
  bool operator==(const ByDescriptor&) const = default;
};
struct ByTime {  // --ready=after:D: the daemon works when it has run for this time
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
