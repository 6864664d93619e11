// What an agent calls, in C++: a thin owner of the C interface, whose comments are the contract.
// Stands on agent_protocol.h and the standard library alone, and throws nothing.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent_protocol.h"

namespace agent_protocol {

// One agent's end of the conversation. All types are its members, so that they share no name with
// the library's own.
class Agent {
 public:
  using Milliseconds = std::chrono::milliseconds;

  enum class Role {
    first = AGENT_PROTOCOL_FIRST,
    candidate = AGENT_PROTOCOL_CANDIDATE,
    fallback = AGENT_PROTOCOL_FALLBACK
  };
  enum class StopReason {
    upgrade = AGENT_PROTOCOL_STOP_UPGRADE,
    rollback = AGENT_PROTOCOL_STOP_ROLLBACK,
    shutdown = AGENT_PROTOCOL_STOP_SHUTDOWN,
    signal = AGENT_PROTOCOL_STOP_SIGNAL,
    end_of_input = AGENT_PROTOCOL_STOP_END_OF_INPUT
  };

  // ---- what has happened

  struct Failure {
    std::string id;
    std::string stage;
    std::string reason;
    std::optional<std::string> version = {};
    std::optional<std::string> errno_name = {};
    std::optional<int> exit_status = {};
    std::optional<int> signal = {};
  };
  struct Welcome {
    std::int64_t generation = 0;
    Role role = Role::first;
    std::optional<std::string> previous_version = {};
    std::optional<Failure> failure = {};
    std::optional<Milliseconds> watchdog = {};
  };
  struct Activate {
    bool clean = false;
    std::optional<std::string> state = {};
  };
  struct Stop {
    StopReason reason = StopReason::shutdown;
    std::optional<Milliseconds> deadline = {};
    std::optional<std::string> id = {};
    std::optional<std::int64_t> generation = {};
  };
  struct Accepted {
    std::string id;
    std::int64_t generation = 0;
  };
  struct CandidateReady {
    std::string id;
    std::int64_t generation = 0;
    std::optional<std::string> version = {};
  };
  struct CandidateLost {
    std::string id;
    std::string reason;
  };
  struct UpgradeFailed {
    Failure failure;
  };
  struct Committed {
    std::string id;
    std::int64_t generation = 0;
  };
  struct Error {
    std::optional<std::string> about = {};
    std::string reason;
  };
  using Event = std::variant<Welcome, Activate, Stop, Accepted, CandidateReady, CandidateLost,
                             UpgradeFailed, Committed, Error>;

  // ---- what is asked of an upgrade; what is absent is the upgrader's own default

  enum class Mode { parallel, sequential };
  enum class Gate { none, confirm };
  enum class CommitRule { survive, healthy };
  enum class UncleanStop { fall_back, carry_on };

  struct Upgrade {
    std::string id;
    std::string executable;
    std::optional<std::vector<std::string>> args = {};
    std::optional<Mode> mode = {};
    std::optional<Gate> gate = {};
    std::optional<CommitRule> commit = {};
    std::optional<UncleanStop> on_unclean_stop = {};
    std::optional<Milliseconds> start_timeout = {};
    std::optional<Milliseconds> confirm_timeout = {};
    std::optional<Milliseconds> stop_timeout = {};
    std::optional<Milliseconds> trial = {};
  };

  // Says what is wrong, or nothing if all is well.
  using Check = std::function<std::optional<std::string>()>;

  // ---- calls; those that answer bool answer false with error() saying why

  // nullopt, with errno, where agent_protocol_open() answers NULL.
  [[nodiscard]] static std::optional<Agent> open(const std::string& version = {}) {
    agent_protocol_agent* handle = agent_protocol_open(version.c_str());
    if (handle == nullptr) return std::nullopt;
    return Agent(handle);
  }

  [[nodiscard]] bool alone() const { return agent_protocol_alone(handle_.get()) == 1; }
  [[nodiscard]] int fd() const { return agent_protocol_fd(handle_.get()); }

  [[nodiscard]] std::optional<Event> next() {
    while (const agent_protocol_event* event = agent_protocol_next(handle_.get())) {
      if (std::optional<Event> known = event_from(*event)) return known;
    }
    return std::nullopt;
  }

  // Waits for as long as it takes.
  [[nodiscard]] Event wait() {
    for (;;) {
      const agent_protocol_event* event = agent_protocol_wait(handle_.get(), -1);
      if (std::optional<Event> known = event_from(*event)) return *std::move(known);
    }
  }

  // A negative time is none. Also nullopt before the time is over, if the event is of a type
  // younger than this header.
  [[nodiscard]] std::optional<Event> wait(Milliseconds timeout) {
    const agent_protocol_event* event = agent_protocol_wait(handle_.get(), int_from(timeout));
    if (event == nullptr) return std::nullopt;
    return event_from(*event);
  }

  bool add_check(const std::string& name, Check check) {
    checks_.push_back(std::make_unique<Check>(std::move(check)));
    return agent_protocol_add_check(handle_.get(), name.c_str(), &run_check,
                                    checks_.back().get()) == 0;
  }

  [[nodiscard]] bool ready() { return agent_protocol_ready(handle_.get()) == 0; }
  bool unfit(const std::string& reason) {
    return agent_protocol_unfit(handle_.get(), reason.c_str()) == 0;
  }
  [[nodiscard]] bool request_upgrade(const Upgrade& upgrade);
  [[nodiscard]] bool confirm(const std::string& id) {
    return agent_protocol_confirm(handle_.get(), id.c_str()) == 0;
  }
  [[nodiscard]] bool cancel(const std::string& id, const std::string& reason = {}) {
    return agent_protocol_cancel(handle_.get(), id.c_str(),
                                 reason.empty() ? nullptr : reason.c_str()) == 0;
  }
  [[nodiscard]] bool stopped(const std::optional<std::string>& state = {}) {
    return agent_protocol_stopped(handle_.get(), state ? state->c_str() : nullptr) == 0;
  }
  bool healthy() { return agent_protocol_healthy(handle_.get()) == 0; }
  bool extend(Milliseconds time) { return agent_protocol_extend(handle_.get(), time.count()) == 0; }
  bool heartbeat() { return agent_protocol_heartbeat(handle_.get()) == 0; }
  bool status(const std::string& text) {
    return agent_protocol_status(handle_.get(), text.c_str()) == 0;
  }

  // Why the last call that answered false did.
  [[nodiscard]] std::string error() const { return agent_protocol_error(handle_.get()); }

 private:
  struct Close {
    void operator()(agent_protocol_agent* handle) const { agent_protocol_close(handle); }
  };

  explicit Agent(agent_protocol_agent* handle) : handle_(handle) {}

  static std::optional<std::string> text_from(const char* text) {
    return text == nullptr ? std::nullopt : std::optional<std::string>(text);
  }
  static std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }
  template <class Number>
  static std::optional<Number> number_from(Number number) {
    return number == -1 ? std::nullopt : std::optional<Number>(number);
  }
  static std::optional<Milliseconds> time_from(std::int64_t ms) {
    return ms == -1 ? std::nullopt : std::optional<Milliseconds>(ms);
  }
  static std::int64_t ms_from(std::optional<Milliseconds> time) {
    return time ? time->count() : -1;
  }
  static int int_from(Milliseconds time) {
    return static_cast<int>(
        std::clamp<std::int64_t>(time.count(), 0, std::numeric_limits<int>::max()));
  }

  static std::optional<Failure> failure_from(const agent_protocol_failure* failure);
  static std::optional<Event> event_from(const agent_protocol_event& event);

  // Ends the program if the check throws: an exception cannot pass the C interface.
  static int run_check(void* context, char* reason, std::size_t size) noexcept {
    const std::optional<std::string> wrong = (*static_cast<Check*>(context))();
    if (!wrong) return 0;
    const std::size_t length = std::min(wrong->size(), size - 1);
    std::memcpy(reason, wrong->data(), length);
    reason[length] = '\0';
    return 1;
  }

  std::vector<std::unique_ptr<Check>> checks_;  // the handle points to them
  std::unique_ptr<agent_protocol_agent, Close> handle_;
};

inline std::optional<Agent::Failure> Agent::failure_from(const agent_protocol_failure* failure) {
  if (failure == nullptr) return std::nullopt;
  return Failure{.id = text_or_empty(failure->id),
                 .stage = text_or_empty(failure->stage),
                 .reason = text_or_empty(failure->reason),
                 .version = text_from(failure->version),
                 .errno_name = text_from(failure->errno_name),
                 .exit_status = number_from(failure->exit_status),
                 .signal = number_from(failure->signal)};
}

inline std::optional<Agent::Event> Agent::event_from(const agent_protocol_event& event) {
  switch (event.type) {
    case AGENT_PROTOCOL_WELCOME:
      return Welcome{.generation = event.generation,
                     .role = static_cast<Role>(event.role),
                     .previous_version = text_from(event.version),
                     .failure = failure_from(event.failure),
                     .watchdog = time_from(event.watchdog_ms)};
    case AGENT_PROTOCOL_ACTIVATE:
      return Activate{.clean = event.clean == 1, .state = text_from(event.state)};
    case AGENT_PROTOCOL_STOP:
      return Stop{.reason = static_cast<StopReason>(event.stop_reason),
                  .deadline = time_from(event.deadline_ms),
                  .id = text_from(event.id),
                  .generation = number_from(event.generation)};
    case AGENT_PROTOCOL_ACCEPTED:
      return Accepted{.id = text_or_empty(event.id), .generation = event.generation};
    case AGENT_PROTOCOL_CANDIDATE_READY:
      return CandidateReady{.id = text_or_empty(event.id),
                            .generation = event.generation,
                            .version = text_from(event.version)};
    case AGENT_PROTOCOL_CANDIDATE_LOST:
      return CandidateLost{.id = text_or_empty(event.id), .reason = text_or_empty(event.reason)};
    case AGENT_PROTOCOL_UPGRADE_FAILED:
      return UpgradeFailed{.failure = failure_from(event.failure).value_or(Failure())};
    case AGENT_PROTOCOL_COMMITTED:
      return Committed{.id = text_or_empty(event.id), .generation = event.generation};
    case AGENT_PROTOCOL_ERROR:
      return Error{.about = text_from(event.about), .reason = text_or_empty(event.reason)};
  }
  return std::nullopt;
}

inline bool Agent::request_upgrade(const Upgrade& upgrade) {
  agent_protocol_upgrade request = AGENT_PROTOCOL_UPGRADE_INIT;
  request.id = upgrade.id.c_str();
  request.executable = upgrade.executable.c_str();
  std::vector<const char*> args;
  if (upgrade.args) {
    for (const std::string& arg : *upgrade.args)
      args.push_back(arg.c_str());
    args.push_back(nullptr);
    request.args = args.data();
  }
  if (upgrade.mode) request.mode = *upgrade.mode == Mode::parallel ? "parallel" : "sequential";
  if (upgrade.gate) request.gate = *upgrade.gate == Gate::none ? "none" : "confirm";
  if (upgrade.commit) {
    request.commit = *upgrade.commit == CommitRule::survive ? "survive" : "healthy";
  }
  if (upgrade.on_unclean_stop) {
    request.on_unclean_stop =
        *upgrade.on_unclean_stop == UncleanStop::fall_back ? "fallback" : "continue";
  }
  request.start_timeout_ms = ms_from(upgrade.start_timeout);
  request.confirm_timeout_ms = ms_from(upgrade.confirm_timeout);
  request.stop_timeout_ms = ms_from(upgrade.stop_timeout);
  request.trial_ms = ms_from(upgrade.trial);
  return agent_protocol_request_upgrade(handle_.get(), &request) == 0;
}

}  // namespace agent_protocol
