// The event loop of agentify: turns libuv's callbacks into events for the state machine
// (adapter.h), and performs the actions that the state machine returns.
#pragma once

#include <sys/types.h>
#include <uv.h>

#include <deque>
#include <optional>
#include <string>

#include "agent-protocol/agent.h"
#include "base/notify_listener.h"
#include "base/signal_watch.h"
#include "tools/agentify/adapter.h"
#include "tools/agentify/command.h"
#include "tools/agentify/family.h"
#include "tools/agentify/following.h"
#include "tools/agentify/keeper.h"
#include "tools/agentify/notify_message.h"
#include "tools/agentify/options.h"
#include "tools/agentify/prober.h"
#include "tools/agentify/surroundings.h"
#include "tools/agentify/watch.h"

namespace agentify {

// The NOTIFY_SOCKET that agentify gives to the daemon. Any process can send messages to the socket.
// A message is ignored unless its sender, whose pid the kernel reports, is a descendant of the
// keeper, which is the daemon's parent process.
class NotifySocket {
 public:
  // Makes the socket. On failure returns false and sets errno.
  [[nodiscard]] bool open() { return listener_.open(); }
  [[nodiscard]] int descriptor() const { return listener_.descriptor(); }
  // Returns the value for the environment variable NOTIFY_SOCKET.
  [[nodiscard]] const std::string& name() const { return listener_.name(); }

  struct Received {
    NotifyMessage message;
    pid_t stranger = 0;  // the pid of a sender that does not descend from the keeper, or 0
  };
  // Returns the next message, or nothing if none has come.
  [[nodiscard]] std::optional<Received> take(pid_t keeper) const;

 private:
  upgrader::NotifyListener listener_;
};

// The protocol's optional feature `readiness`. An agent that lists `readiness` in its `hello` may
// say `healthy` in every role. The upgrader then sends READY=1 to init only after the first agent
// or the fallback has said `healthy`.
inline constexpr char readiness_feature[] = "readiness";

// The objects that main() makes before the loop begins.
struct Prepared {
  const Options* options = nullptr;
  const Surroundings* surroundings = nullptr;
  KeeperHandle keeper;
  NotifySocket notify;           // the daemon's NOTIFY_SOCKET, open with --ready=notify
  upgrader::OwnedFd ready_pipe;  // with --ready=fd:N: the pipe to which the daemon writes a newline
  std::string lock;              // the path of the daemon's lock
  std::string program;           // the daemon's resolved path
  std::string version;           // the daemon's own version, or empty
  LastWords* words = nullptr;    // the daemon's last words, with --last-words
};

class Loop {
 public:
  Loop(uv_loop_t* loop, agent_protocol::Agent agent, Prepared prepared);

  // Runs until agentify must exit. Returns how agentify must exit: with which status, or by which
  // signal.
  [[nodiscard]] DaemonEnding run();

 private:
  [[nodiscard]] bool watch_all();
  [[nodiscard]] std::optional<std::string> prepare_probes();
  [[nodiscard]] std::optional<std::string> prepare_following();
  void refuse(const std::string& why);
  void feed(Event event);
  void handle_events();
  void settle();
  [[nodiscard]] Time now() const;

  void look_at_agent();
  void look_at_keeper();
  void listen_to_daemon();
  void look_at_notify();
  void wait_for_keeper();
  void note_stranger(pid_t stranger);
  void look_at_ready_pipe();
  void look_at_check();
  void check_took_too_long();
  void go_on_sweeping();

  void hear(const agent_protocol::Agent::Event& event);
  void perform(const SayReady& action);
  void perform(const SayUnfit& action);
  void perform(const SayHealthy& action);
  void perform(const SayStopped& action);
  void perform(const SayHeartbeat& action);
  void perform(const SayStatus& action);
  void perform(const SayExtend& action);
  void perform(const RunCheck& action);
  void perform(const StartDaemon& action);
  void perform(const CancelStart& action);
  void perform(const SignalDaemon& action);
  void perform(const AdoptMain& action);
  void perform(const KillFamily& action);
  void perform(const KillOrphans& action);
  void perform(const AskDaemon& action);
  void perform(const Follow& action);
  void perform(const EndFollowing& action);
  void perform(const Log& action);
  void perform(const ReportFailure& action);
  void perform(const Leave& action);
  void perform(const LeaveLike& action);
  [[nodiscard]] std::string with_last_words(const std::string& reason) const;
  void leave(const DaemonEnding& ending);
  void close_all();

  uv_loop_t* loop_;
  agent_protocol::Agent agent_;
  Prepared prepared_;
  Adapter adapter_;
  std::deque<Event> events_;
  bool feeding_ = false;
  std::optional<DaemonEnding> leaving_;
  Duration watchdog_{};
  // The time when a message from a stranger was last logged. A stranger is a process that has
  // written to NOTIFY_SOCKET without being a process of the daemon.
  std::optional<Time> stranger_logged_;
  // How many messages have come since stranger_logged_ from strangers, which are processes that do
  // not belong to the daemon.
  std::size_t strangers_ = 0;
  // the daemon's messages wait until the keeper has room for orders
  bool waits_for_keeper_ = false;

  Watch agent_watch_;
  Watch keeper_watch_;
  Watch notify_watch_;
  Watch ready_watch_;
  Watch check_watch_;
  Watch check_output_watch_;
  Watch releases_watch_;
  Timer deadline_;
  Timer check_limit_;
  Timer sweep_timer_;
  upgrader::SignalWatch passed_signals_;
  upgrader::SignalWatch interrupt_;
  std::optional<Command> check_;
  Prober ready_prober_;
  Prober health_prober_;
  std::optional<Sweep> sweep_;
  std::optional<Following> following_;
  // the failed upgrade that the `welcome` names as the reason why this agent was started; absent if
  // the `welcome` names none
  std::optional<agent_protocol::Agent::Failure> past_failure_;
};

}  // namespace agentify
