// The contents of status.json, as plain data. If a member is absent or malformed, its field here
// keeps its default: an empty text, no number, no time. The rules for reading are in
// status_reader.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/moment.h"

namespace upgraderctl {

// One run of an upgrader, from its start to its end.
struct Life {
  std::optional<std::int64_t> pid;
  std::string version;
  // the start time, as it is written in the file; no two upgraders of one directory have the same
  // start time
  std::string started;
  std::optional<Moment> since;
  std::optional<std::int64_t> protocol;
  bool operator==(const Life&) const = default;
};

struct AgentStatus {
  std::optional<std::int64_t> generation;
  std::string role;
  std::optional<std::int64_t> pid;
  std::string version;
  std::string executable;
  std::vector<std::string> args;
  bool args_omitted = false;
  std::optional<Moment> started;
  std::optional<Moment> activated;
  std::string status;
  bool silent = false;
  bool operator==(const AgentStatus&) const = default;
};

// The upgrade under way, with those of its terms (mode, gate, length of the trial and so on) that
// upgraderctl shows.
struct UpgradeStatus {
  std::string id;
  std::string origin;
  std::string executable;
  std::string mode;
  std::string gate;
  std::string commit;
  std::optional<std::int64_t> trial_ms;
  std::optional<Moment> accepted;
  std::optional<Moment> ready;
  std::optional<Moment> stop_sent;
  std::optional<Moment> stopped;
  std::optional<Moment> activated;
  bool operator==(const UpgradeStatus&) const = default;
};

struct Side {
  std::string version;
  std::string executable;
  bool operator==(const Side&) const = default;
};

struct Ending {
  std::string id;
  std::string origin;
  std::string outcome;
  std::string stage;
  std::string reason;
  std::optional<std::int64_t> exit_status;
  std::optional<std::int64_t> signal;
  std::string error;  // the member `errno` of status.json
  Side from;
  Side to;
  std::optional<Moment> accepted;
  std::optional<Moment> ended;
  std::optional<std::int64_t> start_ms;
  std::optional<std::int64_t> stop_ms;
  std::optional<std::int64_t> gap_us;
  bool operator==(const Ending&) const = default;
};

struct Answer {
  std::string request;
  std::string type;
  std::optional<bool> ok;
  std::string reason;
  bool operator==(const Answer&) const = default;
};

// How the upgrader ended.
struct Ended {
  std::optional<std::int64_t> exit_status;
  std::string reason;
  std::optional<Moment> at;
  bool operator==(const Ended&) const = default;
};

struct Boot {
  std::optional<std::int64_t> attempts;
  std::string previous;
  bool operator==(const Boot&) const = default;
};

struct Status {
  Life upgrader;
  std::string phase;
  std::optional<Moment> since;
  std::optional<Moment> deadline;
  std::optional<AgentStatus> active;
  std::optional<AgentStatus> candidate;
  std::optional<AgentStatus> standby;
  std::optional<UpgradeStatus> upgrade;
  std::vector<Ending> endings;   // upgrades that have ended, the newest first
  std::vector<Answer> requests;  // requests with their answers, the newest first
  std::optional<Ended> ended;
  std::optional<Boot> boot;
  bool operator==(const Status&) const = default;
};

// status.json lists at most this many answered requests, and at most this many ended upgrades.
inline constexpr std::size_t requests_max = 16;

[[nodiscard]] inline bool same_life(const Status& one, const Status& other) {
  return one.upgrader.started == other.upgrader.started && one.upgrader.pid == other.upgrader.pid;
}

// Returns the answer to the request with this name, or null.
[[nodiscard]] inline const Answer* find_answer(const Status& status, const std::string& request) {
  for (const Answer& answer : status.requests) {
    if (answer.request == request) return &answer;
  }
  return nullptr;
}

[[nodiscard]] inline bool is_under_way(const Status& status, const std::string& id) {
  return status.upgrade && status.upgrade->id == id;
}

// Returns how the last upgrade with this id ended, or null if it has not ended. An agent may choose
// the same id for several upgrades: then their times `accepted` differ. While one of them is under
// way, the endings of the others do not count. If `accepted` is given, only the upgrade with this
// time counts.
[[nodiscard]] inline const Ending* find_ending(
    const Status& status, const std::string& id,
    const std::optional<Moment>& accepted = std::nullopt) {
  for (const Ending& ending : status.endings) {
    if (ending.id != id || (accepted && ending.accepted != accepted)) continue;
    const bool is_earlier =
        !accepted && is_under_way(status, id) && status.upgrade->accepted != ending.accepted;
    return is_earlier ? nullptr : &ending;
  }
  return nullptr;
}

}  // namespace upgraderctl
