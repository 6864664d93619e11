// This file checks the lines between upgrader and agent. It searches a line for `type`, and keeps a
// few facts about the conversation. See puppet_rules.h.
#include "tests/together/integration/puppet_rules.h"

namespace puppet {
namespace {

constexpr std::size_t line_bytes_max = 65'536;  // the most bytes of a line, including its newline

std::string_view skip_space(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

}  // namespace

std::string_view type_of(std::string_view line) {
  for (std::size_t at = line.find("\"type\""); at != std::string_view::npos;
       at = line.find("\"type\"", at + 1)) {
    std::string_view rest = skip_space(line.substr(at + 6));
    if (!rest.starts_with(":")) continue;
    rest = skip_space(rest.substr(1));
    if (!rest.starts_with("\"")) continue;
    rest.remove_prefix(1);
    return rest.substr(0, rest.find('"'));
  }
  return {};
}

std::string Rules::hears(std::string_view line) {
  if (line.size() + 1 > line_bytes_max) return "a line over the limit";
  if (!line.starts_with("{") || !line.ends_with("}")) return "a line that is no object";
  for (const char byte : line) {
    if (static_cast<unsigned char>(byte) < 0x20) return "a control character in a line";
  }
  return hears_type(type_of(line));
}

std::string Rules::hears_type(std::string_view type) {
  if (type == "error") return "";
  if (!said_hello_) return "a message before hello";
  if (type == "welcome") {
    const bool again = welcomed_;
    welcomed_ = true;
    return again ? "a second welcome" : "";
  }
  if (!welcomed_) return "a message before welcome";
  if (type == "activate") {
    const bool again = activated_;
    activated_ = true;
    if (again) return "a second activate";
    return said_ready_ ? "" : "activate before ready";
  }
  if (!activated_) return "a message other than activate while held";
  if (type == "stop") {
    const bool again = told_to_stop_;
    told_to_stop_ = true;
    if (again) return "a second stop without a cancel";
    return said_stopped_ ? "stop after stopped" : "";
  }
  if (type == "committed") {
    const bool again = committed_;
    committed_ = true;
    return again ? "a second committed" : "";
  }
  const bool known = type == "accepted" || type == "candidate_ready" || type == "candidate_lost" ||
                     type == "upgrade_failed";
  return known ? "" : "a type that is not on the page";
}

void Rules::says(std::string_view line) {
  const std::string_view type = type_of(line);
  if (type == "hello") said_hello_ = true;
  if (type == "ready") said_ready_ = true;
  if (type == "stopped") said_stopped_ = told_to_stop_;
  if (type == "cancel") told_to_stop_ = false;
}

}  // namespace puppet
