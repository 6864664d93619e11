// Shows the steps of one upgrade in the order in which they happen, each with the time since the
// upgrade was accepted. On a terminal, a last line shows the step that comes next.
#pragma once

#include <string>
#include <vector>

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

class Progress {
 public:
  // `command` is a command line that selects this upgrader. It is shown at a gate, to the person
  // who must confirm the upgrade. It is empty if nobody must confirm.
  Progress(std::string id, std::string command)
      : id_(std::move(id)), command_(std::move(command)) {}

  // Returns one line for each step that this status shows for the first time.
  [[nodiscard]] std::vector<std::string> take(const Status& status);

  // Returns the line about the next step, at most `columns` wide. It has a bar if that step has a
  // deadline.
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
