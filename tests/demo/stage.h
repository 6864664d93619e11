// The surroundings in which the demo and tests watch sample agents: a directory with a log that is
// being written, an upgrader with its releases, and the agents' event log.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sample-agent/lines.h"
#include "tests/demo/line_proof.h"

namespace demo {

// A process that writes a log. It appends lines at a fixed rate, some of them in two writes, and
// rotates the log by renaming files. After a rotation, some of its lines may still go to the old
// file, as from a program whose threads change to the new file one after the other.
struct WriterSettings {
  std::string path;
  std::size_t lines_per_second = 2'000;
  std::size_t lines_per_file = 0;  // the number of lines between two rotations; 0: no rotation
  std::size_t late_lines = 0;      // how many lines still go to the old file after a rotation
};

class LineWriter {
 public:
  // Starts the writer. When this returns, the file exists.
  explicit LineWriter(const WriterSettings& settings);
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Lets the writer finish its line, and waits until it has ended.
  void stop();

 private:
  pid_t pid_;
};

struct StageSettings {
  std::string upgrader;  // the path of the upgrader's program
  std::string variants;  // the directory of the sample agents' versions
  std::size_t lines_per_second = 2'000;
  std::size_t lines_per_file = 3'000;
  std::size_t late_lines = 10;
  // How long agents wait for lines that come late to a rotated file.
  std::string rotate_wait = "1s";
};

class Stage {
 public:
  explicit Stage(const StageSettings& settings);

  // Kills the processes that still run, and removes the directory.
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Copies a variant of the sample agent into the directory of releases, under the name of its
  // version. The file appears complete, in one step, and replaces a file of that name. `more` is
  // appended to the program: the file then has other bytes, but the program does the same.
  void release(const std::string& variant, const std::string& more = "");
  void release_script(const std::string& version, const std::string& text);
  void desire(const std::string& version);

  // Makes the link `current` name a release, as an installation of the agent does.
  void install(const std::string& version);
  [[nodiscard]] std::string current() const;

  void start_upgrader(const std::vector<std::string>& options,
                      const std::vector<std::string>& agent_options);
  // Starts an agent without an upgrader, with the arguments that it would get from the upgrader.
  void start_alone(const std::string& version);
  void signal_upgrader(int signal) const;

  // Waits until the upgrader has ended. Returns its status as in a shell, or no value if it has not
  // ended in time.
  [[nodiscard]] std::optional<int> wait_for_upgrader(std::chrono::milliseconds limit);

  using Wanted = std::function<bool(const SeenEvent&)>;
  // Returns the next event for which `wanted` is true, and skips those before it. Returns no value
  // if there is none in time.
  [[nodiscard]] std::optional<SeenEvent> wait_for(const Wanted& wanted,
                                                  std::chrono::milliseconds limit);

  // Ends the writer. wait_until_copied() then waits until its last line has been copied, and
  // proof() checks the result.
  void stop_writing();
  [[nodiscard]] bool wait_until_copied(std::chrono::milliseconds limit) const;
  [[nodiscard]] Proof proof() const;

  [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }
  [[nodiscard]] std::string upgrader_log() const;

 private:
  [[nodiscard]] std::vector<std::string> agent_arguments() const;
  void publish(const std::string& version) const;
  void start(const std::vector<std::string>& arguments);

  StageSettings settings_;
  std::string directory_;
  std::optional<LineWriter> writer_;
  std::optional<sample_agent::Lines> events_;
  pid_t upgrader_ = 0;
};

}  // namespace demo
