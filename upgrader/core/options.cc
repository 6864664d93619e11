#include "upgrader/core/options.h"

#include <limits>
#include <span>
#include <string_view>

#include "agent-protocol/cpp/wire/message.h"
#include "base/argument.h"
#include "base/duration.h"
#include "base/form.h"
#include "base/number.h"
#include "base/version.h"
#include "upgrader/core/attempts.h"

namespace upgrader {
namespace {

// The lowest descriptor of --notify-fd: the first one after standard input, output and error.
constexpr int first_free_descriptor = 3;

// The reason why an argument is wrong; empty if the argument is well formed.
using Complaint = std::string;

Complaint set_duration(const Argument& argument, Duration& duration, bool may_be_zero) {
  const std::optional<Duration> parsed = parse_duration(argument.value.value_or(""));
  if (!parsed) return complaint_about(argument, "needs =D, {}"_with(duration_form));
  if (*parsed == Duration{0} && !may_be_zero) return complaint_about(argument, "must not be 0");
  duration = *parsed;
  return "";
}

// Finds the argument's value among the allowed words, and sets `place` to its index. If the value
// is not among them, returns a complaint that lists the words.
Complaint find_word(const Argument& argument, std::span<const std::string_view> words,
                    std::size_t& place) {
  std::string allowed;
  for (place = 0; place < words.size(); ++place) {
    if (argument.value == words[place]) return "";
    allowed += allowed.empty() ? "needs =" : " or =";
    allowed += words[place];
  }
  return complaint_about(argument, allowed);
}

template <class Enum>
Complaint set_choice(const Argument& argument, Enum& value) {
  std::size_t place = 0;
  Complaint complaint = find_word(argument, agent_protocol::names_of<Enum>, place);
  if (complaint.empty()) value = static_cast<Enum>(place);
  return complaint;
}

Complaint set_flag(const Argument& argument, bool& flag) {
  if (argument.value) return complaint_about(argument, "takes no value");
  flag = true;
  return "";
}

Complaint set_number(const Argument& argument, int& value, std::int64_t min, std::int64_t max,
                     std::string_view form) {
  const auto number = whole_number(argument.value.value_or(""), max);
  if (!number || *number < min)
    return complaint_about(argument, "needs =N, where N is {}"_with(form));
  value = static_cast<int>(*number);
  return "";
}

Complaint set_path(const Argument& argument, std::optional<std::string>& path,
                   std::string_view name) {
  if (argument.value.value_or("").empty()) {
    return complaint_about(argument, "needs ={}, where {} is a path"_with(name, name));
  }
  path = std::string(*argument.value);
  return "";
}

Complaint add_adapter_word(const Argument& argument, Options& options) {
  const bool program_is_missing = options.adapter.empty() && argument.value == "";
  if (!argument.value || program_is_missing) {
    return complaint_about(argument, "needs =WORD, the first a program, the others its arguments");
  }
  options.adapter.push_back(std::string(*argument.value));
  return "";
}

Complaint set_option(const Argument& argument, Options& options) {
  const std::string_view name = argument.name;
  Terms& terms = options.defaults;
  if (name == "--mode") return set_choice(argument, terms.mode);
  if (name == "--start-timeout") return set_duration(argument, terms.start_timeout, true);
  if (name == "--stop-timeout") return set_duration(argument, terms.stop_timeout, false);
  if (name == "--exit-grace") return set_duration(argument, options.exit_grace, true);
  if (name == "--trial") return set_duration(argument, terms.trial, true);
  if (name == "--on-unclean-stop") return set_choice(argument, terms.on_unclean_stop);
  if (name == "--fallback") return set_choice(argument, terms.fallback);
  if (name == "--gate") return set_choice(argument, terms.gate);
  if (name == "--confirm-timeout") return set_duration(argument, terms.confirm_timeout, true);
  if (name == "--commit") return set_choice(argument, terms.commit);
  if (name == "--relink") return set_flag(argument, options.relink);
  if (name == "--previous") return set_path(argument, options.previous, "LINK");
  if (name == "--attempts") {
    return set_number(argument, options.attempts, 0, attempts_max,
                      "a number from 0 to {}"_with(attempts_max));
  }
  if (name == "--lock") return set_path(argument, options.lock_file, "FILE");
  if (name == "--lock-timeout") return set_duration(argument, options.lock_timeout.emplace(), true);
  if (name == "--control") return set_path(argument, options.control_directory, "DIR");
  if (name == "--notify-fd") {
    return set_number(argument, options.notify_fd.emplace(), first_free_descriptor,
                      std::numeric_limits<int>::max(), "the number of a descriptor, 3 or more");
  }
  if (name == "--subreaper") return set_flag(argument, options.subreaper);
  if (name == "--adapter") return add_adapter_word(argument, options);
  if (name == "--log-level") return set_choice(argument, options.log_level);
  if (options.adapter.empty()) {
    return complaint_about(argument, "no such option; --help names them all");
  }
  return complaint_about(
      argument,
      "no such option; one of the adapter's is given as --adapter={}"_with(argument.whole));
}

// Returns a complaint if an option needs another option that is not given, or contradicts another
// option that is given.
Complaint judge_together(const Options& options) {
  if (options.lock_timeout && !options.lock_file) return "--lock-timeout: needs --lock=FILE";
  for (const char* name : {"/.lock", "/control", "/previous.json", "/status.json"}) {
    if (options.control_directory && options.lock_file == *options.control_directory + name) {
      return "--lock={}: is a file that --control needs"_with(*options.lock_file);
    }
  }
  if (options.previous && !options.relink) return "--previous: needs --relink";
  if (options.attempts > 0 && !options.previous) return "--attempts: needs --previous=LINK";
  const bool must_be_healthy = options.defaults.commit == agent_protocol::CommitRule::healthy;
  if (must_be_healthy && options.defaults.trial == Duration{0}) {
    return "--commit=healthy: needs a --trial that is not 0";
  }
  return "";
}

// Reads AGENT and its arguments, which begin at argv[at].
CommandLine finish(Options& options, int argc, const char* const* argv, int at) {
  if (at >= argc || *argv[at] == '\0') {
    return UsageError{"AGENT is missing: upgrader [options] [--] AGENT [ARG ...]"};
  }
  options.agent = argv[at];
  if (!is_given("--confirm-timeout", argv, at)) {
    options.defaults.confirm_timeout = options.defaults.start_timeout;
  }
  options.args.assign(argv + at + 1, argv + argc);
  if (Complaint complaint = judge_together(options); !complaint.empty()) {
    return UsageError{std::move(complaint)};
  }
  return std::move(options);
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  Options options;
  return parse_options<Options>(
      argc, argv, [&options](const Argument& argument) { return set_option(argument, options); },
      [&](int at) { return finish(options, argc, argv, at); }, "--adapter");
}

Duration lock_timeout_of(const Options& options) {
  if (options.lock_timeout) return *options.lock_timeout;
  if (options.exit_grace == Duration{0}) return Duration{0};
  return options.defaults.stop_timeout + options.exit_grace;
}

Policy policy_of(const Options& options, Duration watchdog) {
  return {.defaults = options.defaults,
          .exit_grace = options.exit_grace,
          .watchdog = watchdog,
          .relink = options.relink,
          .previous = options.previous.has_value(),
          .attempts = options.attempts > 0};
}

std::string help_text() {
  return R"(Usage: upgrader [options] [--] AGENT [ARG ...]

Runs AGENT, replaces it with its next version when AGENT or SIGUSR2 requests that, and
goes back to the old version if the new one fails. AGENT is a path, or a name in PATH.

  --mode=parallel|sequential	mode of upgrades whose request names none (parallel)
  --start-timeout=D		time from an agent's start to its ready (5m); 0: no limit
  --stop-timeout=D		time from stop to the agent's stopped (90s); not 0
  --exit-grace=D		time from stopped to the agent's exit (10s); 0: no limit
  --trial=D			length of a new version's trial (30s); 0: commit at once
  --on-unclean-stop=fallback|continue
				what to do after an unclean stop of the old agent (fallback)
  --fallback=cold|warm		start the old version again when a trial has failed, or keep
				the old version started and ready during the trial (cold)
  --gate=none|confirm		whether parallel upgrades wait for confirm (none)
  --confirm-timeout=D		how long the gate waits if the agent has not requested the
				upgrade (start timeout); 0: no limit
  --commit=survive|healthy	how to pass a trial: survive it, or say healthy (survive)
  --relink			AGENT is a symbolic link; point it to the committed version
  --previous=LINK		point LINK to the version committed before the current one,
				and start LINK if the first agent fails
  --attempts=N			start LINK, too, after N failed starts in a row (0: off)
  --lock=FILE			allow only one active agent, by a lock that agents inherit
  --lock-timeout=D		how long to wait for the lock (stop timeout + exit grace);
				0: no limit
  --control=DIR			write DIR/status.json, and read requests from DIR/control
  --notify-fd=N			write a newline to descriptor N when the first agent is
				active, and close N
  --subreaper			reap orphaned descendants of agents, as process 1 does
  --adapter=WORD		program that runs an AGENT without the protocol
				(given again: an argument of this program)
  --log-level=error|warning|info|debug
				least severe messages to log on standard error (info)
  -h, --help			print this help and exit
  --version			print the version and exit

D is a whole number with ms, s, m or h, at most 24h; or 0. No option may be given twice,
except for the one that names the adapter.

  SIGUSR2			upgrade to the program that AGENT names now
  SIGTERM, SIGINT		stop the agent and exit
  SIGQUIT			kill all agents immediately and exit
  SIGHUP, SIGUSR1		pass the signal on to the agent

More in upgrader(8).
)";
}

std::string version_text() {
  return "upgrader {}, agent protocol {}\n"_with(upgrader_version,
                                                 agent_protocol::protocol_version);
}

}  // namespace upgrader
