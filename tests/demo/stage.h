// A place in which sample agents are watched: a directory with a log that is being written, an
// upgrader with its releases, and the agents' event log. For the demo and for the tests.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sample-agent/lines.h"
#include "tests/demo/line_proof.h"
#include "tests/demo/line_writer.h"

namespace demo {

struct StageSettings {
  std::string upgrader;  // the program
  std::string variants;  // the directory of sample agents
  std::size_t lines_per_second = 2'000;
  std::size_t lines_per_file = 3'000;
  std::size_t late_lines = 10;
  std::string rotate_wait = "1s";  // of the agents; far longer than late lines take
};

class Stage {
 public:
  explicit Stage(const StageSettings& settings);

  // Kills what still runs and removes the directory.
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Puts a variant into the releases, complete at once, under the name of its version. A file
  // that is there already is replaced by a new one.
  // `more` are bytes behind the program's own, which it never looks at: another file that does the
  // same.
  void release(const std::string& variant, const std::string& more = "");
  void release_script(const std::string& version, const std::string& text);
  void desire(const std::string& version);

  // Makes `current` name a release, as whoever installs the agent does.
  void install(const std::string& version);
  [[nodiscard]] std::string current() const;

  void start_upgrader(const std::vector<std::string>& options,
                      const std::vector<std::string>& agent_options);
  // In the place of an upgrader, with the same arguments.
  void start_alone(const std::string& version);
  void signal_upgrader(int signal) const;

  // Waits for its end. The status as in a shell; nothing if it has not ended in time.
  [[nodiscard]] std::optional<int> wait_for_upgrader(std::chrono::milliseconds limit);

  // The next event for which `wanted` is true; those before it are passed over. Nothing if there
  // is none in time.
  using Wanted = std::function<bool(const SeenEvent&)>;
  [[nodiscard]] std::optional<SeenEvent> wait_for(const Wanted& wanted,
                                                  std::chrono::milliseconds limit);

  // Ends the writer, waits until its last line has been copied, and judges.
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
