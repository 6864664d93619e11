// The programs that are compared, called contenders, how each of them runs the same agent, and the
// times that the agents of a run note.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/benchmark/child.h"
#include "tests/benchmark/stamps.h"

namespace benchmark {

// The paths of the programs, and the directory, that a run needs.
struct Place {
  std::string directory;  // the directory for all files of the run; empty at its start
  std::string upgrader;
  std::string minimal;
  std::string agent;
};

struct Contender {
  // Two ways to give a contender its agent: on the command line, or as the program `run` in a
  // directory.
  enum class Kind { upgrader, command, service };

  std::string name;
  Kind kind;
  std::vector<std::string> argv;
  bool hears_ready = false;  // true if the agent notifies the program as soon as it works
  // True if the contender is an upgrader that runs in a directory of its own, with the options of
  // our service files.
  bool as_service = false;
};

[[nodiscard]] Contender the_upgrader(const Place& place);
// Returns an upgrader with --fallback=warm: it starts a standby with each trial.
[[nodiscard]] Contender the_warm_upgrader(const Place& place);
// Returns an upgrader with the options of our service files, but without --attempts, which syncs a
// file at each start.
[[nodiscard]] Contender the_service_upgrader(const Place& place);
[[nodiscard]] Contender the_minimal(const Place& place);
[[nodiscard]] Contender direct_exec();
// The next two functions return programs that are installed on this machine: the first one tini and
// the static tini, the second one the supervisors of runit and s6.
[[nodiscard]] std::vector<Contender> installed_reapers();
[[nodiscard]] std::vector<Contender> installed_supervisors();

// The settings that the agent gets; stamps.h explains them.
struct Task {
  int handovers = 0;
  int start_ms = 0;
  int work_ms = 0;
  int fail_ms = 0;
  bool ticks = false;
  bool stays = false;
};

using Milliseconds = double;

// The file, mapped into memory, in which agents note their times, and the figures that can be
// computed from it.
class StampFile {
 public:
  // Makes a new file for stamps at `path`. Ends the program if it cannot.
  explicit StampFile(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::size_t count(stamp_kind kind) const;
  [[nodiscard]] std::optional<std::int64_t> time_of(stamp_kind kind,
                                                    std::uint32_t generation) const;

  // Returns the times from the end of each agent until the next one begins to work.
  [[nodiscard]] std::vector<Milliseconds> gaps() const { return from(stamp_exiting); }
  // Returns the times from each agent's last work to the next agent's first work.
  [[nodiscard]] std::vector<Milliseconds> gaps_in_work() const { return from(stamp_last_tick); }

 private:
  struct Unmap {
    void operator()(stamp_page* page) const;
  };

  [[nodiscard]] std::vector<Milliseconds> from(stamp_kind last) const;

  std::string path_;
  std::unique_ptr<stamp_page, Unmap> page_;
};

// One run of a compared program with an agent, in a directory of its own.
class Run {
 public:
  Run(const Place& place, const Contender& contender, const Task& task);

  [[nodiscard]] const StampFile& stamps() const { return stamps_; }
  [[nodiscard]] const Child& child() const { return child_; }

  // Waits until the last agent works.
  void wait_for_last_agent();
  // Waits for the end of the last hand-over, or, if the agent does not stay, for the agent's end.
  void finish();
  void end();

 private:
  Run(const Contender& contender, const Task& task, const std::string& agent,
      const std::string& directory);

  std::string name_;
  bool ends_by_itself_;
  std::size_t agents_;
  StampFile stamps_;
  Child child_;
};

}  // namespace benchmark
