// The facts that `agentify doctor` has learned from two runs of a daemon, and the agentify options
// that follow from these facts. This file does no input or output: doctor.cc runs the daemon, and
// trial_run.h watches it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace agentify {

// A socket on which a process waits for connections (tcp, unix) or for datagrams (udp).
struct Listener {
  enum class Kind { tcp, tcp6, udp, udp6, unix_stream };

  Kind kind = Kind::tcp;
  std::string address = {};  // an IP address, or the path of a unix socket
  std::uint16_t port = 0;
  std::uint64_t inode = 0;
  unsigned long waiting = 0;  // the number of connections that wait to be accepted

  bool operator==(const Listener&) const = default;
};

// Parses the text of one of the files /proc/net/tcp, tcp6, udp, udp6 and unix; `kind` says which
// file. Returns the listening sockets. A udp socket counts as listening if it has no peer.
// Malformed lines are skipped.
[[nodiscard]] std::vector<Listener> parse_listeners(Listener::Kind kind, std::string_view text);

// Returns a socket in words, such as "tcp 0.0.0.0:80".
[[nodiscard]] std::string in_words(const Listener& listener);

// A signal, and how long the doctor waited for the daemon's main process to exit after it.
struct SignalStep {
  int signal = 0;
  upgrader::Duration time{};
};

// How a daemon's main process exited. The doctor sends it several signals, one after the other,
// until it exits.
struct SignalledEnd {
  std::vector<SignalStep> ignored;  // the signals that did not end the process in time
  int signal = 0;                   // the signal that ended the process
  upgrader::Duration time{};        // how long the process lived after `signal`
  int left = 0;  // how many processes outlived the main process and had to be killed
};

// The facts that the doctor has learned about a daemon in two runs. In the second run, the doctor
// only finds out whether the daemon can use listening sockets that init passes to it.
struct Findings {
  bool forks = false;     // the main process ended, and another process replaced it
  bool notifies = false;  // true if the daemon has said READY=1
  std::vector<Listener> listeners;
  // the time from the start of the daemon's upgrader until the set of listeners last changed, or
  // until READY=1 came, whichever was later
  upgrader::Duration ready_after{};
  SignalledEnd end;
  // True if the daemon can use listening sockets that init passes to it. Absent if this could not
  // be tried, for example because the daemon has no tcp port.
  std::optional<bool> takes_sockets;
  std::string check;  // a check command that succeeded with this daemon
};

// Facts about a well-known daemon, which the doctor recognizes by its name before it runs the
// daemon.
struct KnownDaemon {
  std::string_view name;
  // a command that checks the configuration of the daemon; $@ are the daemon's arguments
  std::string_view check;
  std::string_view stop;        // a stop plan that lets the daemon finish its work, or ""
  std::string_view foreground;  // the arguments that keep the daemon in the foreground
  // the processes of the daemon that should survive a stop, but do not under agentify, or ""
  std::string_view lost = {};
};
[[nodiscard]] const KnownDaemon* known_daemon(std::string_view name);

// ---- reading the log that the upgrader and agentify have written in a run of the daemon

// Returns true if the log shows that agentify has told the upgrader that the daemon is ready.
[[nodiscard]] bool has_notified(std::string_view log);
// Returns true if the log shows that the daemon's first process has exited, and that agentify now
// regards another process as the daemon's main process.
[[nodiscard]] bool has_forked(std::string_view log);
// Returns how many processes of the daemon, as the log says, had to be killed after its main
// process had exited.
[[nodiscard]] int left_in(std::string_view log);
// Returns the reason, in words, why the daemon has exited by itself: usually the last line of the
// log in which agentify reports something about the daemon.
[[nodiscard]] std::string words_on_failure(std::string_view log);

// ---- how long the doctor watches the start of a daemon

// The doctor stops watching a daemon that neither listens nor sends READY=1 when its processes have
// been idle for some time. Returns this time. `started_after` is the time from the start of the run
// to the start of the daemon's process. If it is long, the machine is slow, and the daemon needs
// more time, too.
[[nodiscard]] upgrader::Duration silent_time(upgrader::Duration started_after);

// One observation of a running daemon.
struct StartLook {
  pid_t main = 0;  // the daemon's main process; 0 before its start
  std::vector<Listener> listeners = {};
  bool notifies = false;  // true if the daemon has said READY=1
  // True if the log shows that another process has taken the place of the first one, which may have
  // exited before the first observation.
  bool forks = false;
  bool busy = false;  // a process of the daemon runs, or waits for a processor or a disk
};

// Decides how long the doctor watches the start of a daemon. The caller observes the daemon at
// intervals, and passes each observation to look().
class StartWatch {
 public:
  // Makes an object for a daemon whose upgrader was started at the time `begun`.
  explicit StartWatch(upgrader::Duration begun) : begun_(begun), changed_(begun) {}

  // Adds an observation, made at the time `now`, to the findings. Returns true if the daemon has
  // been watched for long enough: for half a minute, or until no new listener has appeared for some
  // time. A daemon that neither listens nor has said READY=1 may still be starting while it is
  // busy. It is watched until all its processes have slept for silent_time().
  [[nodiscard]] bool look(const StartLook& look, upgrader::Duration now, Findings& findings);

  // Returns true if the daemon's process has been observed.
  [[nodiscard]] bool has_started() const { return first_ != 0; }

 private:
  upgrader::Duration begun_;
  // The time at which an observation last showed a new listener or READY=1. For a daemon that has
  // no listener and has not sent READY=1, the time at which one of its processes was last busy.
  upgrader::Duration changed_;
  upgrader::Duration started_after_{};
  pid_t first_ = 0;
};

// ---- the options and sentences that follow from the findings

// Returns the agentify options that the doctor suggests, one in each element.
[[nodiscard]] std::vector<std::string> options_for(const Findings& findings,
                                                   const KnownDaemon* known);

// Returns the findings as sentences, one on each line.
[[nodiscard]] std::vector<std::string> sentences_on(const Findings& findings,
                                                    const KnownDaemon* known);

}  // namespace agentify
