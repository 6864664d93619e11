// A command of an option, run by /bin/sh under a keeper of its own: nothing of it is left when it
// ends, is given up, or agentify dies. It never gets the lock, and the sockets only as its setting
// says.
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

// A command's output is read to its end. Its last line is kept, cut to this length.
inline constexpr std::size_t last_line_bytes_max = 1024;

// Keeps the last line that is not empty of what is added.
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
  std::string last_line = {};  // of what it printed
  std::string words = {};      // what is wrong: its last line, or how it ended
};

class Command {
 public:
  // Begins; false where there is no process to be had. With `shown` what it writes goes to standard
  // error, too.
  [[nodiscard]] bool begin(const std::string& command, const Options& options, ChildSetting setting,
                           bool shown);
  // To be polled for reading.
  [[nodiscard]] int news_descriptor() const { return keeper_.descriptor(); }
  [[nodiscard]] int output_descriptor() const { return output_.get(); }
  // Takes in what is there. The outcome when all of it has gone.
  [[nodiscard]] std::optional<CommandOutcome> look();
  [[nodiscard]] std::string last_line() const { return line_.text(); }
  // Kills it.
  void give_up() { keeper_.abandon(); }

 private:
  void read_output();

  KeeperHandle keeper_;
  upgrader::OwnedFd output_;
  LastLine line_;
  bool shown_ = false;
  std::optional<DaemonEnding> ending_;
};

// Runs it and waits for its end, at most so long: for what has to be known before the loop begins.
[[nodiscard]] CommandOutcome run_command(const std::string& command, const Options& options,
                                         const std::vector<std::string>& environment,
                                         Duration limit);

}  // namespace agentify
