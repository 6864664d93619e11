// Runs the programs of a trial cell: performs the actions of DevLife, and passes all events to it.
#pragma once

#include <uv.h>

#include <deque>
#include <map>
#include <vector>

#include "base/uv_handle.h"
#include "fleet/cell/dev_cell.h"
#include "fleet/cell/dev_life.h"

namespace fleetctl {

class DevRun {
 public:
  DevRun(const fleet::DevTerms& terms, bool is_kept);
  DevRun(const DevRun&) = delete;
  DevRun& operator=(const DevRun&) = delete;
  ~DevRun();

  // Runs the cell until SIGINT, SIGTERM or SIGHUP, or until it has failed. Then waits until no
  // child is left. Returns the exit status.
  [[nodiscard]] int run();

 private:
  void listen(int signal_number);
  void take_signal(int signal_number);
  void take(const fleet::DevEvent& event);
  void perform(const fleet::DevAction& action);
  void start(std::size_t program);
  void signal(std::size_t program, int number) const;
  void finish(bool is_failure);
  void reap();
  void look();
  void set_deadline();
  [[nodiscard]] upgrader::Time now() const;

  fleet::DevTerms terms_;
  bool is_kept_;
  std::vector<fleet::DevProgram> programs_;
  fleet::DevLife life_;
  uv_loop_t loop_{};
  std::vector<upgrader::UvHandle<uv_signal_t>> signals_;
  // This timer runs while the object waits until started programs are ready, or until orphans have
  // ended.
  upgrader::UvHandle<uv_timer_t> looks_;
  upgrader::UvHandle<uv_timer_t> deadline_;  // the timer for the deadline of life_
  std::deque<fleet::DevEvent> events_;
  std::map<pid_t, std::size_t> pids_;  // the running programs, by process id
  bool is_stepping_ = false;
  int awaited_ = -1;  // the round of starts that must become ready; -1: none
  bool is_over_ = false;
  upgrader::Time orphans_killed_at_{0};
  int status_ = 0;
};

}  // namespace fleetctl
