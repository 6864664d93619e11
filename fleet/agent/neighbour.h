// A component of this machine with an upgrader of its own, beside fleet-agent's. fleet-agent
// reaches that upgrader only by its control directory, which may appear, disappear, or get a new
// upgrader process at any time.
#pragma once

#include <uv.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agent-protocol/cpp/control/control_directory.h"
#include "agent-protocol/cpp/control/request.h"
#include "agent-protocol/cpp/control/status.h"
#include "base/uv_handle.h"
#include "fleet/agent/component.h"
#include "fleet/agent/health_keeper.h"
#include "fleet/agent/upgrade_failure.h"
#include "fleet/store/timers.h"

namespace fleet {

// Decides when a request to upgrade is sent to an upgrader. The upgrader may end before it has read
// the request. Or it may refuse the request as busy, since it has only just begun, is about to end,
// or is carrying out another upgrade. In these cases, the request is sent again as soon as an
// upgrader can accept it. Does no input or output.
class PendingRequest {
 public:
  explicit PendingRequest(upgraderctl::UpgradeRequest request) : request_(std::move(request)) {}

  // Returns the request. Its name is the one under which it was sent last.
  [[nodiscard]] const upgraderctl::UpgradeRequest& request() const { return request_; }
  // Gives the request a new name. This is needed before the request is sent again, since an
  // upgrader ignores a request whose name it has already answered. The id of the upgrade stays the
  // same, so the upgrader does not begin a second upgrade.
  void rename(std::string name) { request_.request = std::move(name); }

  // Returns true if the upgrader with this status has not got the request yet, and would accept it
  // now.
  [[nodiscard]] bool is_due(const upgraderctl::Status& status) const {
    return !has(status) && status.phase == "running";
  }
  // Records that the request was sent to the upgrader with this status.
  void written(const upgraderctl::Status& status) { life_ = status.upgrader.started; }
  // Records that the upgrader did not accept the request, so that it can be sent again.
  void take_back() { life_.clear(); }

  // Returns true if the request was sent to the upgrader process with this status.
  [[nodiscard]] bool has(const upgraderctl::Status& status) const {
    return is_written() && life_ == status.upgrader.started;
  }
  // Returns true if the request was sent to an upgrader that may still accept it.
  [[nodiscard]] bool is_written() const { return !life_.empty(); }

  // Returns true if the status shows that its upgrader has accepted the request.
  [[nodiscard]] bool was_taken(const upgraderctl::Status& status) const {
    const upgraderctl::Answer* answer = find_answer(status, request_.request);
    return is_under_way(status, request_.id) || find_ending(status, request_.id) != nullptr ||
           (answer != nullptr && answer->ok != false);
  }
  // Returns true if an upgrader that refuses a request for this reason may accept it later.
  [[nodiscard]] static bool is_busy(const std::string& reason) {
    return reason.starts_with("busy");
  }

 private:
  upgraderctl::UpgradeRequest request_;
  std::string life_;  // start time of the upgrader that was sent the request; or empty
};

class Neighbour {
 public:
  struct Settings {
    Component::Settings component = {};
    std::string control = {};  // the path of the upgrader's control directory
    std::vector<MeasureSource> measures = {};
  };

  // `changed` is called whenever another version of the component has begun to run.
  Neighbour(uv_loop_t& loop, NodeDesk& desk, Settings settings, std::function<void()> changed);

  // Looks in the local copy of the records for a new desired version and a new command. Called
  // after each change of that copy, and only while this process is the active fleet-agent of its
  // machine.
  void look() { component_.look(); }
  void take(const NodeEvent& event) { component_.take(event); }
  void leave() { component_.leave(); }
  // Reads the upgrader's status. Called only while this process is the active fleet-agent of its
  // machine.
  void look_at_status();

  [[nodiscard]] const std::string& name() const { return component_.name(); }
  // Returns the version that runs, or an empty text if none runs or the version is unknown.
  [[nodiscard]] const std::string& version() const { return version_; }

 private:
  void watch(uv_loop_t& loop);
  void end_with_life(const upgraderctl::Status& status);
  [[nodiscard]] UpgradeEnded ended_with_life(const std::string& id) const;
  void take_status(const upgraderctl::Status& status);
  void begin(const upgraderctl::Status& status);
  void settle(const upgraderctl::Status& status);
  void look_at_attempt(const upgraderctl::Status& status);
  void look_at_answer(const upgraderctl::Status& status);
  void look_at_refusal(const upgraderctl::Status& status);
  void look_at_health(const upgraderctl::Status& status, bool is_another_life);
  [[nodiscard]] UpgradeEnded ended(const upgraderctl::Ending& ending) const;
  [[nodiscard]] std::string send(const upgraderctl::Request& request);
  [[nodiscard]] std::string next_name();
  [[nodiscard]] Component::Hands hands();
  [[nodiscard]] std::string ask(const Component::Request& request);
  [[nodiscard]] std::string offer(const std::optional<upgraderctl::Status>& status);
  [[nodiscard]] bool may_be_obeyed();
  void lose_patience();
  void give_up(UpgradeEnding ending, const std::string& why);
  void close_request();
  [[nodiscard]] std::string go_back(const std::string& id, const std::string& reason);

  NodeDesk& desk_;
  Component component_;
  upgraderctl::ControlDirectory control_;
  FailureWatch watch_;
  HealthKeeper health_;
  std::function<void()> changed_;
  upgrader::UvHandle<uv_fs_event_t> event_;
  upgrader::UvHandle<uv_timer_t> timer_;
  std::string version_;
  std::string life_;   // start time of the upgrader process that was seen last
  std::string told_;   // name of the last request to go back or to commit, until it is answered
  std::string asked_;  // id of the upgrade that was requested and has not ended
  std::optional<PendingRequest> pending_;  // the request to upgrade, until it is answered
  std::unique_ptr<Timer> patience_;        // while this timer runs, the request may be repeated
  bool unreadable_ = false;
  bool was_ready_ = false;
  bool was_activated_ = false;
  bool was_silent_ = false;
  std::uint64_t requests_ = 0;
};

}  // namespace fleet
