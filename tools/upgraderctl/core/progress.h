// Shows the steps of one upgrade in the order in which they are seen, each with the time since the
// upgrade was accepted. On a terminal, the line below them shows the next step, which has not come
// yet.
#pragma once

#include <string>
#include <vector>

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

class Progress {
 public:
  // `command` is the command line that selects this upgrader. At a gate it is shown to the person
  // who must confirm the upgrade; it is empty if nobody must.
  Progress(std::string id, std::string command)
      : id_(std::move(id)), command_(std::move(command)) {}

  // Returns the steps that are new in this status, one line each.
  [[nodiscard]] std::vector<std::string> take(const Status& status);

  // Returns the line about the step that comes next, at most `columns` wide. The line has a bar if
  // that step has a deadline.
  [[nodiscard]] static std::string line(const Status& status, Moment now, std::size_t columns);

 private:
  enum Step { accepted, ready, gate, stop_sent, stopped, activated, steps };

  void tell(Step step, const std::optional<Moment>& when, const std::string& what);
  void tell_ready(const Status& status);
  void tell_phase(const Status& status);

  std::string id_;
  std::string command_;
  std::optional<Moment> begun_;
  std::string old_agent_ = "the old agent";
  bool told_[steps] = {};
  std::string phase_;  // the last phase that got a line of its own
  std::vector<std::string> lines_;
};

}  // namespace upgraderctl
