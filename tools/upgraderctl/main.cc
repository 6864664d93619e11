// The program upgraderctl, by which an operator controls and watches the upgraders of one machine.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "tools/upgraderctl/core/exit_status.h"
#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/core/place.h"
#include "tools/upgraderctl/shell/asking.h"
#include "tools/upgraderctl/shell/occasion_runner.h"
#include "tools/upgraderctl/shell/terminal.h"
#include "tools/upgraderctl/shell/views.h"

namespace upgraderctl {
namespace {

// Returns the base directories in which to look for upgraders. Their lists of names are still
// empty.
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

// Finds the directories below each base, and fills in their names. Returns an error if a base
// cannot be read and no name was found in any base.
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

// Opens /dev/null on each standard descriptor that is closed. Otherwise the next file to be opened,
// such as the FIFO, could become standard output and get the printed text. /dev/null is opened only
// for reading, so that printing still fails, as it must if nobody can read the text.
void fill_standard_descriptors() {
  int fd = ::open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd <= STDERR_FILENO)
    fd = ::dup(fd);
  if (fd > STDERR_FILENO) ::close(fd);
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
  fill_standard_descriptors();
  // If the reader of our output has gone, SIGPIPE must not kill us. The failed write reports that
  // as an error.
  ::signal(SIGPIPE, SIG_IGN);
  Terminal terminal;
  const int status = run(parse_command_line({argv + 1, argv + argc}), terminal);
  // If the reader of our output, such as head(1), has gone, it has all that it wanted, so this is
  // not a failure. After any other error of a write, a part of the output is missing, and the exit
  // status must show that.
  if (!terminal.is_broken() || terminal.error_number() == EPIPE || status != exit_done) {
    return status;
  }
  terminal.complain(std::string("standard output: ") + std::strerror(terminal.error_number()));
  return exit_usage;
}
