// The event loop around the supervisor: it turns libuv's callbacks into events, and actions into
// calls, and decides nothing itself. Everything happens on one thread, and an idle upgrader never
// wakes up.
#pragma once

#include <uv.h>

#include <csignal>
#include <memory>
#include <optional>
#include <vector>

#include "base/lock.h"
#include "base/uv_handle.h"
#include "upgrader/core/log_limit.h"
#include "upgrader/core/options.h"
#include "upgrader/core/supervisor.h"
#include "upgrader/shell/agents.h"
#include "upgrader/shell/attempts_file.h"
#include "upgrader/shell/control.h"
#include "upgrader/shell/init_system.h"
#include "upgrader/shell/log.h"
#include "upgrader/shell/programs.h"
#include "upgrader/shell/relink.h"

namespace upgrader {

// The interval at which to try a lock that another process holds.
inline constexpr Duration lock_retry_interval{20};

class Loop {
 public:
  // All arguments must outlive the loop. `lock` may be null.
  Loop(const Options& options, Logbook& logbook, InitSystem& init_system, Lock* lock);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Waits for the lock, runs AGENT and every program that replaces it, and returns the upgrader's
  // exit status.
  [[nodiscard]] int run(ChildSetting setting);

 private:
  [[nodiscard]] int set_up(ChildSetting setting);
  void on_signals();

  void on_signal(int signal_number);
  void on_timer();
  void try_to_start();
  [[nodiscard]] bool has_lock();
  [[nodiscard]] bool claim_control();
  void tell_what_will_start();
  [[nodiscard]] Result<Program> find_way_back() const;
  [[nodiscard]] std::optional<std::string> count_attempt(const Program& program);
  void start_first_agent();
  [[nodiscard]] Result<Program> look_at_agent();
  void cannot_start(const Refusal& refusal);
  [[nodiscard]] bool open_link();
  void fail(const std::string& why, int status);
  void end(int status);

  [[nodiscard]] static Time now();
  void deliver(Event event);
  void settle();
  void feed(const Event& event);
  void set_timer();
  void show(const Notice& notice);

  [[nodiscard]] BeforeSync vouch_before_sync();
  void perform(const Check& check);
  void perform(const FindWayBack& find);
  void perform(const ForgetAttempts& forget);
  void perform(const Spawn& spawn);
  void perform(const Send& send);
  void perform(const CloseInput& close) { agents_->close_input(close.generation); }
  void perform(const Kill& kill) { signal(kill.generation, SIGKILL); }
  void perform(const Terminate& terminate) { signal(terminate.generation, SIGTERM); }
  void perform(const PassSignal& pass) { signal(pass.generation, pass.signal); }
  void perform(const ProveRelink& prove);
  void perform(const Relink& relink);
  void perform(const PutLinkBack& put_back);
  void perform(const RestoreLink& restore);
  void perform(const Log& line) { logbook_.write(line.level, line.text); }
  void perform(const Notice& notice);
  void perform(const Answer&) {}  // does nothing: note() of the chronicle has recorded the answer
  void perform(const RecordEnding&) {}
  void perform(const Exit& exit);
  void signal(Generation generation, int signal_number);

  const Options& options_;
  Logbook& logbook_;
  InitSystem& init_system_;
  Lock* lock_;
  std::optional<Link> link_;  // the symbolic link AGENT; set only with --relink
  AttemptsFile attempts_;
  Attempts attempt_;  // the newest record of --attempts; empty if the file cannot be written
  std::optional<ProgramId> first_program_;
  Supervisor supervisor_;
  LogLimit log_limit_;
  Programs programs_;
  std::optional<Control> control_;  // the control directory; set only with --control

  uv_loop_t loop_{};
  bool loop_made_ = false;
  // Signals are read from a signalfd. A handler could also run in a child that shares the
  // upgrader's memory until its exec. libuv's own signal handles read their pipe after all other
  // descriptors, so messages that agents have sent later would be handled before the signal.
  OwnedFd signals_;
  UvHandle<uv_poll_t> signals_poll_;
  UvHandle<uv_timer_t> timer_;
  std::unique_ptr<Agents> agents_;

  std::optional<Time> lock_deadline_;
  // When to give up waiting for the control directory. Set while another upgrader uses it.
  std::optional<Time> control_deadline_;
  // When to try again to get the lock or the control directory. Set while the upgrader waits for
  // one of them.
  std::optional<Time> lock_retry_;
  bool stepping_ = false;     // an event is being handled
  std::vector<Event> later_;  // events that came up while another event was handled
  Actions carried_out_;       // an empty list, whose memory feed() reuses for the next actions
  Outcome outcome_;           // the outcome of the last action that has one
  std::optional<int> exit_status_;
};

}  // namespace upgrader
