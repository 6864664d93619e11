// The program upgraderctl, with which an operator watches and steers the upgraders of one machine.

#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "agent-protocol/cpp/control/control_directory.h"
#include "base/descriptors.h"
#include "base/shown.h"
#include "base/status_path.h"
#include "tools/upgraderctl/core/errand.h"
#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/core/phase_wait.h"
#include "tools/upgraderctl/core/sentences.h"
#include "tools/upgraderctl/shell/runner.h"
#include "tools/upgraderctl/shell/terminal.h"
#include "tools/upgraderctl/shell/views.h"

namespace upgraderctl {
namespace {

// The commands that send a request to an upgrader or wait for something. The function of each
// command returns the exit status.

// How long to wait for the status of the upgrader that reads the FIFO. An upgrader writes its
// status immediately after it has opened the FIFO, so a longer wait would not help.
constexpr Duration meeting_longest{5'000};
constexpr Duration meeting_pause{50};

// Returns a new name for a request: the time of day, and random digits.
std::string new_name() {
  std::uint32_t chance = 0;
  if (::getrandom(&chance, sizeof chance, GRND_NONBLOCK) != sizeof chance) {
    chance = static_cast<std::uint32_t>(::getpid());
  }
  const auto now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  return request_name(now, chance);
}

// Prints the final text of the command, and returns the exit status.
int end_by(const Finish& finish, Terminal& terminal) {
  const bool outcome = finish.status == exit_done || finish.status == exit_kept ||
                       finish.status == exit_fell_back || finish.status == exit_ended;
  if (outcome) {
    terminal.line(finish.text);
  } else {
    terminal.complain(finish.text);
  }
  return finish.status;
}

// Returns how a command ends if no upgrader accepts requests: the exit status and the reason.
Finish not_listening(const ControlDirectory& directory, int error_number) {
  const auto [file, hearing] = directory.see();
  if (is_forbidden(error_number)) {
    return {exit_refused, directory.path() + "/control: " + std::strerror(error_number)};
  }
  if (!file.status) return {status_of_trouble(file.error_number), file.trouble};
  if (file.status->ended) {
    return {exit_absent, "the upgrader has ended " + end_clause(*file.status->ended)};
  }
  const std::string text = directory.path() + "/control: " + std::strerror(error_number) +
                           ": the upgrader (" + life_name(file.status->upgrader) + ") ";
  return {exit_absent, text + hearing_clause(hearing == Hearing::deaf ? hearing : Hearing::gone)};
}

// Returns the status of the upgrader that reads the FIFO. Must be called after the FIFO was opened:
// the upgrader that reads the FIFO has then written its status, or will write it in a moment.
std::variant<Status, Finish> meet(const ControlDirectory& directory,
                                  const std::optional<Duration>& timeout) {
  const bool is_limited = timeout && *timeout > Duration{0};
  const Duration limit = is_limited ? std::min(*timeout, meeting_longest) : meeting_longest;
  StatusFile file;
  for (Duration passed{0}; passed < limit; passed += meeting_pause) {
    const bool gone = directory.reader_gone();
    file = directory.status();
    if (gone) return not_listening(directory, ENXIO);
    if (file.status && !file.status->ended) return *std::move(file.status);
    if (is_forbidden(file.error_number)) return Finish{exit_refused, file.trouble};
    ::poll(nullptr, 0, static_cast<int>(meeting_pause.count()));
  }
  return Finish{exit_unknown,
                "the upgrader takes requests, but writes no status that can be read "
                "(" +
                    file.trouble + "): nothing was sent"};
}

// Returns the program to which the link of the upgrader's option --previous=LINK leads.
std::variant<std::string, Finish> previous_program(const Status& status) {
  if (!status.boot || status.boot->previous.empty()) {
    return Finish{exit_refused,
                  "--previous: this upgrader keeps no link to what was committed "
                  "before (its --previous=LINK)"};
  }
  if (upgrader::is_mangled(status.boot->previous)) {
    return Finish{exit_refused, "--previous: " + shown(status.boot->previous) +
                                    ": the link's name is not UTF-8, so the status does not have "
                                    "it: name EXECUTABLE instead"};
  }
  const auto link = upgrader::path_for_others(status.boot->previous, status.upgrader.pid);
  if (!link) {
    return Finish{exit_refused, "--previous: " + shown(status.boot->previous) +
                                    ": it is relative, and the status has no pid of the "
                                    "upgrader: name EXECUTABLE instead"};
  }
  std::error_code error;
  const std::filesystem::path program = std::filesystem::canonical(*link, error);
  if (!error) return program.string();
  // The upgrader makes the link at its first commit. So a missing link means that no version was
  // committed yet.
  std::error_code no_link;
  if (std::filesystem::symlink_status(*link, no_link).type() ==
      std::filesystem::file_type::not_found) {
    return Finish{exit_refused,
                  "--previous: no version was committed yet, so there is none to go back to (there "
                  "is no link " +
                      shown(status.boot->previous) + ")"};
  }
  return Finish{exit_refused,
                "--previous: " + shown(status.boot->previous) + ": " + error.message()};
}

// Makes EXECUTABLE absolute, as the upgrader requires, but does not resolve links. Also finds the
// path with all links resolved, which is used only for comparisons.
std::optional<Finish> complete(Options& options, const Status& status) {
  if (options.previous) {
    std::variant<std::string, Finish> program = previous_program(status);
    if (auto* finish = std::get_if<Finish>(&program)) return *finish;
    options.executable = std::get<std::string>(std::move(program));
  } else if (options.executable && !options.executable->starts_with('/')) {
    std::error_code error;
    const std::filesystem::path here = std::filesystem::current_path(error);
    if (error) return Finish{exit_usage, "the working directory: " + error.message()};
    options.executable = (here / *options.executable).string();
  }
  if (options.executable) {
    std::error_code error;
    const std::filesystem::path resolved = std::filesystem::canonical(*options.executable, error);
    if (!error) options.resolved = resolved.string();
  }
  return std::nullopt;
}

int wait_for_phase(const Options& options, const Place& place, Terminal& terminal) {
  ControlDirectory directory(place.path);
  static_cast<void>(directory.open());
  PhaseWait wait(*options.phase, options.timeout, place.words + " status");
  return end_by(run(wait, {directory, terminal, std::nullopt, std::nullopt}), terminal);
}

// Returns an object that shows the steps of the upgrade, if the command waits until the upgrade has
// ended. Otherwise returns nothing.
std::optional<Progress> progress_of(const Errand& errand, const std::string& command) {
  if (errand.goal == Errand::Goal::ending) return Progress(errand.id, command);
  if (errand.goal == Errand::Goal::rehearsal) return Progress(errand.id, "");
  return std::nullopt;
}

[[nodiscard]] int ask(const Options& given, const Place& place, Terminal& terminal) {
  if (given.command == Command::wait && given.phase) {
    return wait_for_phase(given, place, terminal);
  }
  Options options = given;
  ControlDirectory directory(place.path);
  const int error = directory.open();
  // A user who may read the status, but may not write to the FIFO, can still use `wait`.
  if (error != 0 && !(options.command == Command::wait && is_forbidden(error))) {
    return end_by(not_listening(directory, error), terminal);
  }
  std::variant<Status, Finish> met = meet(directory, options.timeout);
  if (const auto* finish = std::get_if<Finish>(&met)) return end_by(*finish, terminal);
  const Status& status = std::get<Status>(met);
  const Hearing hearing = directory.see().hearing;
  warn_if_behind(status, hearing, terminal);
  if (const std::optional<Finish> finish = complete(options, status)) {
    return end_by(*finish, terminal);
  }
  const StatusFile previous = directory.previous();
  std::variant<Errand, NoErrand> errand =
      errand_of(options,
                {.status = status,
                 .hearing = hearing,
                 .previous = previous.status,
                 .previous_trouble = previous.error_number == ENOENT ? "" : previous.trouble,
                 .command = place.words},
                new_name());
  if (const auto* finish = std::get_if<NoErrand>(&errand)) return end_by(*finish, terminal);
  std::optional<Progress> progress = progress_of(std::get<Errand>(errand), place.words);
  const Life life = status.upgrader;
  Conversation conversation(std::get<Errand>(std::move(errand)));
  return end_by(run(conversation, {directory, terminal, std::move(progress), life}), terminal);
}

// Returns the bases, which are the directories that contain control directories. Leaves the lists
// of these control directories (`Base::names`) empty.
std::vector<Base> bases_of_environment() {
  const auto value_of = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (std::string other = value_of(base_variable); !other.empty()) return {{std::move(other)}};
  std::vector<Base> bases = {{system_base}};
  const std::string runtime = value_of(runtime_variable);
  if (runtime.starts_with('/')) bases.push_back({runtime + base_in_runtime});
  return bases;
}

// Reads the names of the control directories in each base. Returns an error if a base cannot be
// read and no control directory was found in any base.
std::error_code look_for_names(std::vector<Base>& bases) {
  std::error_code first;
  bool found = false;
  for (Base& base : bases) {
    std::error_code error;
    base.names = names_below(base.path, error);
    if (error && !first) first = error;
    found = found || !base.names.empty();
  }
  return found ? std::error_code() : first;
}

int obey(const Options& options, Terminal& terminal) {
  std::vector<Base> bases = bases_of_environment();
  const std::error_code error = look_for_names(bases);
  const bool is_told_which = options.directory || options.name;
  if (error && (!is_told_which || options.command == Command::list)) {
    terminal.complain(in_words(bases) + ": " + error.message());
    return status_of_trouble(error.value());
  }
  if (options.command == Command::list) return show_list(options, bases, terminal);
  const std::variant<Place, NoPlace> chosen = choose_place(options, bases);
  if (const auto* none = std::get_if<NoPlace>(&chosen)) {
    terminal.complain(none->text);
    return exit_absent;
  }
  const Place& place = std::get<Place>(chosen);
  if (options.command == Command::status) return show_status(options, place.path, terminal);
  if (options.command == Command::history) return show_history(options, place.path, terminal);
  if (options.command == Command::why) return show_why(place.path, terminal);
  if (options.command == Command::on) return run_on_occasions(options, place.path, terminal);
  return ask(options, place, terminal);
}

int run(const CommandLine& line, Terminal& terminal) {
  if (const auto* error = std::get_if<UsageError>(&line)) {
    terminal.complain(error->text);
    return exit_usage;
  }
  if (const auto* help = std::get_if<HelpWanted>(&line)) {
    terminal.bytes(help->text);
    return exit_done;
  }
  if (std::holds_alternative<VersionWanted>(line)) {
    terminal.bytes(version_text());
    return exit_done;
  }
  return obey(std::get<Options>(line), terminal);
}

}  // namespace

}  // namespace upgraderctl

int main(int argc, char** argv) {
  using namespace upgraderctl;
  if (upgrader::open_standard_descriptors(true) != 0) return exit_usage;
  // If nobody reads the output any more, SIGPIPE must not kill this process. A failed write reports
  // the error instead.
  ::signal(SIGPIPE, SIG_IGN);
  Terminal terminal;
  const int status = run(parse_command_line({argv + 1, argv + argc}), terminal);
  // A reader such as head(1) closes the pipe when it has read enough, so EPIPE is not a failure.
  // After any other write error a part of the output is missing, which the exit status must show.
  if (!terminal.is_broken() || terminal.error_number() == EPIPE || status != exit_done) {
    return status;
  }
  terminal.complain(std::string("standard output: ") + std::strerror(terminal.error_number()));
  return exit_usage;
}
