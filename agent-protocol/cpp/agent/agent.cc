// The functions of agent_protocol.h, the C interface. They turn texts and numbers into messages. If
// a message is refused, they return -1 and keep the reason as a sentence. agent_conversation.h
// decides whether a message may be sent, and sends it.

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent-protocol/agent_protocol.h"
#include "agent-protocol/cpp/agent/agent_conversation.h"
#include "agent-protocol/cpp/agent/agent_event.h"
#include "agent-protocol/cpp/wire/message.h"
#include "base/result.h"
#include "base/utf8.h"

namespace agent_protocol {
namespace {

// The next functions, up to and including upgrade_from(), turn the C structure of a request for an
// upgrade into a message.

// Sets `value` to the enumerator called `name`; returns false if there is no enumerator of this
// name. If `name` is NULL, `value` stays absent.
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

// The smallest valid `size` of a request: that of the oldest header, whose structure ends before
// the member `fallback`.
constexpr std::size_t size_min = offsetof(agent_protocol_upgrade, fallback);

// Returns a copy of the request. The program may have been compiled with an older header, whose
// structure is shorter: members beyond `size` are not read, and count as absent.
agent_protocol_upgrade known_of(const agent_protocol_upgrade* given) {
  agent_protocol_upgrade known = AGENT_PROTOCOL_UPGRADE_INIT;
  std::memcpy(&known, given, std::min(given->size, sizeof known));
  return known;
}

Refusal no_such(const char* member, const char* name) {
  return Refusal{std::string("cannot request an upgrade: ") + member + " cannot be \"" + name +
                 "\""};
}

// Returns the message `upgrade`. Returns a refusal if `given` does not start from
// AGENT_PROTOCOL_UPGRADE_INIT, or if a member that is an enumeration in the protocol, such as
// `mode`, has an unknown name. The codec checks all other members later.
[[nodiscard]] Result<Upgrade> upgrade_from(const agent_protocol_upgrade* given) {
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

}  // namespace

}  // namespace agent_protocol

namespace {

using namespace agent_protocol;

// The longest name of a start-up check. The message that reports a failed check has the name before
// the reason. This limit leaves most of the message's room for the reason.
constexpr std::size_t check_name_bytes_max = 128;

struct StartUpCheck {
  std::string name;
  agent_protocol_check check = nullptr;
  void* context = nullptr;
};

std::string_view text_or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

// A start-up check that failed: the reason as it will be sent, and the errno that
// agent_protocol_ready() sets.
struct Wrong {
  std::string reason;
  int error_number = ECANCELED;
};

// Runs a start-up check. Returns nothing if it passes, otherwise its reason, or "failed" if the
// reason is empty. A reason that is too long for a message is cut and ends with "..."; invalid
// UTF-8 in it becomes U+FFFD.
std::optional<Wrong> run(const StartUpCheck& check) {
  constexpr std::string_view cut = "...";
  const std::string begin = check.name + ": ";
  const std::size_t room = reason_bytes_max - begin.size();
  std::string text(room + 1, '\0');
  if (check.check(check.context, text.data(), text.size()) == 0) return std::nullopt;
  const std::size_t end = text.find('\0');
  text.resize(std::min(end, text.size()));
  if (text.empty()) text = "failed";
  std::string fitted = fit_text(text, text.max_size());
  Wrong wrong;
  if (fitted != text) wrong.error_number = EILSEQ;
  if (fitted.size() > room) {
    wrong.error_number = EMSGSIZE;
    fitted = fit_text(fitted, room - cut.size()).append(cut);
  }
  wrong.reason = begin + fitted;
  return wrong;
}

bool handle_is_open = false;

}  // namespace

// The program's handle on the conversation. Its members are noexcept because no exception may pass
// through the C interface: if memory runs out, the process ends.
struct agent_protocol_agent {
  explicit agent_protocol_agent(std::unique_ptr<Conversation> opened)
      : conversation(std::move(opened)) {}

  int refuse(Refusal refusal) noexcept {
    error = std::move(refusal.reason);
    errno = refusal.error_number;
    return -1;
  }
  int answer(const Result<Said>& said) noexcept { return said ? 0 : refuse(said.refusal()); }
  int say(const AgentMessage& message) noexcept { return answer(conversation->say(message)); }
  int say_and_flush(const AgentMessage& message) noexcept {
    return answer(conversation->say_and_flush(message));
  }

  const agent_protocol_event* show(std::optional<SessionEvent> event) noexcept {
    return event ? view.show(*std::move(event)) : nullptr;
  }
  const agent_protocol_event* next() noexcept { return show(conversation->next()); }
  const agent_protocol_event* wait(int timeout_ms) noexcept {
    return show(conversation->wait(timeout_ms));
  }

  int add_check(const char* name, agent_protocol_check check, void* context) noexcept;
  int ready() noexcept;
  int unfit(const char* reason) noexcept;
  int request_upgrade(const agent_protocol_upgrade* asked) noexcept;
  int confirm(const char* id) noexcept;
  int cancel(const char* id, const char* reason) noexcept;
  int stopped(std::optional<std::string> state) noexcept;
  int stopped_with(const char* state, std::size_t size) noexcept;
  int status(const char* text) noexcept;

  std::unique_ptr<Conversation> conversation;
  std::vector<StartUpCheck> checks;
  EventView view;
  std::string error;
};

int agent_protocol_agent::add_check(const char* name, agent_protocol_check check,
                                    void* context) noexcept {
  const auto refuse_check = [this](const char* why, int error_number) {
    return refuse({std::string("cannot add a check: ") + why, error_number});
  };
  if (name == nullptr || check == nullptr) {
    return refuse_check("it needs a name and a function", EINVAL);
  }
  if (!is_utf8(name)) return refuse_check("its name is no UTF-8", EILSEQ);
  if (std::strlen(name) > check_name_bytes_max) {
    return refuse_check("its name is longer than 128 bytes", EMSGSIZE);
  }
  checks.push_back({.name = name, .check = check, .context = context});
  return 0;
}

int agent_protocol_agent::ready() noexcept {
  if (std::optional<Refusal> why = conversation->why_not(Ready{})) return refuse(*std::move(why));
  for (const StartUpCheck& check : std::exchange(checks, {})) {
    conversation->leave_if_over();
    if (const std::optional<Wrong> wrong = run(check)) {
      say_and_flush(Unfit{wrong->reason});
      return refuse({"cannot say ready: " + wrong->reason, wrong->error_number});
    }
  }
  conversation->leave_if_over();
  return say(Ready{});
}

int agent_protocol_agent::unfit(const char* reason) noexcept {
  return say_and_flush(Unfit{std::string(text_or_empty(reason))});
}

int agent_protocol_agent::request_upgrade(const agent_protocol_upgrade* asked) noexcept {
  Result<Upgrade> upgrade = upgrade_from(asked);
  if (!upgrade) return refuse(upgrade.refusal());
  return say(std::move(upgrade.value()));
}

int agent_protocol_agent::confirm(const char* id) noexcept {
  return say(Confirm{std::string(text_or_empty(id))});
}

int agent_protocol_agent::cancel(const char* id, const char* reason) noexcept {
  Cancel cancel{.id = std::string(text_or_empty(id)), .reason = std::nullopt};
  if (reason != nullptr) cancel.reason = reason;
  return say(cancel);
}

int agent_protocol_agent::stopped(std::optional<std::string> state) noexcept {
  return say_and_flush(Stopped{std::move(state)});
}

int agent_protocol_agent::stopped_with(const char* state, std::size_t size) noexcept {
  if (state != nullptr) return stopped(std::string(state, size));
  return size == 0 ? stopped(std::nullopt) : refuse({"cannot say stopped: there is no state"});
}

int agent_protocol_agent::status(const char* text) noexcept {
  return say(Status{std::string(text_or_empty(text))});
}

namespace {

agent_protocol_agent* open_handle(const char* version, const char* const* features) noexcept {
  if (handle_is_open) {
    errno = EBUSY;
    return nullptr;
  }
  std::vector<std::string> names;
  for (; features != nullptr && *features != nullptr; ++features)
    names.emplace_back(*features);
  std::unique_ptr<Conversation> conversation =
      Conversation::open(text_or_empty(version), std::move(names));
  if (!conversation) return nullptr;
  handle_is_open = true;
  return new agent_protocol_agent(std::move(conversation));
}

}  // namespace

extern "C" {

agent_protocol_agent* agent_protocol_open(const char* version) {
  return open_handle(version, nullptr);
}

agent_protocol_agent* agent_protocol_open_with(const char* version, const char* const* features) {
  return open_handle(version, features);
}

void agent_protocol_close(agent_protocol_agent* agent) {
  if (agent == nullptr) return;
  delete agent;
  handle_is_open = false;
}

int agent_protocol_alone(const agent_protocol_agent* agent) {
  return agent->conversation->alone() ? 1 : 0;
}

int agent_protocol_fd(const agent_protocol_agent* agent) {
  return agent->conversation->descriptor();
}

const agent_protocol_event* agent_protocol_next(agent_protocol_agent* agent) {
  return agent->next();
}

const agent_protocol_event* agent_protocol_wait(agent_protocol_agent* agent, int timeout_ms) {
  return agent->wait(timeout_ms);
}

int agent_protocol_add_check(agent_protocol_agent* agent, const char* name,
                             agent_protocol_check check, void* context) {
  return agent->add_check(name, check, context);
}

int agent_protocol_ready(agent_protocol_agent* agent) {
  return agent->ready();
}

int agent_protocol_unfit(agent_protocol_agent* agent, const char* reason) {
  return agent->unfit(reason);
}

int agent_protocol_request_upgrade(agent_protocol_agent* agent,
                                   const agent_protocol_upgrade* upgrade) {
  return agent->request_upgrade(upgrade);
}

int agent_protocol_confirm(agent_protocol_agent* agent, const char* id) {
  return agent->confirm(id);
}

int agent_protocol_cancel(agent_protocol_agent* agent, const char* id, const char* reason) {
  return agent->cancel(id, reason);
}

int agent_protocol_stopped(agent_protocol_agent* agent, const char* state) {
  return agent->stopped_with(state, text_or_empty(state).size());
}

int agent_protocol_stopped_with(agent_protocol_agent* agent, const char* state, size_t size) {
  return agent->stopped_with(state, size);
}

int agent_protocol_healthy(agent_protocol_agent* agent) {
  return agent->say(Healthy{});
}

int agent_protocol_extend(agent_protocol_agent* agent, int64_t ms) {
  return agent->say(Extend{ms});
}

int agent_protocol_heartbeat(agent_protocol_agent* agent) {
  return agent->say(Heartbeat{});
}

int agent_protocol_status(agent_protocol_agent* agent, const char* text) {
  return agent->status(text);
}

const char* agent_protocol_error(const agent_protocol_agent* agent) {
  if (agent == nullptr) return "there is no open handle";
  return agent->error.empty() ? "no call has failed" : agent->error.c_str();
}

}  // extern "C"
