#include "tools/agentify/http_url.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace agentify {
namespace {

constexpr std::string_view scheme = "http://";
constexpr int status_min = 100;
constexpr int status_max = 599;

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

// Takes HOST off the front: all up to a colon, or what is in brackets.
std::optional<std::string> take_host(std::string_view& rest) {
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos || end == 1) return std::nullopt;
    std::string host(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    return host;
  }
  const std::size_t end = std::min(rest.find(':'), rest.size());
  if (end == 0) return std::nullopt;
  std::string host(rest.substr(0, end));
  rest.remove_prefix(end);
  return host;
}

bool has_control_or_blank(std::string_view text) {
  for (const char byte : text) {
    if (static_cast<unsigned char>(byte) <= ' ' || byte == '\x7f') return true;
  }
  return false;
}

}  // namespace

std::optional<HttpUrl> parse_http_url(std::string_view text) {
  if (!text.starts_with(scheme) || has_control_or_blank(text)) return std::nullopt;
  text.remove_prefix(scheme.size());
  HttpUrl url;
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) url.path = text.substr(slash);
  std::string_view authority = text.substr(0, slash);
  const std::optional<std::string> host = take_host(authority);
  if (!host) return std::nullopt;
  url.host = *host;
  if (authority.empty()) return url;
  if (!authority.starts_with(':')) return std::nullopt;
  const std::optional<std::uint16_t> port = parse_port(authority.substr(1));
  if (!port) return std::nullopt;
  url.port = *port;
  return url;
}

std::string http_request(const HttpUrl& url) {
  const bool bracketed = url.host.find(':') != std::string::npos;
  const std::string host = bracketed ? "[" + url.host + "]" : url.host;
  return "GET " + url.path + " HTTP/1.0\r\nHost: " + host + ":" + std::to_string(url.port) +
         "\r\nUser-Agent: agentify\r\nConnection: close\r\n\r\n";
}

std::optional<int> http_status(std::string_view answer) {
  const std::size_t end = answer.find('\n');
  if (end == std::string_view::npos) {
    if (answer.size() >= http_answer_bytes_max) return 0;
    return std::nullopt;
  }
  if (!answer.starts_with("HTTP/")) return 0;
  const std::size_t blank = answer.find(' ');
  if (blank == std::string_view::npos || blank > end) return 0;
  int status = 0;
  const std::string_view digits = answer.substr(blank + 1, 3);
  const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), status);
  if (error != std::errc{} || last != digits.data() + digits.size()) return 0;
  return status >= status_min && status <= status_max ? status : 0;
}

bool is_good_http_status(int status) {
  return status >= 200 && status < 400;
}

std::optional<TcpAddress> parse_tcp_address(std::string_view text) {
  TcpAddress address;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    std::string_view host = text.substr(0, colon);
    const std::optional<std::string> taken = take_host(host);
    if (!taken || !host.empty()) return std::nullopt;
    address.host = *taken;
    text.remove_prefix(colon + 1);
  }
  const std::optional<std::uint16_t> port = parse_port(text);
  if (!port) return std::nullopt;
  address.port = *port;
  return address;
}

}  // namespace agentify
