// Turns a request for an upgrade from the C interface into a message.
#include "agent-protocol/cpp/agent/agent_request.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "agent-protocol/cpp/wire/message.h"

namespace agent_protocol {

namespace {

// Sets `value` to the enumerator called `name`; returns false if there is none of this name. If
// `name` is NULL, `value` stays absent.
template <class Enum>
bool take_name(const char* name, std::optional<Enum>& value) {
  if (name == nullptr) return true;
  value = named<Enum>(name);
  return value.has_value();
}

std::optional<std::int64_t> time_from(std::int64_t ms) {
  if (ms == -1) return std::nullopt;
  return ms;
}

// The smallest valid `size` of a request. Programs compiled with an older header have smaller
// structures; in the oldest one, `fallback` and all later members are missing.
constexpr std::size_t size_min = offsetof(agent_protocol_upgrade, fallback);

// Returns a request with the members that the program's header has. Members beyond the `size` that
// the program gives are not read, and count as absent.
agent_protocol_upgrade known_of(const agent_protocol_upgrade* given) {
  agent_protocol_upgrade known = AGENT_PROTOCOL_UPGRADE_INIT;
  std::memcpy(&known, given, std::min(given->size, sizeof known));
  return known;
}

Refusal no_such(const char* member, const char* name) {
  return Refusal{std::string("cannot request an upgrade: ") + member + " cannot be \"" + name +
                 "\""};
}

}  // namespace

Result<Upgrade> upgrade_from(const agent_protocol_upgrade* given) {
  if (given == nullptr || given->size < size_min) {
    return Refusal{"cannot request an upgrade: it does not start from AGENT_PROTOCOL_UPGRADE_INIT"};
  }
  const agent_protocol_upgrade asked = known_of(given);
  Upgrade upgrade;
  if (asked.id != nullptr) upgrade.id = asked.id;
  if (asked.executable != nullptr) upgrade.executable = asked.executable;
  if (asked.args != nullptr) {
    upgrade.args.emplace();
    for (const char* const* arg = asked.args; *arg != nullptr; ++arg) {
      upgrade.args->emplace_back(*arg);
    }
  }
  if (!take_name(asked.mode, upgrade.mode)) return no_such("mode", asked.mode);
  if (!take_name(asked.gate, upgrade.gate)) return no_such("gate", asked.gate);
  if (!take_name(asked.commit, upgrade.commit)) return no_such("commit", asked.commit);
  if (!take_name(asked.on_unclean_stop, upgrade.on_unclean_stop)) {
    return no_such("on_unclean_stop", asked.on_unclean_stop);
  }
  if (!take_name(asked.fallback, upgrade.fallback)) return no_such("fallback", asked.fallback);
  upgrade.start_timeout_ms = time_from(asked.start_timeout_ms);
  upgrade.confirm_timeout_ms = time_from(asked.confirm_timeout_ms);
  upgrade.stop_timeout_ms = time_from(asked.stop_timeout_ms);
  upgrade.trial_ms = time_from(asked.trial_ms);
  return upgrade;
}

}  // namespace agent_protocol
