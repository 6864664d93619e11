// The surroundings in which the demo and some tests watch sample agents: a directory with a log
// that a process writes, an upgrader with its releases, and the agents' event log.
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

// The settings of a process that writes a log. The process appends lines at a fixed rate, some of
// them in two writes, and rotates the log by renaming files. After a rotation, some lines may still
// go to the old file, as in a program whose threads switch to the new file one after the other.
struct WriterSettings {
  std::string path;
  std::size_t lines_per_second = 2'000;
  std::size_t lines_per_file = 0;  // the number of lines between two rotations; 0: no rotation
  std::size_t late_lines = 0;      // how many lines still go to the old file after a rotation
};

class LineWriter {
 public:
  // Starts the writer. When this returns, the writer has begun to write its first line.
  explicit LineWriter(const WriterSettings& settings);
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Lets the writer finish its current line, and waits until the writer has exited.
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
  // How long agents wait for lines that are still written to a rotated file.
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
  // version. The new file appears atomically, and replaces an existing file of the same name.
  // `more` is appended to the program's file: this changes the file's bytes, but not the effect of
  // the program.
  void release(const std::string& variant, const std::string& more = "");
  void release_script(const std::string& version, const std::string& text);
  void desire(const std::string& version);

  // Points the link `current` at a release, as an installation of the agent does.
  void install(const std::string& version);
  [[nodiscard]] std::string current() const;

  void start_upgrader(const std::vector<std::string>& options,
                      const std::vector<std::string>& agent_options);
  // Starts an agent without an upgrader, with the same arguments that an upgrader would pass.
  void start_alone(const std::string& version);
  void signal_upgrader(int signal) const;

  // Waits until the upgrader has exited. Returns its exit status as a shell shows it, or no value
  // if the upgrader has not exited within `limit`.
  [[nodiscard]] std::optional<int> wait_for_upgrader(std::chrono::milliseconds limit);

  using Wanted = std::function<bool(const SeenEvent&)>;
  // Returns the next event for which `wanted` returns true, and skips all events before that event.
  // Returns no value if no such event comes within `limit`.
  [[nodiscard]] std::optional<SeenEvent> wait_for(const Wanted& wanted,
                                                  std::chrono::milliseconds limit);

  // Ends the writer. After this, wait_until_copied() waits until the writer's last line has been
  // copied, and proof() checks the whole output.
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
