// Parses the addresses in the options for probes: a URL of http or https, and HOST:PORT for tcp.
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

// Parses `http://HOST[:PORT][/PATH]` or `https://HOST[:PORT][/PATH]`. HOST may be an IPv6 address
// in brackets. Returns nothing for any other text. Also returns nothing for a URL with a user or a
// password, because logs would show it.
[[nodiscard]] std::optional<HttpUrl> parse_http_url(std::string_view text);

// An address `PORT` or `HOST:PORT`. Without HOST it is the loopback address.
struct TcpAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;

  bool operator==(const TcpAddress&) const = default;
};
[[nodiscard]] std::optional<TcpAddress> parse_tcp_address(std::string_view text);

}  // namespace agentify
