// The conclusions of `agentify doctor`: the facts that two runs of a daemon have shown, and the
// options that follow from them. No input or output: doctor.cc runs the daemon, and trial_run.h
// watches it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "tools/agentify/adapter_event.h"

namespace agentify {

// A socket on which a process waits for connections, or for datagrams.
struct Listener {
  enum class Kind { tcp, tcp6, udp, udp6, unix_stream };

  Kind kind = Kind::tcp;
  std::string address = {};  // an IP address, or the path of a unix socket
  std::uint16_t port = 0;
  std::uint64_t inode = 0;
  unsigned long waiting = 0;  // how many connections have not been accepted yet

  bool operator==(const Listener&) const = default;
};

// Parses the lines of /proc/net/tcp, tcp6, udp, udp6 (by `kind`) or unix. Returns the sockets that
// listen, and for udp those without a peer; skips malformed lines.
[[nodiscard]] std::vector<Listener> parse_listeners(Listener::Kind kind, std::string_view text);

// Returns a socket in words, such as "tcp 0.0.0.0:80".
[[nodiscard]] std::string in_words(const Listener& listener);

// How the main process ended after several signals had been sent to it, one after the other.
struct SignalledEnd {
  std::vector<int> ignored;   // the signals that did not end the main process in time
  int signal = 0;             // the signal that ended the main process
  upgrader::Duration time{};  // how long the main process ran on after `signal`
  int left = 0;               // how many of the daemon's processes then had to be killed
};

// Everything that two runs of a daemon have shown.
struct Findings {
  bool forks = false;     // the main process ended, and another took its place
  bool notifies = false;  // true if the daemon has said READY=1
  std::vector<Listener> listeners;
  // the time from the start to the last new listener or notification
  upgrader::Duration ready_after{};
  SignalledEnd end;
  // The daemon takes sockets from init; absent if that was not tried, since it has no tcp port.
  std::optional<bool> takes_sockets;
  std::string check;  // a check command that succeeded with this daemon
};

// Facts about a well-known daemon, found by its name before it is run.
struct KnownDaemon {
  std::string_view name;
  // a command that checks the configuration; $0 and $@ are the daemon and its arguments
  std::string_view check;
  std::string_view stop;        // a stop plan that lets the daemon finish its work; or ""
  std::string_view foreground;  // arguments that keep the daemon in the foreground
};
[[nodiscard]] const KnownDaemon* known_daemon(std::string_view name);

// ---- the log of a run under the upgrader

// Returns true if agentify has told the upgrader that the daemon is ready.
[[nodiscard]] bool has_notified(std::string_view log);
// Returns how many processes of the daemon had to be killed after its end.
[[nodiscard]] int left_in(std::string_view log);
// Returns why the daemon has ended by itself, for people: agentify's last log line about the
// daemon. If there is none, returns the last line of the output that is not empty.
[[nodiscard]] std::string words_on_failure(std::string_view log);

// ---- how long a daemon is watched

// Returns for how long to watch a daemon that has opened no listener and sent no notification.
// `started_after` is the time from the start of the run to the start of the daemon's process: a
// machine that is slow in this is slow with the daemon, too.
[[nodiscard]] upgrader::Duration silent_time(upgrader::Duration started_after);

// ---- the conclusions

// Returns the suggested options of agentify, each as one word.
[[nodiscard]] std::vector<std::string> options_for(const Findings& findings,
                                                   const KnownDaemon* known);

// Returns the findings as sentences, one on each line.
[[nodiscard]] std::vector<std::string> sentences_on(const Findings& findings,
                                                    const KnownDaemon* known);

}  // namespace agentify
