// Defines HTTP requests and responses as plain data, so that functions that decide about requests
// need no sockets. Also parses the path of a URL.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"

namespace fleet {

// The maximum size of a request's body, which is larger than any record. The rest of a longer body
// is dropped, and `too_long` is set.
inline constexpr std::size_t request_bytes_max = 65'536;

// The maximum number of parameters in a URL, and the maximum number of its bytes: far more than any
// known request has. The rest is cut off, and `url_too_long` is set.
inline constexpr std::size_t parameters_max = 100;
inline constexpr std::size_t url_bytes_max = 16'384;

enum class Method { other, get, head, put, patch, post, erase };
constexpr auto names(Method) {
  return std::to_array<std::string_view>(
      {"other", "GET", "HEAD", "PUT", "PATCH", "POST", "DELETE"});
}

// The client that has sent a request, according to its verified certificate.
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
  bool url_too_long = false;  // whether the URL exceeds parameters_max or url_bytes_max
  std::string host = {};
  std::string from = {};  // the client's IP address
  std::string if_match = {};
  std::string if_none_match = {};
  // Headers that a browser sets and a page cannot change; other clients do not send them. `Origin`
  // is the site of the page that sends the request. `Sec-Fetch-Site` is `same-origin` if the page
  // is this server's own.
  std::string origin = {};
  std::string fetch_site = {};
  std::string body = {};
  bool too_long = false;  // whether the body is longer than request_bytes_max
  std::optional<Visitor> visitor = {};
  // If the client's certificate is refused although the authority has signed it: why, such as `the
  // certificate has expired`.
  std::string why_no_visitor = {};
};

struct Response {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";
  std::string etag = {};
  std::vector<std::pair<std::string, std::string>> headers = {};

  bool operator==(const Response&) const = default;
};

// Returns a response with this status, whose body is JSON with the status and this reason.
[[nodiscard]] Response problem(int status, std::string_view reason);

// Returns how many bytes of a URL are kept: all of them, unless the URL has more than
// parameters_max parameters or url_bytes_max bytes.
[[nodiscard]] std::size_t kept_bytes(std::string_view url);

// Returns whether `tags`, the value of If-Match or If-None-Match, contains `tag`. The value `*`
// matches every tag.
[[nodiscard]] bool names_tag(std::string_view tags, std::string_view tag);

// Returns the strong ETag of a record that was last written at this revision.
[[nodiscard]] std::string tag_of(std::int64_t revision);

// ---- the part of the cell that a URL's path stands for:
//
//     /                the page; its other files are /page.css and those that page_file() finds
//     /v1/openapi.json this table, as OpenAPI
//     /metrics         for Prometheus
//     /v1/join         for machines that join, without a certificate
//     /v1/changes      changes of records, as server-sent events
//     /v1/state        a summary of the cell; /v1/state/PATH is the record at PATH, and
//                      /v1/state/PATH/ all records below it
//     /v1/config/PATH  the records that people set: one, or all of a kind
//     /v1/apply        a document with many of these records

enum class Place { page, metrics, join, changes, state, config, apply, nowhere };

struct Route {
  Place place = Place::nowhere;
  std::string rest = {};  // the rest of the path, without the slash before it

  bool operator==(const Route&) const = default;
};

[[nodiscard]] Route route_of(std::string_view path);

// Returns the key of the record that the path below /v1/config/ names, or no value if people may
// not set records of that kind.
[[nodiscard]] std::optional<ParsedKey> config_record(std::string_view rest);
// Returns whether the path names a list of records that people may set: all of one kind, or all
// kinds together.
[[nodiscard]] bool is_config_list(std::string_view rest);

// The files of the web page, which are compiled into the program.
struct PageFile {
  std::string_view name;  // the path in the URL, such as `/page.css`; `/` for page.html
  std::string_view type;
  std::string_view text;
};

// Returns the file at this path, or null if there is none.
[[nodiscard]] const PageFile* page_file(std::string_view path);

}  // namespace fleet
