// The stage on which a check is played: a loop, the agents that it starts, and a clock. Carries
// orders out and tells events; what they mean is for Play.
#pragma once

#include <uv.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/uv_handle.h"
#include "tools/agent-conformance/agent_process.h"
#include "tools/agent-conformance/play.h"

namespace conformance {

class Stage {
 public:
  explicit Stage(const std::vector<std::string>& command);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Plays to the end. Nothing of the agents runs afterwards: they see the end of input first, and
  // are killed if that does not end them soon (with `patience`), or at once.
  void play(Play& play, bool patience);

 private:
  void take(const Event& event);
  void tell_waiting();
  void perform(const Order& order);
  void set_timer();
  void on_timer();
  void end_all(bool patience);
  bool any_runs() const;
  void run_for(std::chrono::milliseconds time);
  void kill_what_is_left() const;
  [[nodiscard]] Time now() const;

  const std::vector<std::string>& command_;
  uv_loop_t loop_{};
  upgrader::UvHandle<uv_timer_t> timer_;
  Play* play_ = nullptr;
  std::uint64_t began_ = 0;
  std::deque<Event> waiting_;
  bool tells_ = false;       // an event is being told
  bool has_looked_ = false;  // for what the kernel holds, since the deadline passed
  std::vector<std::unique_ptr<AgentProcess>> agents_;
};

}  // namespace conformance
