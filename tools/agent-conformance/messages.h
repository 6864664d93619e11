// Makes the messages that agent-conformance sends to an agent in place of an upgrader. A message is
// one JSON object on one line. The class Object makes it member by member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/agent-conformance/script.h"

namespace conformance {

// Returns the text in quotes, escaped as the upgrader escapes it: only the characters that JSON
// requires to be escaped, each in its shortest form.
[[nodiscard]] std::string quoted(std::string_view text);

class Object {
 public:
  Object() = default;
  explicit Object(std::string_view type) { text("type", type); }

  Object& text(std::string_view name, std::string_view value) { return raw(name, quoted(value)); }
  Object& number(std::string_view name, std::int64_t value) {
    return raw(name, std::to_string(value));
  }
  Object& boolean(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
  // Adds a member. `value` is JSON text, which is written unchanged.
  Object& raw(std::string_view name, std::string_view value);

  [[nodiscard]] std::string json() const { return "{" + members_ + "}"; }
  [[nodiscard]] std::string line() const { return json() + "\n"; }

 private:
  std::string members_;
};

// ---- the messages of an upgrader

inline constexpr std::string_view upgrade_id = "u1";
// The id in messages about a fallback at boot: an agent of the previous version that the upgrader
// starts because the agent that it started first has failed.
inline constexpr std::string_view boot_id = "boot";

[[nodiscard]] std::string welcome_first();
[[nodiscard]] std::string welcome_candidate(int generation, std::string_view previous_version);
[[nodiscard]] std::string welcome_standby(int generation);
// Adds the feature `readiness` to `welcome`, whose list of features must be empty. The result is
// for an agent whose `hello` lists this feature.
[[nodiscard]] std::string with_readiness(std::string welcome);
// Makes an `activate` that says that the previous agent has not stopped cleanly (`clean` is false).
[[nodiscard]] std::string activate();
// Makes an `activate` for a standby. A standby is an agent of the previous version that waits,
// ready to work, while the new version is on trial. It gets the work if the upgrade fails, so the
// message describes a failed upgrade.
[[nodiscard]] std::string activate_standby(bool clean);
[[nodiscard]] std::string activate_on_trial(bool clean);
[[nodiscard]] std::string activate_on_trial(bool clean, std::string_view state);
[[nodiscard]] std::string stop_for_upgrade(Duration deadline, int candidate);
[[nodiscard]] std::string stop(std::string_view reason, Duration deadline);
[[nodiscard]] std::string committed(std::string_view id, int generation);
[[nodiscard]] std::string upgrade_failed(std::string_view id, std::string_view stage,
                                         std::string_view reason);

}  // namespace conformance
