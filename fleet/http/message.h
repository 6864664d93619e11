// Defines an HTTP request and an HTTP response as plain data, so that the functions that decide
// about them need no sockets.
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

// The maximum number of bytes of a request's body. No record is longer, so a longer body is not
// read.
inline constexpr std::size_t request_bytes_max = 65'536;

enum class Method { get, head, put, patch, post, erase, other };

// The client that has sent a request, as its verified certificate describes it.
struct Visitor {
  std::string name = {};     // the name in the certificate, ROLE:WHO
  std::string serial = {};   // the certificate's serial number, in the notation of records
  std::int64_t expires = 0;  // when the certificate expires, in seconds since 1970

  bool operator==(const Visitor&) const = default;
};

struct Request {
  Method method = Method::get;
  std::string path = "/";
  std::map<std::string, std::string> query = {};
  std::string host = {};
  std::string from = {};  // the client's IP address
  std::string if_match = {};
  std::string if_none_match = {};
  // The values of two headers that a browser sets and a page cannot change. Origin names the site
  // of the page that sends the request. Sec-Fetch-Site says how that site is related to this
  // server: `same-origin` means this server's own page. Both are empty if the client is not a
  // browser.
  std::string origin = {};
  std::string fetch_site = {};
  std::string body = {};
  bool too_long = false;  // whether the body is longer than request_bytes_max
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

// Returns a response with this status and, as JSON, this reason.
[[nodiscard]] Response problem(int status, std::string_view reason);

[[nodiscard]] Method method_of(std::string_view text);
[[nodiscard]] std::string_view text_of(Method method);

// Returns whether `tags`, the value of a header If-Match or If-None-Match, contains `tag`. The
// value `*` contains every tag.
[[nodiscard]] bool names_tag(std::string_view tags, std::string_view tag);

// Returns the strong ETag of a record that was last written at this revision.
[[nodiscard]] std::string tag_of(std::int64_t revision);

}  // namespace fleet
