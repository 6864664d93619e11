// The little of HTTP that a probe needs: where to ask, what to ask, and whether the answer is good.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agentify {

struct HttpUrl {
  std::string host;
  std::uint16_t port = 80;
  std::string path = "/";  // with the query

  bool operator==(const HttpUrl&) const = default;
};

// `http://HOST[:PORT][/PATH]`; HOST may be an IPv6 address in brackets. No https.
[[nodiscard]] std::optional<HttpUrl> parse_http_url(std::string_view text);

[[nodiscard]] std::string http_request(const HttpUrl& url);

// More of an answer is never read: its first line says all.
inline constexpr std::size_t http_answer_bytes_max = 512;

// The status in the first line of an answer. Nothing as long as that line is not whole; 0 where it
// is no answer in HTTP.
[[nodiscard]] std::optional<int> http_status(std::string_view answer);

// 2xx and 3xx.
[[nodiscard]] bool is_good_http_status(int status);

// `PORT` or `HOST:PORT`, with HOST the loopback's where there is none.
struct TcpAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;

  bool operator==(const TcpAddress&) const = default;
};
[[nodiscard]] std::optional<TcpAddress> parse_tcp_address(std::string_view text);

}  // namespace agentify
