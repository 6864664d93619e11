#include "agent-protocol/cpp/control/status_reader.h"

#include "agent-protocol/cpp/control/lenient_archive.h"
#include "agent-protocol/cpp/control/status_members.h"
#include "base/json_line.h"

namespace upgraderctl {
namespace {

constexpr std::string_view white_space = " \t\r\n";

std::size_t skip_white(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(white_space, at), text.size());
}

// Returns the index after the string that begins at `at`. The text must be valid JSON.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

// Returns the index after the value that begins at `at`.
std::size_t value_end(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = string_end(text, at);
      if (depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    }
    if (depth == 0 && (c == ',' || white_space.find(c) != std::string_view::npos)) return at;
    ++at;
  }
  return at;
}

}  // namespace

agent_protocol::Result<Status> read_status(std::string_view text) {
  const auto line = agent_protocol::JsonLine::parse(text);
  if (!line) return agent_protocol::Refusal{"is no status of an upgrader: " + line.reason()};
  Status status;
  LenientArchive archive(line.value());
  archive(status);
  if (status.upgrader.started.empty()) {
    return agent_protocol::Refusal{"is no status of an upgrader: it has no upgrader.started"};
  }
  return status;
}

std::string raw_member(std::string_view text, std::string_view name, std::string_view otherwise) {
  std::size_t at = skip_white(text, 0) + 1;
  for (at = skip_white(text, at); at < text.size() && text[at] == '"'; at = skip_white(text, at)) {
    const std::size_t name_end = string_end(text, at);
    const std::string_view spelled = text.substr(at + 1, name_end - at - 2);
    const std::size_t begin = skip_white(text, skip_white(text, name_end) + 1);
    const std::size_t end = value_end(text, begin);
    if (spelled == name) return std::string(text.substr(begin, end - begin));
    at = skip_white(text, skip_white(text, end) + 1);
  }
  return std::string(otherwise);
}

std::string_view one_line(std::string_view text) {
  const std::size_t last = text.find_last_not_of(white_space);
  return last == std::string_view::npos ? std::string_view{} : text.substr(0, last + 1);
}

}  // namespace upgraderctl
