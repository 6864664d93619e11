// Addresses in the options that name a probe: the URL of http and https, and HOST:PORT of tcp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agentify {

struct HttpUrl {
  std::string text;  // the whole URL, as libcurl takes it
  std::string host;  // without brackets
  std::uint16_t port = 80;
  bool tls = false;

  bool operator==(const HttpUrl&) const = default;
};

// `http://HOST[:PORT][/PATH]` or the same with `https`; HOST may be an IPv6 address in brackets.
// Nothing for another text, and for a URL with a user or a password, which logs would show.
[[nodiscard]] std::optional<HttpUrl> parse_http_url(std::string_view text);

// `PORT` or `HOST:PORT`, with HOST the loopback's where there is none.
struct TcpAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;

  bool operator==(const TcpAddress&) const = default;
};
[[nodiscard]] std::optional<TcpAddress> parse_tcp_address(std::string_view text);

}  // namespace agentify
