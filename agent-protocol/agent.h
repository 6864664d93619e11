// The agent's interface in C++: a class that owns a handle of the C interface. The comments in
// agent_protocol.h are the contract. This header needs only agent_protocol.h and the standard
// library, and throws nothing.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "agent_protocol.h"

namespace agent_protocol {

// One agent's end of the conversation. All types of this header are members of this class, so that
// their names do not collide with names of the library itself.
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
  // The condition for passing a trial: to survive it, or to say healthy before it ends.
  enum class CommitRule { survive, healthy };

  // ---- events

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
    std::vector<std::string> features = {};  // features that both this agent and the upgrader know
  };
  struct Activate {
    bool clean = false;
    std::optional<std::string> state = {};
    // Why the upgrade failed. Set only for a fallback (the previous version, started again) that
    // got its `welcome` before the upgrade failed. Any other fallback gets the failure with its
    // `welcome`.
    std::optional<Failure> failure = {};
    // The length of the trial, and the condition for passing it. Both are set only if the agent is
    // on trial.
    std::optional<Milliseconds> trial = {};
    std::optional<CommitRule> commit = {};
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

  // ---- the terms of an upgrade; if a member is absent, the upgrader uses its own default

  enum class Mode { parallel, sequential };
  enum class Gate { none, confirm };
  enum class UncleanStop { fall_back, carry_on };
  enum class Fallback { cold, warm };

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
    std::optional<Fallback> fallback = {};
  };

  // A start-up check. Returns what is wrong, or nothing if all is well.
  using Check = std::function<std::optional<std::string>()>;

  // ---- calls. A call that returns bool returns false after a failure, and sets errno; error()
  // then says why. A text that contains U+0000 is refused with EINVAL, never cut at that character.

  // Returns nullopt, and sets errno, if agent_protocol_open() returns NULL.
  [[nodiscard]] static std::optional<Agent> open(const std::string& version = {},
                                                 const std::vector<std::string>& features = {}) {
    std::vector<const char*> names;
    bool wrong = has_nul(version);
    for (const std::string& feature : features) {
      wrong = wrong || has_nul(feature);
      names.push_back(feature.c_str());
    }
    names.push_back(nullptr);
    if (wrong) {
      errno = EINVAL;
      return std::nullopt;
    }
    agent_protocol_agent* handle = agent_protocol_open_with(version.c_str(), names.data());
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

  // Waits for the next event, without a time limit.
  [[nodiscard]] Event wait() {
    for (;;) {
      const agent_protocol_event* event = agent_protocol_wait(handle_.get(), -1);
      if (std::optional<Event> known = event_from(*event)) return *std::move(known);
    }
  }

  // Waits for the next event for at most `timeout`; a negative `timeout` means no wait. Returns
  // nullopt when the time is over, and for an event whose type this header does not know yet.
  [[nodiscard]] std::optional<Event> wait(Milliseconds timeout) {
    const agent_protocol_event* event = agent_protocol_wait(handle_.get(), int_from(timeout));
    if (event == nullptr) return std::nullopt;
    return event_from(*event);
  }

  bool add_check(const std::string& name, Check check) {
    if (!can_send("add a check", name)) return false;
    checks_.push_back(std::make_unique<Check>(std::move(check)));
    return done(
        agent_protocol_add_check(handle_.get(), name.c_str(), &run_check, checks_.back().get()));
  }

  [[nodiscard]] bool ready() { return done(agent_protocol_ready(handle_.get())); }
  bool unfit(const std::string& reason) {
    return can_send("say unfit", reason) &&
           done(agent_protocol_unfit(handle_.get(), reason.c_str()));
  }
  [[nodiscard]] bool request_upgrade(const Upgrade& upgrade);
  [[nodiscard]] bool confirm(const std::string& id) {
    return can_send("confirm an upgrade", id) &&
           done(agent_protocol_confirm(handle_.get(), id.c_str()));
  }
  [[nodiscard]] bool cancel(const std::string& id, const std::string& reason = {}) {
    return can_send("cancel an upgrade", id) && can_send("cancel an upgrade", reason) &&
           done(agent_protocol_cancel(handle_.get(), id.c_str(),
                                      reason.empty() ? nullptr : reason.c_str()));
  }
  [[nodiscard]] bool stopped(std::optional<std::string_view> state = {}) {
    if (!state) return done(agent_protocol_stopped(handle_.get(), nullptr));
    const char* const bytes = state->empty() ? "" : state->data();
    return done(agent_protocol_stopped_with(handle_.get(), bytes, state->size()));
  }
  bool healthy() { return done(agent_protocol_healthy(handle_.get())); }
  bool extend(Milliseconds time) {
    return done(agent_protocol_extend(handle_.get(), time.count()));
  }
  bool heartbeat() { return done(agent_protocol_heartbeat(handle_.get())); }
  bool status(const std::string& text) {
    return can_send("show a status", text) &&
           done(agent_protocol_status(handle_.get(), text.c_str()));
  }

  // Returns why the last call that returned false could not do its work.
  [[nodiscard]] std::string error() const {
    return refusal_.empty() ? agent_protocol_error(handle_.get()) : refusal_;
  }

 private:
  struct Close {
    void operator()(agent_protocol_agent* handle) const { agent_protocol_close(handle); }
  };

  explicit Agent(agent_protocol_agent* handle) : handle_(handle) {}

  static bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }
  // Returns false for a text that contains U+0000, since the C interface would send only the part
  // before it.
  bool can_send(const char* deed, std::string_view text) {
    if (!has_nul(text)) return true;
    refusal_ = std::string("cannot ") + deed + ": a text of it holds U+0000";
    errno = EINVAL;
    return false;
  }
  bool done(int answer) {
    refusal_.clear();
    return answer == 0;
  }

  static std::optional<std::string> text_from(const char* text) {
    return text == nullptr ? std::nullopt : std::optional<std::string>(text);
  }
  static std::vector<std::string> texts_from(const char* const* texts) {
    std::vector<std::string> list;
    for (; texts != nullptr && *texts != nullptr; ++texts)
      list.emplace_back(*texts);
    return list;
  }
  static std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }
  template <class Number>
  static std::optional<Number> number_from(Number number) {
    return number == -1 ? std::nullopt : std::optional<Number>(number);
  }
  static std::optional<Milliseconds> time_from(std::int64_t ms) {
    return ms == -1 ? std::nullopt : std::optional<Milliseconds>(ms);
  }
  static std::optional<CommitRule> commit_rule_from(const char* name) {
    if (name == nullptr) return std::nullopt;
    return std::string_view(name) == "healthy" ? CommitRule::healthy : CommitRule::survive;
  }
  // Returns a time as the C interface represents it: -1 if it is absent. A negative time becomes a
  // number that the C interface refuses.
  static std::int64_t ms_from(std::optional<Milliseconds> time) {
    if (!time) return -1;
    return time->count() == -1 ? -2 : time->count();
  }
  static int int_from(Milliseconds time) {
    return static_cast<int>(
        std::clamp<std::int64_t>(time.count(), 0, std::numeric_limits<int>::max()));
  }

  static std::optional<Failure> failure_from(const agent_protocol_failure* failure);
  static std::optional<Event> event_from(const agent_protocol_event& event);

  // Runs a check. If the check throws, the program ends: an exception must not pass through the C
  // interface.
  static int run_check(void* context, char* reason, std::size_t size) noexcept {
    const std::optional<std::string> wrong = (*static_cast<Check*>(context))();
    if (!wrong) return 0;
    // A reason that is longer than the buffer fills the buffer without a NUL at its end: this tells
    // the library that the reason was cut. U+0000 inside the reason becomes an invalid byte, which
    // the library replaces by U+FFFD.
    const std::size_t length = std::min(wrong->size(), size);
    std::replace_copy(wrong->begin(), wrong->begin() + static_cast<std::ptrdiff_t>(length), reason,
                      '\0', '\xff');
    std::fill(reason + length, reason + size, '\0');
    return 1;
  }

  // The start-up checks. Each is allocated separately, since the C handle keeps pointers to them.
  std::vector<std::unique_ptr<Check>> checks_;
  std::unique_ptr<agent_protocol_agent, Close> handle_;
  std::string refusal_;  // why this class itself refused the last call; otherwise empty
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
                     .watchdog = time_from(event.watchdog_ms),
                     .features = texts_from(event.features)};
    case AGENT_PROTOCOL_ACTIVATE:
      return Activate{.clean = event.clean == 1,
                      .state = text_from(event.state),
                      .failure = failure_from(event.failure),
                      .trial = time_from(event.trial_ms),
                      .commit = commit_rule_from(event.commit)};
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
  constexpr const char* deed = "request an upgrade";
  if (!can_send(deed, upgrade.id) || !can_send(deed, upgrade.executable)) return false;
  agent_protocol_upgrade request = AGENT_PROTOCOL_UPGRADE_INIT;
  request.id = upgrade.id.c_str();
  request.executable = upgrade.executable.c_str();
  std::vector<const char*> args;
  if (upgrade.args) {
    for (const std::string& arg : *upgrade.args) {
      if (!can_send(deed, arg)) return false;
      args.push_back(arg.c_str());
    }
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
  if (upgrade.fallback) request.fallback = *upgrade.fallback == Fallback::cold ? "cold" : "warm";
  return done(agent_protocol_request_upgrade(handle_.get(), &request));
}

}  // namespace agent_protocol
