// `agentify doctor`, decided: what was seen of a daemon that was run twice, and the options that
// follow from it. No input or output: doctor.cc runs the daemon, and trial_run.h watches it.
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
  std::string address = {};  // "0.0.0.0", "::1"; of a unix socket its path
  std::uint16_t port = 0;
  std::uint64_t inode = 0;
  unsigned long waiting = 0;  // connections that nobody has taken

  bool operator==(const Listener&) const = default;
};

// The lines of /proc/net/tcp, tcp6, udp, udp6 (by `kind`) or unix. Sockets that listen, and of udp
// those that are connected to nobody; a line that is malformed is skipped.
[[nodiscard]] std::vector<Listener> parse_listeners(Listener::Kind kind, std::string_view text);

// "tcp 0.0.0.0:80"
[[nodiscard]] std::string in_words(const Listener& listener);

// The end of a main process that was sent one signal after the other.
struct SignalledEnd {
  std::vector<int> ignored;   // those that did not end it in time
  int signal = 0;             // the one that did
  upgrader::Duration time{};  // from this signal to its end
  int left = 0;               // processes that were then killed
};

// Everything that two runs of a daemon have shown.
struct Findings {
  bool forks = false;     // another process has taken the place of the first
  bool notifies = false;  // it has said READY=1
  std::vector<Listener> listeners;
  upgrader::Duration ready_after{};  // from its start to the last of these
  SignalledEnd end;
  std::optional<bool> takes_sockets;  // nothing: not tried, it listens on no tcp port
  std::string check;                  // a command that was run, and found the daemon in order
};

// A daemon that is known by its name, before it is run.
struct KnownDaemon {
  std::string_view name;
  std::string_view check;       // reads its configuration; the daemon's argv is "$0" and "$@"
  std::string_view stop;        // a plan that lets it finish; or ""
  std::string_view foreground;  // words that keep it in the foreground
};
[[nodiscard]] const KnownDaemon* known_daemon(std::string_view name);

// ---- the log of a run under the upgrader

// True if agentify has told the upgrader that the daemon is ready.
[[nodiscard]] bool has_notified(std::string_view log);
// How many processes the daemon had left that had to be killed.
[[nodiscard]] int left_in(std::string_view log);
// Why the daemon has ended by itself, for people: agentify's last sentence on it; if there is none,
// the last line that is not empty.
[[nodiscard]] std::string words_on_failure(std::string_view log);

// ---- how long a daemon is watched

// Returns for how long a daemon is watched that has opened no listener and sent no notification.
// `started_after` is the time from the start of the run to the start of the daemon's process: on a
// machine that is slow with that, the daemon itself is slow, too.
[[nodiscard]] upgrader::Duration silent_time(upgrader::Duration started_after);

// ---- the conclusions

// agentify's options, each a word.
[[nodiscard]] std::vector<std::string> options_for(const Findings& findings,
                                                   const KnownDaemon* known);

// The findings as sentences, one a line.
[[nodiscard]] std::vector<std::string> sentences_on(const Findings& findings,
                                                    const KnownDaemon* known);

}  // namespace agentify
