// The steps of one upgrade, told one after the other as they are seen, each with its time since the
// upgrade was accepted; and the line that a terminal shows until the next.
#pragma once

#include <string>
#include <vector>

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

class Progress {
 public:
  // `command`: the words that lead to this upgrader, for whoever is to open the gate; empty where
  // nobody is.
  Progress(std::string id, std::string command)
      : id_(std::move(id)), command_(std::move(command)) {}

  // The steps that this status has and none before it had, a line each.
  [[nodiscard]] std::vector<std::string> take(const Status& status);

  // The step that is waited for, with a bar if it has a deadline; at most `columns` wide.
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
  std::string phase_;  // the last one that was told of by itself
  std::vector<std::string> lines_;
};

}  // namespace upgraderctl
