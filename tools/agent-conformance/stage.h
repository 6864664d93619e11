// Runs a check with real agents: owns the event loop, the agents' processes and the clock. Delivers
// events to the class Play (play.h), which makes the decisions, and carries out the orders that
// Play returns.
#pragma once

#include <uv.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/signal_watch.h"
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

  // Runs a check to its end, and then ends its agents. If `patience` is true, closes each agent's
  // input, waits some seconds, and kills the agents that have not exited. If `patience` is false,
  // kills all agents immediately. No agent is left running. SIGINT, SIGTERM and SIGHUP end the
  // check at once, without patience. Returns the signal that has come, or 0.
  [[nodiscard]] int play(Play& play, bool patience);

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
  upgrader::SignalWatch signals_;
  int signal_ = 0;  // the signal that has come, or 0
  Play* play_ = nullptr;
  std::uint64_t began_ = 0;
  std::deque<Event> waiting_;
  bool tells_ = false;  // an event is being handled, so new events wait in waiting_
  // True if the deadline has passed, but does not count as missed yet. First the loop reads the
  // agents' output once more, because an agent may have written in time.
  bool has_looked_ = false;
  std::vector<std::unique_ptr<AgentProcess>> agents_;
};

}  // namespace conformance
