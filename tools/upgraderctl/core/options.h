// The command line of upgraderctl, as data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent-protocol/cpp/control/request.h"
#include "base/moment.h"
#include "tools/upgraderctl/core/occasions.h"

namespace upgraderctl {

enum class Command {
  list,
  status,
  upgrade,
  rehearse,
  confirm,
  cancel,
  commit,
  rollback,
  history,
  why,
  wait,
  on,
  shutdown,
};

struct Options {
  std::optional<std::string> directory;  // the value of --dir: the control directory
  // NAME, if it was given: the name of a control directory in one of the base directories
  // (place.h).
  std::optional<std::string> name;
  Command command = Command::list;
  bool json = false;
  bool watch = false;
  // The options of `upgrade` and `rehearse`:
  std::optional<std::string> executable;
  // The path of the file to which the links at `executable` lead, if that file exists.
  std::optional<std::string> resolved;
  std::vector<std::string> args;
  bool no_args = false;
  bool previous = false;
  bool no_wait = false;
  Terms terms;
  // The id of the upgrade: of a new upgrade, or of the one to be confirmed, cancelled and so on.
  std::optional<std::string> id;
  std::optional<std::string> reason;
  std::optional<std::string> phase;
  std::optional<Duration> timeout;
  // The options of the command `on`:
  std::optional<Occasion> occasion;
  std::optional<std::string> exec;
  std::optional<Duration> after;
};

struct HelpWanted {
  std::string text;
};
struct VersionWanted {};
struct UsageError {
  std::string text;
};
using CommandLine = std::variant<Options, HelpWanted, VersionWanted, UsageError>;

[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& words);

[[nodiscard]] std::string version_text();

// Returns the name of a command.
[[nodiscard]] std::string_view name_of(Command command);

}  // namespace upgraderctl
