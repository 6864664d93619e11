// Defines the class Neighbour: a component of this machine whose upgrader is not fleet-agent's.
// fleet-agent reaches that upgrader only through the upgrader's control directory. The directory
// may appear or disappear at any time, and a new upgrader process may take over the directory.
#pragma once

#include <uv.h>

#include <memory>
#include <optional>
#include <string>

#include "agent-protocol/cpp/control/control_directory.h"
#include "agent-protocol/cpp/control/request.h"
#include "base/uv_handle.h"
#include "fleet/agent/component.h"
#include "fleet/agent/failure_watch.h"
#include "fleet/agent/health_keeper.h"
#include "fleet/agent/pending_request.h"
#include "fleet/store/timers.h"

namespace fleet {

class Neighbour {
 public:
  struct Settings {
    Component::Settings component = {};
    std::string control = {};  // the path of the upgrader's control directory
    std::vector<MeasureSource> measures = {};
  };

  // `changed` is called whenever the component's running version has changed.
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
  // Returns the version that runs, or an empty string if none runs or the version is unknown.
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
  std::string life_;   // start time of the last seen upgrader process, which identifies it
  std::string told_;   // name of the last request to undo or to commit, until it is answered
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
