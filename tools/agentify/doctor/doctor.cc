// Performs `agentify doctor`: runs a daemon, watches it, and prints agentify options that suit the
// daemon.
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/argument.h"
#include "base/interruption.h"
#include "base/owned_fd.h"
#include "base/standard_output.h"
#include "tools/agentify/command.h"
#include "tools/agentify/doctor/findings.h"
#include "tools/agentify/doctor/trial_run.h"
#include "tools/agentify/family.h"
#include "tools/agentify/launch/launch.h"
#include "tools/agentify/launch/place.h"
#include "tools/agentify/subcommands.h"

namespace agentify {
namespace {

using upgrader::Duration;
using upgrader::Interruption;
using upgrader::OwnedFd;

constexpr char doctor_name[] = "agentify: doctor";  // the beginning of each line on standard error
constexpr int doctor_good = 0;
constexpr int doctor_failed = 1;
constexpr int doctor_usage = 2;

constexpr Duration watch_interval{20};
// How long a daemon may take to accept a connection on a socket that was passed to it, in addition
// to the time that it took to become ready in the first run.
constexpr Duration takes_time{3'000};
constexpr Duration check_time{20'000};

// Interpreters of scripts. Many daemons may use the same interpreter, so a process that runs an
// interpreter does not show that the examined daemon is running already.
constexpr std::string_view interpreters[] = {"sh",   "dash", "bash", "busybox", "node", "perl",
                                             "ruby", "java", "php",  "lua",     "env"};

struct Patient {
  // NAME of the upgrader that would run this daemon. If the lock of an upgrader with this name is
  // held, the daemon runs already.
  std::string name;
  std::vector<std::string> words;  // the daemon's path and arguments
};

int say(const std::string& why, int status) {
  std::fprintf(stderr, "%s: %s\n", doctor_name, why.c_str());
  return status;
}

void tell(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

bool is_interpreter(const std::string& program) {
  const std::string name = std::filesystem::path(program).filename().string();
  if (name.starts_with("python")) return true;
  return std::find(std::begin(interpreters), std::end(interpreters), name) !=
         std::end(interpreters);
}

// Returns the pid of a process that runs this program, or 0 if there is none.
pid_t running(const std::string& program) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(program, error).string();
  if (error || is_interpreter(real)) return 0;
  for (const Process& process : list_processes()) {
    const std::string link = "/proc/" + std::to_string(process.pid) + "/exe";
    const std::string target = std::filesystem::read_symlink(link, error).string();
    if (!error && !process.ended && target == real) return process.pid;
  }
  return 0;
}

// Returns the reason why the doctor must not run the daemon, or nothing.
std::optional<std::string> refusal_to_run(const Patient& patient) {
  const auto directory = find_directory(patient.name, false);
  if (const auto* path = std::get_if<std::string>(&directory)) {
    const OwnedFd lock(::open((*path + "/lock").c_str(), O_RDONLY | O_CLOEXEC));
    if (lock && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      return *path + "/lock is held: an upgrader runs " + patient.name + " already";
    }
  }
  const pid_t pid = running(patient.words[0]);
  if (pid == 0) return std::nullopt;
  return "process " + std::to_string(pid) + " runs " + patient.words[0] +
         " already; stop its service first";
}

// Watches the daemon's start. Returns false if the daemon exits by itself.
bool watch(TrialRun& run, Findings& findings) {
  StartWatch start(steady_now());
  for (;;) {
    pause_for(watch_interval);
    if (!run.lives() || Interruption::has_come()) return false;
    const std::string log = run.log();
    const StartLook look{.main = run.main_process(),
                         .listeners = run.listeners(),
                         .notifies = has_notified(log),
                         .forks = has_forked(log),
                         .busy = run.is_busy()};
    if (start.look(look, steady_now(), findings)) break;
  }
  return run.lives() && start.has_started();
}

// Makes a socket that listens at the address of `listener`, at which the daemon itself listened in
// its first run. Returns an empty descriptor on failure.
OwnedFd socket_like(const Listener& listener) {
  OwnedFd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(listener.port);
  const int yes = 1;
  ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool good =
      ::inet_pton(AF_INET, listener.address.c_str(), &address.sin_addr) == 1 &&
      ::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(made.get(), SOMAXCONN) == 0;
  return good ? std::move(made) : OwnedFd();
}

OwnedFd connect_to(const Listener& listener) {
  OwnedFd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(listener.port);
  ::inet_pton(AF_INET, listener.address == "0.0.0.0" ? "127.0.0.1" : listener.address.c_str(),
              &address.sin_addr);
  static_cast<void>(
      ::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
  return made;
}

// Finds out whether the daemon can use listening sockets that init passes to it. Starts the daemon
// a second time, and passes to it a listening socket on which a connection waits. If the daemon
// accepts the connection, it can use such sockets.
std::optional<bool> takes_sockets(const Places& places, const Patient& patient,
                                  const Findings& findings) {
  const auto tcp =
      std::find_if(findings.listeners.begin(), findings.listeners.end(),
                   [](const Listener& one) { return one.kind == Listener::Kind::tcp; });
  if (tcp == findings.listeners.end()) return std::nullopt;
  const OwnedFd passed = socket_like(*tcp);
  if (!passed) return std::nullopt;
  const OwnedFd client = connect_to(*tcp);
  TrialRun run;
  if (run.begin(places, patient.words, passed.get())) return std::nullopt;
  const Duration limit = steady_now() + findings.ready_after + takes_time;
  bool waited = false;
  while (run.lives() && steady_now() < limit && !Interruption::has_come()) {
    unsigned long waiting = 0;
    for (const Listener& one : all_listeners()) {
      if (one.kind == tcp->kind && one.port == tcp->port && one.address == tcp->address) {
        waiting += one.waiting;
      }
    }
    if (waited && waiting == 0) return true;
    waited = waited || waiting > 0;
    pause_for(watch_interval);
  }
  return false;
}

// Returns the command by which a well-known daemon checks its configuration. Returns "" if no such
// command is known, or if the command fails for this daemon.
std::string working_check(const Patient& patient, const KnownDaemon* known) {
  if (known == nullptr || known->check.empty()) return "";
  Options options;
  options.name = patient.words[0];
  options.args.assign(patient.words.begin() + 1, patient.words.end());
  std::vector<std::string> environment;
  for (const char* const* entry = environ; *entry != nullptr; ++entry)
    environment.emplace_back(*entry);
  environment.push_back("AGENT_PROTOCOL_PROGRAM=" + patient.words[0]);
  const std::string check(known->check);
  return run_command(check, options, environment, check_time).good ? check : "";
}

// Runs the daemon for the first time, watches its start, and then stops it. Returns the reason if
// the daemon could not be started or has exited by itself. Returns nothing on success, and also if
// a signal has interrupted the doctor.
std::optional<std::string> examine_first_run(const Patient& patient, const Places& places,
                                             Findings& findings) {
  TrialRun run;
  if (auto wrong = run.begin(places, patient.words)) return wrong;
  if (watch(run, findings)) {
    findings.end = run.end();
  } else if (!Interruption::has_come()) {
    return words_on_failure(run.log());
  }
  return std::nullopt;
}

int examine(const Patient& patient, const Places& places) {
  const Interruption interruption;
  // A write to a closed pipe must fail, and not kill the doctor. The programs that the doctor
  // executes do not inherit this handler.
  if (::signal(SIGPIPE, [](int) {}) == SIG_IGN) ::signal(SIGPIPE, SIG_IGN);
  tell("This runs " + shell_line(patient.words) + ", on its real data, and ends it.");
  const std::string base = std::filesystem::path(patient.words[0]).filename().string();
  const KnownDaemon* const known = known_daemon(base);
  Findings findings;
  findings.check = working_check(patient, known);
  if (const auto wrong = examine_first_run(patient, places, findings)) {
    return say(*wrong, doctor_failed);
  }
  if (!Interruption::has_come()) findings.takes_sockets = takes_sockets(places, patient, findings);
  if (Interruption::has_come()) return say("interrupted; the daemon has been ended", doctor_failed);
  for (const std::string& line : sentences_on(findings, known))
    tell(line);
  std::vector<std::string> words = {"agentify", "run"};
  if (patient.name != base) words.push_back("--name=" + patient.name);
  const std::vector<std::string> options = options_for(findings, known);
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), patient.words.begin(), patient.words.end());
  tell("\n" + shell_line(words));
  return upgrader::finish_output(doctor_name, doctor_good, doctor_failed);
}

std::string doctor_help() {
  return "Usage: agentify doctor [--name=NAME] [--] DAEMON [ARG ...]\n"
         "\n"
         "Runs DAEMON once or twice for some seconds, on its real data. Prints how DAEMON\n"
         "behaves, and the agentify run command with the options that DAEMON needs.\n"
         "\n"
         "  --name=NAME               name of the daemon's upgrader, which must not run DAEMON at\n"
         "                            the same time (the base name of DAEMON)\n"
         "  -h, --help                print this help and exit\n"
         "\n"
         "More in agentify(1).\n";
}

// Returns the path of the daemon, or "" if it is not found. As in a shell, a name with a slash is a
// path. The doctor prints an absolute path in any case.
std::string path_of_daemon(const std::string& name) {
  if (name.find('/') == std::string::npos) return path_of_program(name);
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(name, error);
  return error ? "" : path.lexically_normal().string();
}

using DoctorLine = upgrader::CommandLineOf<Patient>;

// Parses the command line of `agentify doctor`, in which argv[0] is `doctor`.
DoctorLine parse_doctor(int argc, const char* const* argv) {
  Launch launch;
  const auto set = [&launch](const upgrader::Argument& argument) {
    if (argument.name != "--name") return complaint_about(argument, "no such option");
    launch.name = std::string(argument.value.value_or(""));
    return launch.name.empty() ? complaint_about(argument, "needs =NAME") : "";
  };
  const auto finish = [&](int at) -> DoctorLine {
    if (at >= argc) return UsageError{"DAEMON is missing"};
    launch.daemon = argv[at];
    auto named = with_name(launch, "");
    if (auto* wrong = std::get_if<UsageError>(&named)) return std::move(*wrong);
    Patient patient{.name = std::get<Launch>(named).name, .words = {argv + at, argv + argc}};
    patient.words[0] = path_of_daemon(launch.daemon);
    if (patient.words[0].empty()) return UsageError{launch.daemon + ": not in PATH; give its path"};
    return patient;
  };
  return upgrader::parse_options<Patient>(argc, argv, set, finish);
}

int print(const std::string& text) {
  return upgrader::print_text(doctor_name, text, doctor_good, doctor_failed);
}

}  // namespace

int perform_doctor(int argc, const char* const* argv) {
  DoctorLine line = parse_doctor(argc, argv);
  if (std::holds_alternative<HelpWanted>(line)) return print(doctor_help());
  if (std::holds_alternative<VersionWanted>(line)) return print(version_text());
  if (const auto* wrong = std::get_if<UsageError>(&line)) return say(wrong->reason, doctor_usage);
  const Patient& patient = std::get<Patient>(line);
  auto programs = find_programs();
  if (const auto* none = std::get_if<NoPlace>(&programs)) return say(none->why, doctor_failed);
  if (const auto refused = refusal_to_run(patient)) return say(*refused, doctor_failed);
  return examine(patient, std::get<Places>(programs));
}

}  // namespace agentify
