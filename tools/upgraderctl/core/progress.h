// Shows the steps of one upgrade in the order in which they are seen, each with its time since the
// upgrade was accepted; and the line that a terminal shows until the next step.
#pragma once

#include <string>
#include <vector>

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

class Progress {
 public:
  // `command` are the words that select this upgrader, for the person who must open the gate; empty
  // if nobody must.
  Progress(std::string id, std::string command)
      : id_(std::move(id)), command_(std::move(command)) {}

  // Returns the steps that are new in this status, one line each.
  [[nodiscard]] std::vector<std::string> take(const Status& status);

  // Returns the line about the step that is awaited, with a bar if it has a deadline; at most
  // `columns` wide.
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
  std::string phase_;  // the last phase that was shown by itself
  std::vector<std::string> lines_;
};

}  // namespace upgraderctl
