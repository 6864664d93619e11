// The contenders, which are the programs that the benchmark compares. This file knows how each
// contender runs the same agent, and reads the times that the agents record during a run.
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

// The directory and the paths of the programs that a run needs.
struct Place {
  std::string directory;  // the directory for all files of the run; empty at its start
  std::string upgrader;
  std::string minimal;
  std::string agent;
};

struct Contender {
  // Says in which way a contender learns which agent to run. The kinds `upgrader` and `command` get
  // the agent on their command line. The kind `service` gets it as the program `run` in a service
  // directory. Only under a contender of the kind `upgrader` do agents speak the protocol.
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
// Returns an upgrader with --fallback=warm: at each trial it starts a standby, a process of the old
// version that can replace the new one immediately.
[[nodiscard]] Contender the_warm_upgrader(const Place& place);
// Returns an upgrader with the options of our service files, except --attempts. That option syncs a
// file at each start, so the times would depend on the disk.
[[nodiscard]] Contender the_service_upgrader(const Place& place);
[[nodiscard]] Contender the_minimal(const Place& place);
[[nodiscard]] Contender direct_exec();
// Returns tini and the static tini, if they are installed on this machine. installed_supervisors()
// does the same for the supervisors of runit and s6.
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

// The file in which agents record their times. The file is mapped into memory. This class also
// computes figures from these times.
class StampFile {
 public:
  // Creates the file for the agents' times at `path`. If that fails, or if `path` exists already,
  // exits with a failure.
  explicit StampFile(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::size_t count(stamp_kind kind) const;
  [[nodiscard]] std::optional<std::int64_t> time_of(stamp_kind kind,
                                                    std::uint32_t generation) const;

  // Returns, for each hand-over, the time from the old agent's exit until the next agent begins to
  // work.
  [[nodiscard]] std::vector<Milliseconds> gaps() const { return from(stamp_exiting); }
  // Returns, for each hand-over, the time from the old agent's last work to the next agent's first
  // work.
  [[nodiscard]] std::vector<Milliseconds> gaps_in_work() const { return from(stamp_last_tick); }

 private:
  struct Unmap {
    void operator()(stamp_page* page) const;
  };

  [[nodiscard]] std::vector<Milliseconds> from(stamp_kind last) const;

  std::string path_;
  std::unique_ptr<stamp_page, Unmap> page_;
};

// One run of a contender (a compared program) with an agent, in a directory of its own.
class Run {
 public:
  Run(const Place& place, const Contender& contender, const Task& task);

  [[nodiscard]] const StampFile& stamps() const { return stamps_; }
  [[nodiscard]] const Child& child() const { return child_; }

  void wait_for_last_agent();
  // Waits until the run has made all its hand-overs. Then ends the contender (the compared program)
  // if it is a service supervisor, or if the last agent is to stay. Otherwise waits until the
  // contender exits by itself with status 0.
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
