// Parses the addresses in options that name a probe: the URL of http and https, and HOST:PORT of
// tcp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agentify {

struct HttpUrl {
  std::string text;  // the whole URL, for libcurl
  std::string host;  // the host, without the brackets of an IPv6 address
  std::uint16_t port = 80;
  bool tls = false;

  bool operator==(const HttpUrl&) const = default;
};

// Parses `http://HOST[:PORT][/PATH]`, or the same with `https`; HOST may be an IPv6 address in
// brackets. Returns nothing for any other text, and for a URL with a user or a password, which logs
// would show.
[[nodiscard]] std::optional<HttpUrl> parse_http_url(std::string_view text);

// An address in the form `PORT` or `HOST:PORT`; HOST is the loopback address by default.
struct TcpAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;

  bool operator==(const TcpAddress&) const = default;
};
[[nodiscard]] std::optional<TcpAddress> parse_tcp_address(std::string_view text);

}  // namespace agentify
