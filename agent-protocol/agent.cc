// The C interface, whose contract is agent_protocol.h: texts and numbers into messages, refusals
// into -1 and a sentence. What follows from a call is decided and done behind it: see
// agent_conversation.h.
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent-protocol/agent_conversation.h"
#include "agent-protocol/agent_event.h"
#include "agent-protocol/agent_protocol.h"
#include "agent-protocol/agent_request.h"
#include "agent-protocol/codec.h"

namespace {

using namespace agent_protocol;

struct StartUpCheck {
  std::string name;
  agent_protocol_check check = nullptr;
  void* context = nullptr;
};

std::string_view text_or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

// What is wrong, or nullopt.
std::optional<std::string> run(const StartUpCheck& check) {
  std::string reason(reason_bytes_max + 1, '\0');
  if (check.check(check.context, reason.data(), reason.size()) == 0) return std::nullopt;
  reason.resize(std::strlen(reason.c_str()));
  if (reason.empty()) reason = "failed";
  return check.name + ": " + reason;
}

bool handle_is_open = false;

}  // namespace

// The handle. Its members are noexcept because no exception may pass the interface: where memory
// has run out the process ends.
struct agent_protocol_agent {
  explicit agent_protocol_agent(std::unique_ptr<Conversation> opened)
      : conversation(std::move(opened)) {}

  int refuse(std::string reason) noexcept {
    error = std::move(reason);
    return -1;
  }
  int answer(const Result<Said>& said) noexcept { return said ? 0 : refuse(said.reason()); }
  int say(const AgentMessage& message) noexcept { return answer(conversation->say(message)); }
  int say_at_last(const AgentMessage& message) noexcept {
    return answer(conversation->say_at_last(message));
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
  int stopped(const char* state) noexcept;
  int status(const char* text) noexcept;

  std::unique_ptr<Conversation> conversation;
  std::vector<StartUpCheck> checks;
  EventView view;
  std::string error;
};

int agent_protocol_agent::add_check(const char* name, agent_protocol_check check,
                                    void* context) noexcept {
  if (name == nullptr || check == nullptr) {
    return refuse("cannot add a check: it needs a name and a function");
  }
  checks.push_back({.name = name, .check = check, .context = context});
  return 0;
}

int agent_protocol_agent::ready() noexcept {
  if (std::optional<std::string> why = conversation->why_not(Ready{})) return refuse(*why);
  for (const StartUpCheck& check : std::exchange(checks, {})) {
    conversation->leave_if_over();
    if (const std::optional<std::string> wrong = run(check)) {
      const std::string reason = fit_text(*wrong, reason_bytes_max);
      say_at_last(Unfit{reason});
      return refuse("cannot say ready: " + reason);
    }
  }
  conversation->leave_if_over();
  return say(Ready{});
}

int agent_protocol_agent::unfit(const char* reason) noexcept {
  return say_at_last(Unfit{fit_text(text_or_empty(reason), reason_bytes_max)});
}

int agent_protocol_agent::request_upgrade(const agent_protocol_upgrade* asked) noexcept {
  Result<Upgrade> upgrade = upgrade_from(asked);
  if (!upgrade) return refuse(upgrade.reason());
  return say(std::move(upgrade.value()));
}

int agent_protocol_agent::confirm(const char* id) noexcept {
  return say(Confirm{std::string(text_or_empty(id))});
}

int agent_protocol_agent::cancel(const char* id, const char* reason) noexcept {
  Cancel cancel{.id = std::string(text_or_empty(id)), .reason = std::nullopt};
  if (reason != nullptr) cancel.reason = fit_text(reason, reason_bytes_max);
  return say(cancel);
}

int agent_protocol_agent::stopped(const char* state) noexcept {
  std::optional<std::string> text;
  if (state != nullptr) text = state;
  return say_at_last(Stopped{std::move(text)});
}

int agent_protocol_agent::status(const char* text) noexcept {
  return say(Status{fit_text(text_or_empty(text), status_bytes_max)});
}

namespace {

agent_protocol_agent* open_handle(const char* version) noexcept {
  if (handle_is_open) {
    errno = EBUSY;
    return nullptr;
  }
  std::unique_ptr<Conversation> conversation = Conversation::open(text_or_empty(version));
  if (!conversation) return nullptr;
  handle_is_open = true;
  return new agent_protocol_agent(std::move(conversation));
}

}  // namespace

extern "C" {

agent_protocol_agent* agent_protocol_open(const char* version) {
  return open_handle(version);
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
  return agent->stopped(state);
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
