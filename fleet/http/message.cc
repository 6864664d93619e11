#include "fleet/http/message.h"

#include "base/escape.h"

namespace fleet {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t'))
    text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t'))
    text.remove_suffix(1);
  return text;
}

}  // namespace

Response problem(int status, std::string_view reason) {
  std::string body = "{\"status\":" + std::to_string(status) + ",\"reason\":";
  agent_protocol::append_quoted(body, reason);
  return {.status = status, .body = body + "}"};
}

Method method_of(std::string_view text) {
  if (text == "GET") return Method::get;
  if (text == "HEAD") return Method::head;
  if (text == "PUT") return Method::put;
  if (text == "PATCH") return Method::patch;
  if (text == "POST") return Method::post;
  if (text == "DELETE") return Method::erase;
  return Method::other;
}

std::string_view text_of(Method method) {
  switch (method) {
    case Method::get:
      return "GET";
    case Method::head:
      return "HEAD";
    case Method::put:
      return "PUT";
    case Method::patch:
      return "PATCH";
    case Method::post:
      return "POST";
    case Method::erase:
      return "DELETE";
    case Method::other:
      break;
  }
  return "other";
}

bool names_tag(std::string_view tags, std::string_view tag) {
  while (!tags.empty()) {
    const std::size_t comma = tags.find(',');
    std::string_view one = trimmed(tags.substr(0, comma));
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == "*" || one == tag) return true;
    tags.remove_prefix(comma == std::string_view::npos ? tags.size() : comma + 1);
  }
  return false;
}

std::string tag_of(std::int64_t revision) {
  return "\"" + std::to_string(revision) + "\"";
}

}  // namespace fleet
