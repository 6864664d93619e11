#include "tools/agentify/http_url.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <system_error>

namespace agentify {
namespace {

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

// Removes HOST from the front of `rest`, and returns HOST. It ends before the first colon, or at
// the closing bracket if it begins with a bracket.
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

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return "";
  std::string found = text;
  curl_free(text);
  return found;
}

}  // namespace

std::optional<HttpUrl> parse_http_url(std::string_view text) {
  HttpUrl url{.text = std::string(text), .host = {}, .tls = text.starts_with("https://")};
  // A URL with a third slash, as in http:///HOST, is refused. libcurl would ignore that slash.
  const std::size_t scheme_bytes = url.tls ? 8 : 7;
  if ((!url.tls && !text.starts_with("http://")) || text.substr(scheme_bytes).starts_with('/')) {
    return std::nullopt;
  }
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
  if (!parsed) return std::nullopt;
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.text.c_str(), CURLU_DISALLOW_USER) !=
      CURLUE_OK) {
    return std::nullopt;
  }
  std::string host = part_of(parsed.get(), CURLUPART_HOST);
  if (host.starts_with('[')) {
    const std::string zone = part_of(parsed.get(), CURLUPART_ZONEID);
    host = host.substr(1, host.size() - 2) + (zone.empty() ? "" : "%" + zone);
  }
  const std::optional<std::uint16_t> port = parse_port(part_of(parsed.get(), CURLUPART_PORT));
  if (host.empty() || !port) return std::nullopt;
  url.host = std::move(host);
  url.port = *port;
  return url;
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
