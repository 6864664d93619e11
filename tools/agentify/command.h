// Runs the command of an option by /bin/sh, under a keeper of its own. When the command ends or is
// given up, or agentify dies, the keeper kills all processes of the command. The command never
// inherits the daemon's lock, and gets init's sockets only if its setting says so.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "tools/agentify/adapter_event.h"
#include "tools/agentify/duration.h"
#include "tools/agentify/keeper_handle.h"
#include "tools/agentify/options.h"

namespace agentify {

// The most bytes that are kept of the last line of a command's output. The rest of a longer line is
// read and dropped.
inline constexpr std::size_t last_line_bytes_max = 1024;

// Keeps the last line that is not empty of the output that is passed to add().
class LastLine {
 public:
  void add(std::string_view bytes);
  [[nodiscard]] std::string text() const;

 private:
  std::string last_;
  std::string current_;
};

struct CommandOutcome {
  bool good = false;
  std::string last_line = {};  // the last line of the command's output
  std::string words = {};      // why the command failed: its last line, or how it ended
};

class Command {
 public:
  // Starts the command; returns false if no process can be made. With `shown`, its output also goes
  // to standard error.
  [[nodiscard]] bool begin(const std::string& command, const Options& options, ChildSetting setting,
                           bool shown);
  // Descriptors of the command. When one of them is readable, look() must be called.
  [[nodiscard]] int news_descriptor() const { return keeper_.descriptor(); }
  [[nodiscard]] int output_descriptor() const { return output_.get(); }
  // Reads the output of the command and the news of its keeper. When all processes of the command
  // have ended, returns the outcome.
  [[nodiscard]] std::optional<CommandOutcome> look();
  [[nodiscard]] std::string last_line() const { return line_.text(); }
  // Kills the command.
  void give_up() { keeper_.abandon(); }

 private:
  void read_output();

  KeeperHandle keeper_;
  upgrader::OwnedFd output_;
  LastLine line_;
  bool shown_ = false;
  std::optional<DaemonEnding> ending_;
};

// Runs a command and waits for its end, for at most `limit`. Needed for facts that agentify must
// know before its loop begins.
[[nodiscard]] CommandOutcome run_command(const std::string& command, const Options& options,
                                         const std::vector<std::string>& environment,
                                         Duration limit);

}  // namespace agentify
