#include "tools/upgraderctl/shell/views.h"

#include <signal.h>
#include <time.h>  // for CLOCK_BOOTTIME
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "agent-protocol/cpp/control/control_directory.h"
#include "agent-protocol/cpp/control/hearing.h"
#include "agent-protocol/cpp/control/status.h"
#include "agent-protocol/cpp/control/status_reader.h"
#include "base/escape.h"
#include "base/event_loop.h"
#include "base/signal_watch.h"
#include "base/utf8.h"
#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/core/pages.h"
#include "tools/upgraderctl/core/sentences.h"
#include "tools/upgraderctl/core/todays_clock.h"
#include "tools/upgraderctl/shell/news.h"
#include "tools/upgraderctl/shell/wall_clock.h"

namespace upgraderctl {

namespace {

// Returns how long the upgrader `pid` has run. Returns nothing if /proc shows no upgrader with this
// pid: the pid may be of a different pid namespace, or may have been given to a different process
// since.
std::optional<Duration> age_of_upgrader(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat", std::ios::binary);
  // The process may end meanwhile, and reading its file then fails. An iterator of the file would
  // throw an exception; getline() only leaves `text` empty.
  std::string text;
  std::getline(file, text, '\0');
  const std::size_t name_ends = text.rfind(')');
  if (name_ends == std::string::npos || text.find("(upgrader)") == std::string::npos) {
    return std::nullopt;
  }
  // The fields of /proc/PID/stat after the process's name begin with field 3. Field 22 is the time
  // of the process's start, in ticks since the boot.
  std::istringstream fields(text.substr(name_ends + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field)
    fields >> skipped;
  std::int64_t ticks = 0;
  const std::int64_t ticks_a_second = ::sysconf(_SC_CLK_TCK);
  timespec since_boot{};
  if (!(fields >> ticks) || ticks_a_second <= 0 ||
      ::clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) {
    return std::nullopt;
  }
  const auto now =
      std::chrono::seconds(since_boot.tv_sec) + std::chrono::nanoseconds(since_boot.tv_nsec);
  const Duration started{ticks * 1'000 / ticks_a_second};
  return std::chrono::floor<Duration>(now) - started;
}

// Returns the status in the form that is shown to people. If the upgrader still runs, all times are
// converted to the machine's current clock, because the clock may have been set since these times
// were written.
Status for_people(const Status& status, Hearing hearing, Moment now) {
  if (status.ended || has_gone(hearing) || !status.upgrader.pid) return status;
  const auto age = age_of_upgrader(*status.upgrader.pid);
  return age ? in_todays_clock(status, now, *age) : status;
}

class Watch {
 public:
  Watch(uv_loop_t* loop, const std::string& path, bool json, Terminal& terminal);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  [[nodiscard]] int run();

 private:
  void look();
  void show(const StatusFile& file, Hearing hearing);

  uv_loop_t* loop_;
  ControlDirectory directory_;
  bool json_;
  Terminal& terminal_;
  News news_;
  upgrader::SignalWatch signals_;
  std::optional<std::string> last_;  // the last status that was shown, without ages
  std::optional<int> status_;
};

Watch::Watch(uv_loop_t* loop, const std::string& path, bool json, Terminal& terminal)
    : loop_(loop), directory_(path), json_(json), terminal_(terminal), news_(loop, path, [this] {
        look();
      }) {
  const auto on_signal = [this](int signal) {
    if (signal == SIGWINCH) {
      look();
    } else {
      status_ = exit_signal_base + signal;
    }
  };
  static_cast<void>(signals_.begin(loop, {SIGINT, SIGTERM, SIGHUP, SIGWINCH}, on_signal));
}

int Watch::run() {
  look();
  while (!status_)
    uv_run(loop_, UV_RUN_ONCE);
  terminal_.leave();
  return *status_;
}

void Watch::look() {
  if (status_) return;
  const Sight sight = directory_.see();
  show(sight.file, sight.hearing);
  if (terminal_.is_broken()) status_ = exit_done;
}

void Watch::show(const StatusFile& file, Hearing hearing) {
  const Moment now = wall_clock();
  auto status = file.status;
  if (status) status = for_people(*status, hearing, now);
  if (terminal_.repaints() && !json_) {
    terminal_.paint(file.status
                        ? status_page(*status, directory_.previous().status, hearing, now)
                        : std::vector<std::string>{"no upgrader runs there: " + file.trouble});
    return;
  }
  const std::string key = !file.status ? file.trouble
                          : json_      ? file.text
                                       : change_key(*file.status, hearing);
  if (last_ == key) return;
  last_ = key;
  if (!file.status) {
    terminal_.complain(file.trouble);
  } else {
    terminal_.line(json_ ? std::string(one_line(file.text)) : status_line(*status, hearing, now));
  }
}

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

// Returns a line of JSON with the name of an upgrader and its status.
std::string listed_as_json(const std::string& base, const std::string& name) {
  const ControlDirectory directory(base + "/" + name);
  const StatusFile file = directory.status();
  std::string line = "{\"name\":";
  agent_protocol::append_quoted(line, agent_protocol::fit_text(name));
  line += ",\"status\":";
  line += file.status ? one_line(file.text) : "null";
  return line + "}";
}

// Returns JSON with the members `upgrader` and `endings` of a status, copied from the file
// unchanged.
std::string endings_as_json(const std::string& text) {
  return "{\"upgrader\":" + raw_member(text, "upgrader", "{}") +
         ",\"endings\":" + raw_member(text, "endings", "[]") + "}";
}

}  // namespace

int watch_status(const Options& options, const std::string& path, Terminal& terminal) {
  upgrader::EventLoop loop;
  if (loop.error() != 0) {
    terminal.complain(std::string("no event loop: ") + uv_strerror(loop.error()));
    return exit_usage;
  }
  return Watch(loop.get(), path, options.json, terminal).run();
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

void warn_if_behind(const Status& status, Hearing hearing, Terminal& terminal) {
  if (status.ended || !is_behind(hearing)) return;
  terminal.complain("the upgrader (" + life_name(status.upgrader) + ") " + hearing_clause(hearing));
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
  if (present.status) warn_if_behind(*present.status, hearing, terminal);
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
  const auto [present, hearing] = directory.see();
  const StatusFile previous = directory.previous();
  if (!present.status && !previous.status) {
    terminal.complain(present.trouble);
    return status_of_trouble(present.error_number);
  }
  if (present.status) warn_if_behind(*present.status, hearing, terminal);
  const Ending* const failure = last_failure(present.status, previous.status);
  if (failure == nullptr) {
    terminal.line("no upgrade has failed, as far as the upgrader remembers");
  } else {
    print(terminal, why_page(*failure, directory.last_words(), wall_clock()));
  }
  return exit_done;
}

}  // namespace upgraderctl
