// The messages of the agent protocol, version 1, as plain data. The page agent-protocol(7) explains
// each member; serialize.h (names and limits) and codec.h (lines) define the form of a message on
// the wire.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace agent_protocol {

// The highest version of the protocol that this code speaks.
inline constexpr std::int64_t protocol_version = 1;

// The limits of the protocol follow. Texts are counted in bytes of UTF-8, without escapes. The
// longest line, with its newline, has the default size of a pipe.
inline constexpr std::size_t line_bytes_max = 65'536;
inline constexpr std::size_t version_bytes_max = 128;
inline constexpr std::size_t features_max = 16;
// The name of the feature readiness. An agent with this feature says `healthy` when it works, in
// every role: also as a first agent or a fallback.
inline constexpr char readiness_feature[] = "readiness";
inline constexpr std::size_t feature_bytes_max = 32;
inline constexpr std::size_t reason_bytes_max = 1'024;
inline constexpr std::size_t status_bytes_max = 256;
inline constexpr std::size_t about_bytes_max = 64;
inline constexpr std::size_t id_bytes_max = 64;
// The longest path: PATH_MAX without its NUL.
inline constexpr std::size_t executable_bytes_max = 4'095;
inline constexpr std::size_t args_max = 1'024;
inline constexpr std::size_t state_bytes_max = 32'768;
// The most bytes of `state` when it is escaped. The limit is so low that `activate`, which contains
// a state, always fits a line.
inline constexpr std::size_t state_escaped_bytes_max = 65'000;
inline constexpr std::int64_t protocol_number_max = 2'147'483'647;
inline constexpr std::int64_t timeout_ms_max = 86'400'000;  // the longest time limit: one day

// The names of an enumeration's values, in the order of the values. The names are used on the wire,
// in the log and on the command line.
template <class Enum>
inline constexpr std::array<std::string_view, 0> names_of{};

// Returns the name of an enumerator.
template <class Enum>
[[nodiscard]] constexpr std::string_view name_of(Enum value) {
  return names_of<Enum>[static_cast<std::size_t>(value)];
}

// Returns the enumerator with this name, if there is one.
template <class Enum>
[[nodiscard]] constexpr std::optional<Enum> named(std::string_view name) {
  for (std::size_t i = 0; i < names_of<Enum>.size(); ++i) {
    if (names_of<Enum>[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

enum class Role { first, candidate, fallback };
template <>
inline constexpr std::array<std::string_view, 3> names_of<Role>{"first", "candidate", "fallback"};

enum class Mode { parallel, sequential };
template <>
inline constexpr std::array<std::string_view, 2> names_of<Mode>{"parallel", "sequential"};

enum class Gate { none, confirm };
template <>
inline constexpr std::array<std::string_view, 2> names_of<Gate>{"none", "confirm"};

enum class CommitRule { survive, healthy };
template <>
inline constexpr std::array<std::string_view, 2> names_of<CommitRule>{"survive", "healthy"};

enum class UncleanStop { fall_back, carry_on };
template <>
inline constexpr std::array<std::string_view, 2> names_of<UncleanStop>{"fallback", "continue"};

// When the fallback is started: after the upgrade has failed (cold), or when the trial begins
// (warm).
enum class FallbackMode { cold, warm };
template <>
inline constexpr std::array<std::string_view, 2> names_of<FallbackMode>{"cold", "warm"};

enum class StopReason { upgrade, rollback, shutdown };
template <>
inline constexpr std::array<std::string_view, 3> names_of<StopReason>{"upgrade", "rollback",
                                                                      "shutdown"};

enum class Stage { request, spawn, start, confirm, cancel, stop, trial, commit, shutdown, boot };
template <>
inline constexpr std::array<std::string_view, 10> names_of<Stage>{
    "request", "spawn", "start",  "confirm",  "cancel",
    "stop",    "trial", "commit", "shutdown", "boot"};

// ---- from an agent

// In each structure below, the constant `type` is the value of the member `type` in the message's
// JSON.

struct Hello {
  static constexpr std::string_view type = "hello";
  std::int64_t protocol = protocol_version;
  std::optional<std::string> version;
  std::vector<std::string> features;
  bool operator==(const Hello&) const = default;
};

struct Ready {
  static constexpr std::string_view type = "ready";
  bool operator==(const Ready&) const = default;
};

struct Unfit {
  static constexpr std::string_view type = "unfit";
  std::string reason;
  bool operator==(const Unfit&) const = default;
};

// A request for an upgrade. If `args` is absent, the new version gets the arguments of the active
// agent. If any other optional member is absent, the upgrader's default is used.
struct Upgrade {
  static constexpr std::string_view type = "upgrade";
  std::string id = {};
  std::string executable = {};
  std::optional<std::vector<std::string>> args = {};
  std::optional<Mode> mode = {};
  std::optional<Gate> gate = {};
  std::optional<CommitRule> commit = {};
  std::optional<std::int64_t> start_timeout_ms = {};
  std::optional<std::int64_t> confirm_timeout_ms = {};
  std::optional<std::int64_t> stop_timeout_ms = {};
  std::optional<std::int64_t> trial_ms = {};
  std::optional<UncleanStop> on_unclean_stop = {};
  std::optional<FallbackMode> fallback = {};
  bool operator==(const Upgrade&) const = default;
};

struct Confirm {
  static constexpr std::string_view type = "confirm";
  std::string id;
  bool operator==(const Confirm&) const = default;
};

struct Cancel {
  static constexpr std::string_view type = "cancel";
  std::string id;
  std::optional<std::string> reason;
  bool operator==(const Cancel&) const = default;
};

struct Stopped {
  static constexpr std::string_view type = "stopped";
  std::optional<std::string> state;
  bool operator==(const Stopped&) const = default;
};

struct Healthy {
  static constexpr std::string_view type = "healthy";
  bool operator==(const Healthy&) const = default;
};

struct Extend {
  static constexpr std::string_view type = "extend";
  std::int64_t ms = 0;
  bool operator==(const Extend&) const = default;
};

struct Heartbeat {
  static constexpr std::string_view type = "heartbeat";
  bool operator==(const Heartbeat&) const = default;
};

struct Status {
  static constexpr std::string_view type = "status";
  std::string text;
  bool operator==(const Status&) const = default;
};

using AgentMessage = std::variant<Hello, Ready, Unfit, Upgrade, Confirm, Cancel, Stopped, Healthy,
                                  Extend, Heartbeat, Status>;

// ---- to an agent

// Why an upgrade failed: the members of `upgrade_failed`. At most one of errno, exit status and
// signal is set.
struct Failure {
  std::string id;
  Stage stage = Stage::request;
  std::string reason;
  std::optional<std::int64_t> exit_status;
  std::optional<std::int64_t> signal;
  std::optional<std::string> errno_name;  // the member `errno` of the message, such as "ENOENT"
  // The name of a stage that only a later upgrader knows. If it is set, `stage` has no meaning.
  std::optional<std::string> later_stage = {};
  bool operator==(const Failure&) const = default;
};

// The failed upgrade after which a fallback was started.
struct PastFailure {
  Failure failure;
  std::optional<std::string> version;  // the version of the agent that failed, if known
  bool operator==(const PastFailure&) const = default;
};

struct Welcome {
  static constexpr std::string_view type = "welcome";
  std::int64_t protocol = protocol_version;
  std::vector<std::string> features;
  std::int64_t generation = 1;
  Role role = Role::first;
  std::optional<std::string> previous_version;
  std::optional<PastFailure> failure;
  std::optional<std::int64_t> watchdog_ms;
  bool operator==(const Welcome&) const = default;
};

struct Activate {
  static constexpr std::string_view type = "activate";
  std::optional<std::string> state;
  bool clean = false;
  // The failed upgrade. Set only for a fallback (the previous version, started again) that got its
  // `welcome` before the upgrade failed.
  std::optional<PastFailure> failure{};
  // How long the trial lasts, and what the agent must do to pass it. Both are set only if the agent
  // is on trial.
  std::optional<std::int64_t> trial_ms{};
  std::optional<CommitRule> commit{};
  bool operator==(const Activate&) const = default;
};

struct Stop {
  static constexpr std::string_view type = "stop";
  StopReason reason = StopReason::shutdown;
  std::int64_t deadline_ms = 1;
  std::optional<std::string> id;  // the id of the upgrade; only if the reason is `upgrade`
  // the candidate's generation; only if the reason is `upgrade`
  std::optional<std::int64_t> generation;
  bool operator==(const Stop&) const = default;
};

struct Accepted {
  static constexpr std::string_view type = "accepted";
  std::string id;
  std::int64_t generation = 0;
  bool operator==(const Accepted&) const = default;
};

struct CandidateReady {
  static constexpr std::string_view type = "candidate_ready";
  std::string id;
  std::int64_t generation = 0;
  std::optional<std::string> version;
  bool operator==(const CandidateReady&) const = default;
};

struct CandidateLost {
  static constexpr std::string_view type = "candidate_lost";
  std::string id;
  std::string reason;
  bool operator==(const CandidateLost&) const = default;
};

struct UpgradeFailed {
  static constexpr std::string_view type = "upgrade_failed";
  Failure failure;
  bool operator==(const UpgradeFailed&) const = default;
};

struct Committed {
  static constexpr std::string_view type = "committed";
  std::string id;
  std::int64_t generation = 0;
  bool operator==(const Committed&) const = default;
};

struct Error {
  static constexpr std::string_view type = "error";
  std::optional<std::string> about;
  std::string reason;
  bool operator==(const Error&) const = default;
};

using UpgraderMessage = std::variant<Welcome, Activate, Stop, Accepted, CandidateReady,
                                     CandidateLost, UpgradeFailed, Committed, Error>;

}  // namespace agent_protocol
