#include "tools/agentify/doctor/findings.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstring>
#include <limits>
#include <set>

#include "base/number.h"
#include "base/shown.h"
#include "base/signals.h"

namespace agentify {

// ---- listeners, which the kernel's tables of sockets show

namespace {

constexpr std::size_t ipv4_digits = 8;
constexpr std::size_t ipv6_digits = 32;
constexpr std::string_view tcp_listens = "0A";
constexpr std::string_view udp_unconnected = "07";
constexpr std::string_view unix_listens = "00010000";

// Removes the next field from the line and returns it. Returns an empty string if no field is left.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

template <class Number>
bool take_number(std::string_view text, Number& number, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} && end == text.data() + text.size();
}

// Parses an IP address. The kernel prints each group of 32 bits as one number in the machine's byte
// order.
std::optional<std::string> address_in(std::string_view digits) {
  if (digits.size() != ipv4_digits && digits.size() != ipv6_digits) return std::nullopt;
  std::array<std::uint32_t, 4> words{};
  for (std::size_t at = 0; at < digits.size(); at += ipv4_digits) {
    if (!take_number(digits.substr(at, ipv4_digits), words[at / ipv4_digits], 16)) {
      return std::nullopt;
    }
  }
  char text[INET6_ADDRSTRLEN];
  const int family = digits.size() == ipv4_digits ? AF_INET : AF_INET6;
  if (::inet_ntop(family, words.data(), text, sizeof text) == nullptr) return std::nullopt;
  return std::string(text);
}

// Parses a line of the tables for tcp and udp, such as "  0: 0100007F:1F90 00000000:0000 0A
// 00000000:00000001 00:00000000 00000000  0  0 12345 ..."
std::optional<Listener> internet_listener(Listener::Kind kind, std::string_view line) {
  std::array<std::string_view, 10> words;
  for (std::string_view& word : words)
    word = next_word(line);
  const bool datagrams = kind == Listener::Kind::udp || kind == Listener::Kind::udp6;
  if (words[3] != (datagrams ? udp_unconnected : tcp_listens)) return std::nullopt;
  const std::size_t colon = words[1].find(':');
  const std::size_t queues = words[4].find(':');
  if (colon == std::string_view::npos || queues == std::string_view::npos) return std::nullopt;
  Listener listener{.kind = kind};
  const auto address = address_in(words[1].substr(0, colon));
  if (!address || !take_number(words[1].substr(colon + 1), listener.port, 16) ||
      !take_number(words[4].substr(queues + 1), listener.waiting, 16) ||
      !take_number(words[9], listener.inode, 10)) {
    return std::nullopt;
  }
  listener.address = *address;
  return listener;
}

// Parses a line of the table for unix sockets, such as "0000000000000000: 00000002 00000000
// 00010000 0001 01 12345 /run/x".
std::optional<Listener> unix_listener(std::string_view line) {
  std::array<std::string_view, 7> words;
  for (std::string_view& word : words)
    word = next_word(line);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  Listener listener{.kind = Listener::Kind::unix_stream};
  const bool by_path = words[3] == unix_listens && words[4] == "0001" && line.starts_with('/');
  if (!by_path || !take_number(words[6], listener.inode, 10)) return std::nullopt;
  listener.address = std::string(line);
  return listener;
}

}  // namespace

std::vector<Listener> parse_listeners(Listener::Kind kind, std::string_view text) {
  std::vector<Listener> found;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    auto listener =
        kind == Listener::Kind::unix_stream ? unix_listener(line) : internet_listener(kind, line);
    if (listener) found.push_back(*std::move(listener));
  }
  return found;
}

std::string in_words(const Listener& listener) {
  switch (listener.kind) {
    case Listener::Kind::unix_stream:
      return "unix " + upgraderctl::shown(listener.address);
    case Listener::Kind::tcp:
      return "tcp " + listener.address + ":" + std::to_string(listener.port);
    case Listener::Kind::tcp6:
      return "tcp [" + listener.address + "]:" + std::to_string(listener.port);
    case Listener::Kind::udp:
      return "udp " + listener.address + ":" + std::to_string(listener.port);
    case Listener::Kind::udp6:
      return "udp [" + listener.address + "]:" + std::to_string(listener.port);
  }
  return "";
}

// ---- watching the start of a daemon, and deriving options from the findings

namespace {

// If a daemon neither listens nor sends READY=1, its start is regarded as finished when its
// processes have been idle for silent_time(). silent_time() is the delay between the upgrader's
// start and the daemon's start (some 50 ms on an idle machine) times silent_time_factor, but at
// least silent_time_min.
constexpr int silent_time_factor = 20;
constexpr std::chrono::seconds silent_time_min{3};

using upgrader::Duration;

// The doctor watches the start of a daemon for at most this time.
constexpr Duration watched_max{30'000};
// The start of a daemon is regarded as finished if no new listener has appeared for this time. A
// daemon may open several listeners one after the other.
constexpr Duration quiet_time{1'500};

constexpr std::string_view agentify_says = "agentify: ";

constexpr KnownDaemon known_daemons[] = {
    {"nginx", R"("$AGENT_PROTOCOL_PROGRAM" "$@" -t)", "QUIT:60s,TERM:10s", "-g 'daemon off;'"},
    {"haproxy", R"("$AGENT_PROTOCOL_PROGRAM" "$@" -c)", "", "-db or -W"},
    {"lighttpd", R"("$AGENT_PROTOCOL_PROGRAM" "$@" -tt)", "", "-D"},
    {"dnsmasq", R"("$AGENT_PROTOCOL_PROGRAM" "$@" --test)", "", "-k"},
    {"postgres", R"("$AGENT_PROTOCOL_PROGRAM" "$@" -C port)", "INT:80s", ""},
    {"redis-server", "", "", "--daemonize no"},
    {"memcached", "", "", "no -d"},
    {"mosquitto", "", "", "no -d"},
    // squid waits up to 30 s for its clients after SIGTERM, and for no client after SIGINT.
    {"squid", R"("$AGENT_PROTOCOL_PROGRAM" "$@" -k parse)", "TERM:40s,INT:10s", "--foreground"},
    {"rsyslogd", R"("$AGENT_PROTOCOL_PROGRAM" "$@" -N1)", "", "-n"},
    {"chronyd", R"("$AGENT_PROTOCOL_PROGRAM" "$@" -p)", "", "-n"},
    {"named", "", "", "-f"},
    {"exim4", "", "", "-bdf"},
    {"sshd", R"("$AGENT_PROTOCOL_PROGRAM" "$@" -t)", "", "-D", "sessions"},
    {"cron", "", "", "-f", "jobs"},
    {"atd", "", "", "-f", "jobs"},
    {"apache2", R"("$AGENT_PROTOCOL_PROGRAM" "$@" -t)", "WINCH:60s,TERM:10s", "-DFOREGROUND"}};

// Returns the probe for a socket, as a value of --ready. If the socket listens on all addresses,
// the loopback address is probed.
std::string probe_of(const Listener& listener) {
  const std::string port = std::to_string(listener.port);
  switch (listener.kind) {
    case Listener::Kind::unix_stream:
      return "unix:" + listener.address;
    case Listener::Kind::tcp:
      return "tcp:" + (listener.address == "0.0.0.0" ? "" : listener.address + ":") + port;
    case Listener::Kind::tcp6:
      return "tcp:[" + (listener.address == "::" ? "::1" : listener.address) + "]:" + port;
    case Listener::Kind::udp:
    case Listener::Kind::udp6:
      break;
  }
  return "";
}

// Returns the value for --ready: `notify`, or a probe of the first socket that accepts connections,
// or else `after:3s`. tcp sockets are preferred, because the path of a unix socket may differ after
// a restart. A path with control characters is not proposed, because nobody could copy it from a
// terminal.
std::string ready_of(const Findings& findings) {
  if (findings.notifies) return "notify";
  for (const auto kind : {Listener::Kind::tcp, Listener::Kind::tcp6, Listener::Kind::unix_stream}) {
    for (const Listener& listener : findings.listeners) {
      const bool can_be_copied = upgraderctl::shown(listener.address) == listener.address;
      if (listener.kind == kind && can_be_copied) return probe_of(listener);
    }
  }
  return "after:3s";
}

// Returns the value for --stop. A signal other than SIGKILL that has ended the daemon gets no time
// limit of its own, so the daemon may use the whole stop timeout. A daemon that the doctor has
// ended at once may need minutes after days of service, for example to save its data.
std::string stop_of(const SignalledEnd& end) {
  if (end.signal == SIGKILL) return "TERM:10s,KILL";
  return upgrader::signal_name(end.signal).substr(3);
}

std::string count_of(int number, const std::string& one, const std::string& many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

std::string sentence_on_end(const SignalledEnd& end) {
  std::string text;
  for (const SignalStep& step : end.ignored) {
    text += upgrader::signal_name(step.signal) + " does not end it within " +
            std::to_string(step.time / std::chrono::seconds(1)) + " s. ";
  }
  text += upgrader::signal_name(end.signal) + " ends it in " + std::to_string(end.time.count()) +
          " ms, and ";
  if (end.left == 0) return text + "no process stays behind.";
  return text +
         count_of(end.left, "process that stays behind has", "processes that stay behind have") +
         " to be killed.";
}

// Returns the last line in which agentify reports something about the daemon. If there is no such
// line, returns the upgrader's last error, which says why agentify has failed. If there is no error
// either, returns the last line that is not empty.
std::string failure_in(std::string_view log) {
  std::string_view last;
  std::string_view error;
  std::string_view told;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    const bool on_daemon = line.starts_with("agentify: the daemon ");
    if (on_daemon && line.find("is process") == std::string_view::npos) {
      told = line.substr(agentify_says.size());
    }
    if (line.starts_with("upgrader: error: ")) error = line;
    if (!line.empty()) last = line;
  }
  if (!told.empty()) return std::string(told);
  return std::string(error.empty() ? last : error);
}

}  // namespace

const KnownDaemon* known_daemon(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(known_daemons), std::end(known_daemons),
                   [name](const KnownDaemon& one) { return one.name == name; });
  return found == std::end(known_daemons) ? nullptr : found;
}

bool has_notified(std::string_view log) {
  return log.find(": the daemon is ready after ") != std::string_view::npos;
}

bool has_forked(std::string_view log) {
  return log.find(": the daemon goes on as process ") != std::string_view::npos;
}

int left_in(std::string_view log) {
  const std::size_t end = log.find(" that the daemon had left had to be killed");
  if (end == std::string_view::npos) return 0;
  const std::size_t begin = log.rfind(agentify_says, end);
  if (begin == std::string_view::npos) return 0;
  std::string_view sentence = log.substr(begin + agentify_says.size());
  const auto number = upgrader::take_number(sentence).value_or(0);
  return static_cast<int>(std::clamp<std::int64_t>(number, 0, std::numeric_limits<int>::max()));
}

std::string words_on_failure(std::string_view log) {
  const std::string failure = failure_in(log);
  std::string small = failure;
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
  const bool in_use = small.find("in use") != std::string::npos;
  return (in_use ? "its port is in use; stop the service that has it: " : "it does not run: ") +
         upgraderctl::shown(failure);
}

upgrader::Duration silent_time(upgrader::Duration started_after) {
  return std::max<upgrader::Duration>(silent_time_min, started_after * silent_time_factor);
}

bool StartWatch::look(const StartLook& look, Duration now, Findings& findings) {
  if (now >= begun_ + watched_max) return true;
  if (look.main == 0) return false;
  if (first_ == 0) {
    first_ = look.main;
    changed_ = now;
    started_after_ = now - begun_;
  }
  if (look.forks || look.main != first_) findings.forks = true;
  if (look.listeners != findings.listeners || look.notifies != findings.notifies) {
    changed_ = now;
    findings.ready_after = now - begun_;
    findings.listeners = look.listeners;
    findings.notifies = look.notifies;
  }
  const bool is_silent = !findings.notifies && findings.listeners.empty();
  if (is_silent && look.busy) changed_ = now;
  return now - changed_ > (is_silent ? silent_time(started_after_) : quiet_time);
}

std::vector<std::string> options_for(const Findings& findings, const KnownDaemon* known) {
  std::vector<std::string> options;
  if (!findings.check.empty()) options.push_back("--check=" + findings.check);
  options.push_back("--ready=" + ready_of(findings));
  const bool finishes = known != nullptr && !known->stop.empty();
  options.push_back("--stop=" + (finishes ? std::string(known->stop) : stop_of(findings.end)));
  return options;
}

std::vector<std::string> sentences_on(const Findings& findings, const KnownDaemon* known) {
  std::vector<std::string> lines;
  if (findings.forks) {
    lines.emplace_back(
        "It goes into the background: its first process ends, and another of its processes "
        "continues.");
    if (known != nullptr && !known->foreground.empty()) {
      lines.push_back(
          "To keep it in the foreground, call the doctor again, and add to its command: " +
          std::string(known->foreground));
    }
  } else {
    lines.emplace_back("It stays in the foreground.");
  }
  if (findings.notifies) lines.emplace_back("It says READY=1 on NOTIFY_SOCKET.");
  // Each address is named only once, even if the daemon has several sockets at this address
  // (SO_REUSEPORT).
  std::set<std::string> named;
  for (const Listener& listener : findings.listeners) {
    if (const auto [name, is_new] = named.insert(in_words(listener)); is_new) {
      lines.push_back("It listens on " + *name + ".");
    }
  }
  if (findings.listeners.empty()) {
    lines.emplace_back("It listens on no port and no socket with a path.");
  }
  if (findings.notifies || !findings.listeners.empty()) {
    lines.push_back("It took " + std::to_string(findings.ready_after.count()) + " ms for this.");
  } else {
    lines.emplace_back(
        "So nothing tells when it works. --ready=after:3s takes it for ready if it lives so long; "
        "--ready=exec:COMMAND can ask more.");
  }
  lines.push_back(sentence_on_end(findings.end));
  if (findings.takes_sockets) {
    lines.emplace_back(*findings.takes_sockets
                           ? "It takes sockets that init passes (LISTEN_FDS): with them no "
                             "connection is refused during an upgrade."
                           : "It does not take sockets that init passes (LISTEN_FDS).");
  }
  if (findings.check.empty()) {
    lines.emplace_back("No command is known that checks its configuration: give one by --check.");
  } else {
    lines.push_back("This command finds its configuration in order: " + findings.check);
  }
  if (known != nullptr && !known->lost.empty()) {
    lines.push_back("Warning: each upgrade and each stop ends its " + std::string(known->lost) +
                    ", since no process of a daemon outlives its stop.");
  }
  return lines;
}

}  // namespace agentify
