// Runs a command that an option of agentify names, through /bin/sh. The parent process of the
// command is a keeper: see keeper.h. The keeper kills all processes of the command when the command
// ends or is given up, or when agentify dies. The command never inherits the daemon's lock.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "tools/agentify/duration.h"
#include "tools/agentify/family.h"
#include "tools/agentify/keeper.h"
#include "tools/agentify/options.h"

namespace agentify {

// The most bytes that are kept of one line of output. The rest of a longer line is dropped.
inline constexpr std::size_t last_line_bytes_max = 1024;

// How many lines of a failed command's output are reported. Programs such as `nginx -t` write the
// cause first, and then a line that says only that they have failed.
inline constexpr std::size_t last_lines_max = 3;
// The most bytes of all reported lines together. The lines and the name of the command must fit
// into the `reason` of a message to the upgrader, which has at most 1,024 bytes.
inline constexpr std::size_t last_lines_bytes_max = 960;

// Remembers the last non-empty lines of a command's output. The caller passes the output to add().
class LastLines {
 public:
  void add(std::string_view bytes);
  // Returns the last line.
  [[nodiscard]] std::string last() const;
  // Returns the last lines, at most last_lines_max of them, joined by "; ". If the text would have
  // more than last_lines_bytes_max bytes, leaves out the first lines, but never the last line.
  [[nodiscard]] std::string joined() const;

 private:
  [[nodiscard]] std::deque<std::string> all() const;

  std::deque<std::string> ended_;
  std::string current_;
};

struct CommandOutcome {
  bool good = false;
  std::string last_line = {};  // the last line of the command's output
  std::string words = {};      // why the command failed: its last lines, or how it exited
};

class Command {
 public:
  // Starts the command. `setting` has the command's environment, and says whether the command
  // inherits init's sockets. If `shown` is true, the command's output is also written to standard
  // error. Returns false if no process can be started.
  [[nodiscard]] bool begin(const std::string& command, const Options& options, ChildSetting setting,
                           bool shown);
  // The next two functions return descriptors that the caller must watch. When one of them is
  // readable, look() must be called.
  [[nodiscard]] int news_descriptor() const { return keeper_.descriptor(); }
  [[nodiscard]] int output_descriptor() const { return output_.get(); }
  // Reads the output of the command, and the messages of the keeper, which is the command's parent
  // process. Returns nothing while a process of the command runs. Returns the outcome when all its
  // processes have exited, when the command cannot be started, or when the keeper has been killed.
  [[nodiscard]] std::optional<CommandOutcome> look();
  // Returns the last lines of the output, as LastLines::joined() does.
  [[nodiscard]] std::string last_lines() const { return lines_.joined(); }
  // Kills all processes of the command.
  void give_up() { keeper_.abandon(); }

 private:
  void read_output();

  KeeperHandle keeper_;
  upgrader::OwnedFd output_;
  LastLines lines_;
  bool shown_ = false;
  std::optional<DaemonEnding> ending_;
};

// Runs a command and blocks until it has ended, for at most `limit`. Used only before agentify's
// event loop runs.
[[nodiscard]] CommandOutcome run_command(const std::string& command, const Options& options,
                                         const std::vector<std::string>& environment,
                                         Duration limit);

}  // namespace agentify
