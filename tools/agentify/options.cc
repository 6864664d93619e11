#include "tools/agentify/options.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "base/version.h"
#include "tools/agentify/notify_message.h"

namespace agentify {
namespace {

using upgrader::Argument;
using upgrader::is_given;

constexpr int health_failures_max = 1'000'000;

// The reason why an argument is wrong, or an empty string if the argument is right.
using Complaint = std::string;

Complaint complain(const Argument& argument, std::string_view what) {
  std::string text = upgrader::complaint_about(argument, what);
  // A value that contains " --" is probably a whole command line that was quoted as one argument.
  if (argument.value && argument.value->find(" --") != std::string_view::npos) {
    text += "; each option needs an --adapter of its own";
  }
  return text;
}

Complaint set_duration(const Argument& argument, Duration& duration) {
  const std::optional<Duration> parsed = parse_duration(argument.value.value_or(""));
  if (parsed == Duration{0}) return complain(argument, "must not be 0");
  if (!parsed) {
    return complain(argument, "needs =D, where D is a whole number and ms, s, m or h, at most 24h");
  }
  duration = *parsed;
  return "";
}

Complaint set_settle(const Argument& argument, Options& options) {
  const std::optional<Duration> parsed = parse_duration(argument.value.value_or(""));
  if (!parsed) return complain(argument, "needs =D, " + std::string(duration_form));
  options.settle = *parsed;
  return "";
}

Complaint set_command(const Argument& argument, std::optional<std::string>& command) {
  if (argument.value.value_or("").empty()) {
    return complain(argument, "needs =COMMAND, as /bin/sh has it");
  }
  command = std::string(*argument.value);
  return "";
}

Complaint set_ready(const Argument& argument, Options& options) {
  auto parsed = parse_ready_kind(argument.value.value_or(""));
  if (const auto* wrong = std::get_if<std::string>(&parsed)) return complain(argument, *wrong);
  options.ready = std::get<ReadyKind>(std::move(parsed));
  options.ready_text = std::string(*argument.value);
  return "";
}

Complaint set_health(const Argument& argument, Options& options) {
  auto parsed = parse_probe_kind(argument.value.value_or(""));
  if (const auto* wrong = std::get_if<std::string>(&parsed)) return complain(argument, *wrong);
  options.health = std::get<ProbeKind>(std::move(parsed));
  return "";
}

Complaint set_health_failures(const Argument& argument, Options& options) {
  const std::string_view text = argument.value.value_or("");
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1 ||
      number > health_failures_max) {
    return complain(argument, "needs =N, where N is a whole number from 1 to 1000000");
  }
  options.health_failures = number;
  return "";
}

Complaint set_health_action(const Argument& argument, Options& options) {
  if (argument.value == "silence") {
    options.health_action = HealthAction::silence;
  } else if (argument.value == "exit") {
    options.health_action = HealthAction::exit;
  } else {
    return complain(argument, "needs =silence or =exit");
  }
  return "";
}

Complaint set_stop(const Argument& argument, Options& options) {
  auto parsed = parse_stop_plan(argument.value.value_or(""));
  if (const auto* wrong = std::get_if<std::string>(&parsed)) {
    return complain(argument, "needs =SIGNAL[:D[,SIGNAL:D ...]]: " + *wrong);
  }
  options.stop = std::get<StopPlan>(std::move(parsed));
  return "";
}

Complaint set_vouch(const Argument& argument, Options& options) {
  if (argument.value != "yes" && argument.value != "no") {
    return complain(argument, "needs =yes or =no");
  }
  options.vouch = argument.value == "yes";
  return "";
}

Complaint set_version(const Argument& argument, Options& options) {
  const std::string_view text = argument.value.value_or("");
  if (text.empty() || text.size() > version_bytes_max || !agent_protocol::is_utf8(text)) {
    return complain(argument, "needs =TEXT, the daemon's version, of at most 128 bytes of UTF-8");
  }
  options.version = std::string(text);
  return "";
}

Complaint set_directory(const Argument& argument, std::optional<std::string>& directory) {
  if (argument.value.value_or("").empty()) {
    return complain(argument, "needs =DIR, where DIR is a directory");
  }
  directory = std::string(*argument.value);
  return "";
}

Complaint set_ca_file(const Argument& argument, Options& options) {
  const std::string_view text = argument.value.value_or("");
  if (text != any_certificate && !text.starts_with('/')) {
    return complain(argument, "needs =FILE, where FILE begins with a slash, or =none");
  }
  options.ca_file = std::string(text);
  return "";
}

bool is_by_tls(const ProbeKind& kind) {
  const auto* const http = std::get_if<HttpProbe>(&kind);
  return http != nullptr && http->url.tls;
}

bool has_probe_by_tls(const Options& options) {
  const auto* const ready = std::get_if<ProbeKind>(&options.ready);
  return (ready != nullptr && is_by_tls(*ready)) || (options.health && is_by_tls(*options.health));
}

Complaint set_last_words(const Argument& argument, Options& options) {
  options.last_words = argument.value != "none";
  if (!argument.value || !options.last_words) return "";
  if (!argument.value->starts_with('/')) {
    return complain(argument, "needs no value, =none or =FILE, where FILE begins with a slash");
  }
  options.last_words_file = std::string(*argument.value);
  return "";
}

Complaint set_option(const Argument& argument, Options& options) {
  const std::string_view name = argument.name;
  if (name == "--check") return set_command(argument, options.check);
  if (name == "--check-timeout") return set_duration(argument, options.check_timeout);
  if (name == "--ready") return set_ready(argument, options);
  if (name == "--settle") return set_settle(argument, options);
  if (name == "--vouch") return set_vouch(argument, options);
  if (name == "--health") return set_health(argument, options);
  if (name == "--health-interval") return set_duration(argument, options.health_interval);
  if (name == "--health-failures") return set_health_failures(argument, options);
  if (name == "--health-action") return set_health_action(argument, options);
  if (name == "--ca-file") return set_ca_file(argument, options);
  if (name == "--stop") return set_stop(argument, options);
  if (name == "--version") return set_version(argument, options);
  if (name == "--version-command") return set_command(argument, options.version_command);
  if (name == "--last-words") return set_last_words(argument, options);
  if (name == "--follow") return set_directory(argument, options.follow);
  if (name == "--follow-keys") return set_directory(argument, options.follow_keys);
  return complain(argument, "no such option; --help names them all");
}

// Returns what is wrong with the combination of options, or an empty string.
Complaint judge_together(const Options& options, const char* const* argv, int end) {
  if (options.version && options.version_command) {
    return "--version-command: is of no use beside --version";
  }
  for (const std::string_view name :
       {"--health-interval", "--health-failures", "--health-action"}) {
    if (!options.health && is_given(name, argv, end)) {
      return std::string(name) + ": needs --health";
    }
  }
  if (options.ca_file && !has_probe_by_tls(options)) {
    return "--ca-file: needs --ready or --health with an https:URL";
  }
  if (options.follow_keys && !options.follow) {
    return "--follow-keys: needs --follow=DIR";
  }
  if (!options.check && is_given("--check-timeout", argv, end)) {
    return "--check-timeout: needs --check";
  }
  return "";
}

constexpr std::string_view help = R"(Usage: agentify run [OPTION ...] [--] DAEMON [ARG ...]
       agentify unit --init=INIT [OPTION ...] [--] DAEMON [ARG ...]
       agentify doctor [--name=NAME] [--] DAEMON [ARG ...]
       upgrader --adapter=agentify [--adapter=OPTION ...] DAEMON [ARG ...]

Makes an agent of a daemon that does not speak the agent protocol. OPTION is one of the
following; agentify run --help and agentify unit --help print more options:

  --check=COMMAND           command to run while the old daemon still serves; if COMMAND
                            fails, the upgrade fails and the old daemon stays
  --check-timeout=D         longest time that the check may take (1m)
  --ready=KIND              condition that shows that the daemon works (started):
                              started        the daemon has been executed
                              notify         the daemon says READY=1 on NOTIFY_SOCKET
                              fd:N           the daemon writes a newline to descriptor N
                              after:D        the daemon has lived for the time D
                              tcp:[HOST:]PORT, unix:PATH   a connection is accepted
                              http:URL, https:URL   the answer has a status of 2xx or 3xx
                              exec:COMMAND   COMMAND exits with status 0
                              file:PATH      the daemon has made or changed the file PATH
  --settle=D                time that a daemon on trial must work before agentify says
                            healthy (3s, at most half the trial)
  --vouch=yes|no            whether agentify says healthy for a daemon on trial (yes)
  --health=KIND             health check to repeat while the daemon is ready: tcp, unix,
                            http, https, exec or file
  --health-interval=D       time between two health checks (10s)
  --health-failures=N       number of bad answers in a row after which the health check
                            has failed (3)
  --health-action=silence|exit
                            reaction to a failed health check of a daemon that is not on
                            trial: send no heartbeat, or exit (silence)
  --ca-file=FILE            PEM file of the only certificates that https trusts (the
                            system's authorities); none: any certificate of localhost
  --stop=SIGNAL[:D[,SIGNAL:D ...]]
                            signals that stop the daemon, each with the time D until the
                            next signal (TERM); SIGKILL always comes last
  --version=TEXT            version of the daemon, for the log and the status
  --version-command=COMMAND command that prints the version of the daemon
  --last-words              add the last line of the daemon's output to the reason for a
                            failure; the output then goes through agentify
  --last-words=FILE         also keep the last 2 KiB of the daemon's output in FILE
                            (none: keep no output)
  --follow=DIR              request an upgrade whenever a different release in DIR, a
                            directory of agent-releases, should run
  --follow-keys=DIR         directory of public keys; request only releases that are
                            signed by one of these keys
  -h, --help                print this help and exit
  --version                 print agentify's own version and exit

D is a whole number with ms, s, m or h, at most 24h. No option may be given twice.

  SIGHUP, SIGUSR1           pass the signal on to the daemon
  SIGTERM                   stop the daemon and exit

More in agentify(1).
)";

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  Options options;
  const auto finish = [&](int at) -> CommandLine {
    if (Complaint complaint = judge_together(options, argv, at); !complaint.empty()) {
      return UsageError{std::move(complaint)};
    }
    if (at >= argc) {
      return UsageError{"DAEMON is missing: agentify [options] -- DAEMON [ARG ...]"};
    }
    options.name = argv[at];
    options.args.assign(argv + at + 1, argv + argc);
    return options;
  };
  return upgrader::parse_options<Options>(
      argc, argv, [&options](const Argument& argument) { return set_option(argument, options); },
      finish);
}

std::string help_text() {
  return std::string(help);
}

std::string version_text() {
  return "agentify " + std::string(upgrader::upgrader_version) + "\n";
}

}  // namespace agentify
