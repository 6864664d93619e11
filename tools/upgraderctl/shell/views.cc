#include "tools/upgraderctl/shell/views.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "agent-protocol/cpp/control/control_directory.h"
#include "agent-protocol/cpp/control/status_reader.h"
#include "base/escape.h"
#include "tools/upgraderctl/core/exit_status.h"
#include "tools/upgraderctl/core/status_page.h"
#include "tools/upgraderctl/core/why_page.h"
#include "tools/upgraderctl/shell/process_age.h"
#include "tools/upgraderctl/shell/wall_clock.h"
#include "tools/upgraderctl/shell/watch.h"

namespace upgraderctl {
namespace {

void print(Terminal& terminal, const std::vector<std::string>& lines) {
  for (const std::string& line : lines)
    terminal.line(line);
}

Listed listed(const std::string& base, const std::string& name) {
  Sight sight = ControlDirectory(base + "/" + name).see();
  auto& status = sight.file.status;
  if (status) status = for_people(*status, sight.hearing, wall_clock());
  return {name, std::move(status), sight.hearing, sight.file.trouble};
}

// Returns one line of JSON with an upgrader's name and its status.
std::string listed_as_json(const std::string& base, const std::string& name) {
  const ControlDirectory directory(base + "/" + name);
  const StatusFile file = directory.status();
  std::string line = "{\"name\":";
  agent_protocol::append_quoted(line, name);
  line += ",\"status\":";
  line += file.status ? one_line(file.text) : "null";
  return line + "}";
}

// Returns JSON with the member `upgrader` and the endings of a status, copied as they are in the
// file.
std::string endings_as_json(const std::string& text) {
  return "{\"upgrader\":" + raw_member(text, "upgrader", "{}") +
         ",\"endings\":" + raw_member(text, "endings", "[]") + "}";
}

}  // namespace

int status_of_trouble(int error_number) {
  return error_number == EACCES || error_number == EPERM ? exit_refused : exit_absent;
}

std::vector<std::string> names_below(const std::string& base, std::error_code& error) {
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator at(base, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) names.push_back(at->path().filename().string());
  }
  if (error == std::errc::no_such_file_or_directory) error.clear();
  std::sort(names.begin(), names.end());
  return names;
}

int show_list(const Options& options, const std::vector<Base>& bases, Terminal& terminal) {
  std::vector<Listed> all;
  for (const Base& base : bases) {
    for (const std::string& name : base.names) {
      if (options.json) {
        terminal.line(listed_as_json(base.path, name));
      } else {
        all.push_back(listed(base.path, name));
      }
    }
  }
  if (options.json) return exit_done;
  if (all.empty()) {
    terminal.complain("there is no upgrader below " + in_words(bases));
  } else {
    print(terminal, list_table(all, wall_clock()));
  }
  return exit_done;
}

int show_status(const Options& options, const std::string& path, Terminal& terminal) {
  if (options.watch) return watch_status(options, path, terminal);
  const ControlDirectory directory(path);
  const auto [file, hearing] = directory.see();
  if (!file.status) {
    terminal.complain(file.trouble);
    return status_of_trouble(file.error_number);
  }
  if (options.json) {
    terminal.line(one_line(file.text));
  } else {
    const Moment now = wall_clock();
    print(terminal, status_page(for_people(*file.status, hearing, now), directory.previous().status,
                                hearing, now));
  }
  return file.status->ended || has_gone(hearing) ? exit_absent : exit_done;
}

int show_history(const Options& options, const std::string& path, Terminal& terminal) {
  const ControlDirectory directory(path);
  const auto [present, hearing] = directory.see();
  const StatusFile previous = directory.previous();
  if (!present.status && !previous.status) {
    terminal.complain(present.trouble);
    return status_of_trouble(present.error_number);
  }
  if (!previous.status && previous.error_number != ENOENT) {
    terminal.complain("of the upgrader's previous life nothing is known: " + previous.trouble);
  }
  if (!options.json) {
    print(terminal, history_table(present.status, hearing, previous.status));
    return exit_done;
  }
  if (present.status) terminal.line(endings_as_json(present.text));
  if (previous.status) terminal.line(endings_as_json(previous.text));
  return exit_done;
}

int show_why(const std::string& path, Terminal& terminal) {
  const ControlDirectory directory(path);
  const StatusFile present = directory.status();
  const StatusFile previous = directory.previous();
  if (!present.status && !previous.status) {
    terminal.complain(present.trouble);
    return status_of_trouble(present.error_number);
  }
  const Ending* const failure = last_failure(present.status, previous.status);
  if (failure == nullptr) {
    terminal.line("no upgrade has failed, as far as the upgrader remembers");
  } else {
    print(terminal, why_page(*failure, directory.last_words(), wall_clock()));
  }
  return exit_done;
}

}  // namespace upgraderctl
