// The program agentify: runs a daemon that knows nothing of the agent protocol, and speaks the
// protocol in the daemon's place. See agentify(1).
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "agent-protocol/agent.h"
#include "base/descriptors.h"
#include "base/errno_name.h"
#include "base/event_loop.h"
#include "base/standard_output.h"
#include "tools/agentify/following.h"
#include "tools/agentify/journal.h"
#include "tools/agentify/loop.h"
#include "tools/agentify/options.h"
#include "tools/agentify/subcommands.h"
#include "tools/agentify/surroundings.h"

namespace agentify {
namespace {

constexpr int exit_usage = 2;
constexpr int exit_not_executable = 126;
constexpr int exit_not_found = 127;

// The time limit for the command that prints the daemon's version. It must be less than five
// seconds: if no `hello` comes for five seconds, the upgrader logs a warning.
constexpr Duration version_time_max = std::chrono::seconds{3};

// Reports why agentify cannot run the daemon. If agentify runs under an upgrader, sends the reason
// to the upgrader, which would otherwise only see that agentify has exited.
int refuse(const std::string& why, int status) {
  auto agent = agent_protocol::Agent::open();
  if (!agent || agent->alone()) log_line(why);
  if (agent) agent->unfit(fit_for_reason("agentify: " + why));
  return status;
}

// Prints the help. Under an upgrader, standard output carries messages, so the help goes to
// standard error.
int help() {
  if (std::getenv("AGENT_PROTOCOL") == nullptr)
    return upgrader::print_text("agentify", help_text());
  show(help_text());
  return refuse("--help has been asked for, and not a daemon", exit_usage);
}

std::string daemon_version(const Options& options, const Surroundings& surroundings,
                           const std::string& program) {
  if (options.version) return *options.version;
  if (!options.version_command) return fit_for_version(release_name(program));
  const CommandOutcome outcome = run_command(*options.version_command, options,
                                             surroundings.command_environment, version_time_max);
  if (!outcome.good) log_line("--version-command: " + outcome.words);
  return outcome.good ? fit_for_version(outcome.last_line) : "";
}

std::optional<int> ready_descriptor_of(const Options& options) {
  const auto* const wanted = std::get_if<ByDescriptor>(&options.ready);
  return wanted == nullptr ? std::nullopt : std::optional<int>(wanted->number);
}

// Makes the socket (--ready=notify) or the pipe (--ready=fd:N) through which the daemon reports
// that it is ready. Returns the reason if that fails, otherwise nothing.
std::optional<std::string> prepare_readiness(const Options& options, Prepared& prepared,
                                             KeeperPlan& plan, upgrader::OwnedFd& theirs) {
  if (std::holds_alternative<ByNotify>(options.ready)) {
    if (!prepared.notify.open()) return "NOTIFY_SOCKET: " + in_words(upgrader::SystemError{errno});
    plan.child.environment.push_back("NOTIFY_SOCKET=" + prepared.notify.name());
    plan.tells_watchdog = true;
  }
  const std::optional<int> number = ready_descriptor_of(options);
  if (!number) return std::nullopt;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return in_words(upgrader::SystemError{errno});
  prepared.ready_pipe.reset(ends[0]);
  theirs.reset(ends[1]);
  ::fcntl(theirs.get(), F_SETFL, 0);  // the daemon expects a pipe in blocking mode
  plan.child.ready_descriptor = *number;
  plan.child.ready_pipe = theirs.get();
  return std::nullopt;
}

// Forks the keeper, the process that will start the daemon. Must be called before agentify opens
// descriptors that the keeper should not inherit. Returns the reason on failure, otherwise nothing.
std::optional<std::string> prepare_keeper(const Options& options, const Surroundings& surroundings,
                                          const upgrader::Program& daemon, Prepared& prepared) {
  auto lock = find_lock(surroundings);
  if (const auto* wrong = std::get_if<std::string>(&lock)) return *wrong;
  KeeperPlan plan;
  prepared.program = daemon.path;
  plan.program = &daemon;
  plan.child = surroundings.daemon;
  plan.child.death_signal = options.stop.steps.front().signal;
  plan.lock = std::get<DaemonLock>(std::move(lock));
  prepared.lock = plan.lock.path();
  plan.closes_input = !surroundings.alone;
  if (options.last_words) {
    plan.words = prepared.words = LastWords::share();
    if (plan.words == nullptr) return "--last-words: " + in_words(upgrader::SystemError{errno});
    plan.words_file = options.last_words_file.value_or("");
  }
  plan.name = "agentify-keeper";
  upgrader::OwnedFd theirs;
  if (auto wrong = prepare_readiness(options, prepared, plan, theirs)) return wrong;
  if (prepared.keeper.fork_keeper(std::move(plan))) return std::nullopt;
  return "cannot fork: " + in_words(upgrader::SystemError{errno});
}

// Makes agentify exit with the daemon's exit status, or by the signal that has killed the daemon,
// so that the parent of agentify sees how the daemon has exited.
int end_like(const DaemonEnding& ending) {
  if (ending.how == DaemonEnding::How::exited) return ending.value;
  const rlimit none{0, 0};
  // agentify writes no core file, because the daemon has written its own
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(ending.value, SIG_DFL);
  sigset_t all;
  ::sigemptyset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::raise(ending.value);
  return 128 + ending.value;
}

int run(const Options& options) {
  auto looked = look_around(ready_descriptor_of(options));
  if (const auto* wrong = std::get_if<std::string>(&looked)) return refuse(*wrong, exit_failed);
  const Surroundings& surroundings = std::get<Surroundings>(looked);
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    return refuse("cannot become a subreaper: " + in_words(upgrader::SystemError{errno}),
                  exit_failed);
  }
  std::error_code unread;
  if (std::filesystem::read_symlink("/proc/self", unread) != std::to_string(::getpid())) {
    return refuse(
        "/proc is not mounted, or shows another pid namespace, and without it the daemon's "
        "processes cannot be found",
        exit_failed);
  }
  Prepared prepared;
  prepared.options = &options;
  prepared.surroundings = &surroundings;
  const auto daemon = find_daemon(options);
  if (!daemon) {
    return refuse(daemon.reason(), daemon.refusal().missing ? exit_not_found : exit_not_executable);
  }
  const upgrader::Program& program = daemon.value();
  if (const auto wrong = prepare_keeper(options, surroundings, program, prepared)) {
    return refuse(*wrong, exit_failed);
  }
  prepared.version = daemon_version(options, surroundings, prepared.program);
  auto agent = agent_protocol::Agent::open(prepared.version, {readiness_feature});
  const auto cannot_begin = [] {
    log_line("cannot begin: " + in_words(upgrader::SystemError{errno}));
    return exit_failed;
  };
  if (!agent) return cannot_begin();
  upgrader::EventLoop loop;
  if (loop.error() != 0) return cannot_begin();
  const DaemonEnding ending = Loop(loop.get(), std::move(*agent), std::move(prepared)).run();
  return end_like(ending);
}

int perform(const CommandLine& line) {
  if (std::holds_alternative<HelpWanted>(line)) return help();
  if (std::holds_alternative<VersionWanted>(line)) {
    return upgrader::print_text("agentify", version_text());
  }
  if (const auto* wrong = std::get_if<UsageError>(&line)) return refuse(wrong->reason, exit_usage);
  return run(std::get<Options>(line));
}

}  // namespace
}  // namespace agentify

int main(int argc, char** argv) {
  if (upgrader::open_standard_descriptors() != 0) return agentify::exit_failed;
  // A parent that ignores SIGCHLD makes agentify ignore it, too. The kernel would then reap the
  // children of agentify itself, and agentify could not find out how they exited.
  ::signal(SIGCHLD, SIG_DFL);
  // Under an upgrader, the first argument is always an option or `--`. So a daemon with the name
  // `run` is never mistaken for the command `run`.
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "run") return agentify::perform_run(argc - 1, argv + 1);
  if (command == "doctor") return agentify::perform_doctor(argc - 1, argv + 1);
  if (command == "unit") return agentify::perform_unit(argc - 1, argv + 1);
  agentify::survive_a_broken_log();
  return agentify::perform(agentify::parse_command_line(argc, argv));
}
