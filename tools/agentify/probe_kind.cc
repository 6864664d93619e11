#include "tools/agentify/probe_kind.h"

#include <curl/curl.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <system_error>

namespace agentify {

// ---- parsing the addresses of probes

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

// Removes HOST from the front of `rest`, and returns HOST. HOST ends before the first colon, or at
// the closing bracket if HOST begins with a bracket.
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
  // A URL with a third slash, as in http:///HOST, is refused, because libcurl would ignore that
  // slash.
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
  if (host.empty() || !parse_port(part_of(parsed.get(), CURLUPART_PORT))) return std::nullopt;
  url.host = std::move(host);
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

// ---- parsing the values of --ready and --health

namespace {

// The lowest descriptor that `fd:N` may name. Lower ones are standard input, output and error.
constexpr int first_free_descriptor = 3;
// The highest descriptor that `fd:N` may name: by the usual limit, a daemon has no higher
// descriptors.
constexpr int descriptor_max = 1023;

constexpr std::string_view ready_forms =
    "needs =started, notify, fd:N, tcp:[HOST:]PORT, unix:PATH, http:URL, https:URL, "
    "exec:COMMAND, file:PATH or after:D";
constexpr std::string_view probe_forms =
    "needs =tcp:[HOST:]PORT, unix:PATH, http:URL, https:URL, exec:COMMAND or file:PATH";

// The text before a colon and the text after it, as in `KIND:REST`.
struct Split {
  std::string_view kind;
  std::string_view rest;
};

Split split(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {text, {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string whole_of(const Split& asked) {
  return std::string(asked.kind) + ":" + std::string(asked.rest);
}

std::variant<ProbeKind, std::string> unix_probe(std::string_view path) {
  constexpr std::size_t room = sizeof(sockaddr_un::sun_path) - 1;
  if (!path.starts_with('/') || path.size() > room) {
    return "unix: needs the absolute path of a socket, of at most " + std::to_string(room) +
           " bytes";
  }
  return ProbeKind{UnixProbe{std::string(path)}};
}

std::string complaint_about_tcp(std::string_view text) {
  const std::string form = "tcp: needs [HOST:]PORT, as tcp:80 or tcp:localhost:80";
  if (text.empty()) return form;
  const std::string_view port = text.substr(text.rfind(':') + 1);
  if (port.find_first_not_of("0123456789") != std::string_view::npos) return form;
  return form + ", where PORT is 1 to 65535";
}

std::optional<std::variant<ProbeKind, std::string>> try_probe(const Split& asked) {
  if (asked.kind == "tcp") {
    const std::optional<TcpAddress> address = parse_tcp_address(asked.rest);
    if (!address) return complaint_about_tcp(asked.rest);
    return ProbeKind{TcpProbe{*address}};
  }
  if (asked.kind == "unix") return unix_probe(asked.rest);
  if (asked.kind == "http" || asked.kind == "https") {
    // The complete form of this value is `http:http://HOST/`. The short form `http://HOST/` is
    // accepted, too, because many users write it, and it can mean nothing else.
    std::string whole(asked.rest);
    if (asked.rest.starts_with("//")) whole = whole_of(asked);
    const std::optional<HttpUrl> url = parse_http_url(whole);
    if (!url || (asked.kind == "https" && !url->tls)) {
      return std::string(asked.kind) + ": needs a URL as " + std::string(asked.kind) +
             "://HOST[:PORT][/PATH], without a user";
    }
    return ProbeKind{HttpProbe{*url}};
  }
  if (asked.kind == "exec") {
    if (asked.rest.empty()) return "exec: needs a command";
    return ProbeKind{CommandProbe{std::string(asked.rest)}};
  }
  if (asked.kind == "file") {
    if (asked.rest.empty()) return "file: needs a path";
    return ProbeKind{FileProbe{std::string(asked.rest)}};
  }
  return std::nullopt;
}

std::variant<ReadyKind, std::string> by_descriptor(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < first_free_descriptor ||
      number > descriptor_max) {
    return "fd: needs the number of a descriptor, 3 to 1023";
  }
  return ReadyKind{ByDescriptor{number}};
}

}  // namespace

std::variant<ProbeKind, std::string> parse_probe_kind(std::string_view text) {
  if (auto probe = try_probe(split(text))) return *probe;
  return std::string(probe_forms);
}

std::variant<ReadyKind, std::string> parse_ready_kind(std::string_view text) {
  if (text == "started") return ReadyKind{ByStart{}};
  if (text == "notify") return ReadyKind{ByNotify{}};
  const Split asked = split(text);
  if (asked.kind == "fd") return by_descriptor(asked.rest);
  if (asked.kind == "after") {
    const std::optional<Duration> time = parse_duration(asked.rest);
    if (!time) return "after: needs a time, " + std::string(duration_form);
    return ReadyKind{ByTime{*time}};
  }
  const auto probe = try_probe(asked);
  if (!probe) return std::string(ready_forms);
  if (const auto* complaint = std::get_if<std::string>(&*probe)) return *complaint;
  return ReadyKind{std::get<ProbeKind>(*probe)};
}

}  // namespace agentify
