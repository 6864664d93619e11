#include "tools/agent-conformance/messages.h"

#include <array>
#include <cstdio>

namespace conformance {

namespace {

std::string escaped(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (static_cast<unsigned char>(c) >= 0x20) return {c};
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\u%04x", static_cast<unsigned>(c));
  return text.data();
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text)
    result += escaped(c);
  return result + '"';
}

Object& Object::raw(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ',';
  members_ += quoted(name);
  members_ += ':';
  members_ += value;
  return *this;
}

// ---- the messages of an upgrader

namespace {

Object welcome(int generation, std::string_view role) {
  return Object("welcome")
      .number("protocol", 1)
      .raw("features", "[]")
      .number("generation", generation)
      .text("role", role);
}

// Adds to an `activate` the members for an agent on trial. The trial has the upgrader's defaults:
// it lasts 30 s, and the upgrade is committed if the agent survives the trial.
std::string on_trial(Object& activate) {
  return activate.number("trial_ms", 30'000).text("commit", "survive").line();
}

}  // namespace

std::string welcome_first() {
  return welcome(1, "first").line();
}

std::string welcome_candidate(int generation, std::string_view previous_version) {
  Object message = welcome(generation, "candidate");
  if (!previous_version.empty()) message.text("previous_version", previous_version);
  return message.line();
}

std::string welcome_standby(int generation) {
  return welcome(generation, "fallback").line();
}

std::string with_readiness(std::string welcome) {
  const std::size_t features = welcome.find(quoted("features"));
  return welcome.insert(welcome.find('[', features) + 1, quoted("readiness"));
}

std::string activate_standby(bool clean) {
  const std::string failure = Object()
                                  .text("id", upgrade_id)
                                  .text("stage", "trial")
                                  .text("reason", "exited with status 1 while it was on trial")
                                  .number("exit_status", 1)
                                  .text("version", "1.2")
                                  .json();
  return Object("activate").boolean("clean", clean).raw("failure", failure).line();
}

std::string activate() {
  return Object("activate").boolean("clean", false).line();
}

std::string activate_on_trial(bool clean) {
  return on_trial(Object("activate").boolean("clean", clean));
}

std::string activate_on_trial(bool clean, std::string_view state) {
  return on_trial(Object("activate").text("state", state).boolean("clean", clean));
}

std::string stop_for_upgrade(Duration deadline, int candidate) {
  return Object("stop")
      .text("reason", "upgrade")
      .number("deadline_ms", deadline.count())
      .text("id", upgrade_id)
      .number("generation", candidate)
      .line();
}

std::string stop(std::string_view reason, Duration deadline) {
  return Object("stop").text("reason", reason).number("deadline_ms", deadline.count()).line();
}

std::string committed(std::string_view id, int generation) {
  return Object("committed").text("id", id).number("generation", generation).line();
}

std::string upgrade_failed(std::string_view id, std::string_view stage, std::string_view reason) {
  return Object("upgrade_failed").text("id", id).text("stage", stage).text("reason", reason).line();
}

}  // namespace conformance
