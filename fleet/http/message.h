// A request of HTTP and what is answered, as plain data: what decides here knows no sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fleet {

// No record is longer; what is longer is not read.
inline constexpr std::size_t request_bytes_max = 65'536;

enum class Method { get, head, put, patch, erase, other };

// The name in a client's certificate, if that was verified.
struct Visitor {
  std::string name = {};     // ROLE:WHO
  std::string serial = {};   // of the certificate, as records have it
  std::int64_t expires = 0;  // seconds since 1970

  bool operator==(const Visitor&) const = default;
};

struct Request {
  Method method = Method::get;
  std::string path = "/";
  std::map<std::string, std::string> query = {};
  std::string host = {};
  std::string if_match = {};
  std::string if_none_match = {};
  std::string body = {};
  bool too_long = false;  // the body has more than request_bytes_max
  std::optional<Visitor> visitor = {};
};

struct Response {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";
  std::string etag = {};
  std::vector<std::pair<std::string, std::string>> headers = {};

  bool operator==(const Response&) const = default;
};

// Why not, as JSON.
[[nodiscard]] Response problem(int status, std::string_view reason);

[[nodiscard]] Method method_of(std::string_view text);
[[nodiscard]] std::string_view text_of(Method method);

// Whether one of the tags of `If-Match` or `If-None-Match` is this one; `*` is any.
[[nodiscard]] bool names_tag(std::string_view tags, std::string_view tag);

// Strong, of what was written last at this revision.
[[nodiscard]] std::string tag_of(std::int64_t revision);

}  // namespace fleet
