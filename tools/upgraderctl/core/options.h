// The command line of upgraderctl, as data: the commands, their options, the control directory that
// a command line names, and the exit statuses.
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

struct CommandName {
  Command command;
  const char* name;
  const char* about;
};

// The name of each command and a description of it, in the order of the enum Command.
inline constexpr CommandName command_names[] = {
    {Command::list, "list", "list upgraders, with phase, version and last upgrade"},
    {Command::status, "status", "show the active agent, and the current and last upgrade"},
    {Command::upgrade, "upgrade", "start an upgrade and wait until the upgrade has ended"},
    {Command::rehearse, "rehearse", "test the start of a new version, then cancel the upgrade"},
    {Command::confirm, "confirm", "let the upgrade that waits for confirm continue"},
    {Command::cancel, "cancel", "cancel the upgrade, unless the old agent was told to stop"},
    {Command::commit, "commit", "end the trial now and keep the new version"},
    {Command::rollback, "rollback", "end the trial now and go back to the previous version"},
    {Command::history, "history", "list how upgrades ended, also before the last restart"},
    {Command::why, "why", "show why the last failed upgrade has failed"},
    {Command::wait, "wait", "wait for the end of the upgrade under way, or for a phase"},
    {Command::on, "on", "run a command at each event: good, commit or fallback"},
    {Command::shutdown, "shutdown", "stop the agent and the upgrader, and wait for their end"},
};

struct Options {
  std::optional<std::string> directory;  // the value of --dir: the control directory
  // NAME, if it was given: the name of a control directory in one of the base directories (Base).
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
  // The id of the new upgrade, or of the upgrade that is to be confirmed, cancelled, committed or
  // rolled back.
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

// The arguments of a command line, sorted into three groups before the options are parsed. So
// EXECUTABLE and the arguments after it are never taken for options.
struct Words {
  std::optional<std::string> name;
  std::string command;               // as it was typed; empty if it is missing
  std::vector<std::string> options;  // the command and its options
  std::vector<std::string> tail;     // EXECUTABLE and the arguments after it
};

[[nodiscard]] Words take_apart(const std::vector<std::string>& words);

// ---- the control directory that a command line names

// A base is a directory that contains control directories. There are two: root's base, and the
// caller's own base, which is in the directory that the variable XDG_RUNTIME_DIR names.
inline constexpr char system_base[] = "/run/upgrader";
inline constexpr char runtime_variable[] = "XDG_RUNTIME_DIR";
inline constexpr char base_in_runtime[] = "/upgrader";

// If this environment variable is set, control directories are looked for only in the directory
// that it names.
inline constexpr char base_variable[] = "UPGRADERCTL_BASE";

// A base, which is a directory of control directories, with the names of these control directories.
struct Base {
  std::string path;
  std::vector<std::string> names = {};
};

struct Place {
  std::string path;
  std::string words;  // a command line that selects this directory: "upgraderctl app"
};

// The reason why no control directory was chosen: no directory has the name on the command line, or
// several directories have it. The text lists the existing names.
struct NoPlace {
  std::string text;
};

// Looks for the control directory that the options name in each of the directories `bases`, and
// returns its path. If none of them contains the control directory, returns the path that it would
// have in the first of `bases`. `bases` must not be empty.
[[nodiscard]] std::variant<Place, NoPlace> choose_place(const Options& options,
                                                        const std::vector<Base>& bases);

// Returns the paths of the bases (the directories that contain control directories) as text, such
// as "/run/upgrader and /run/user/1000/upgrader".
[[nodiscard]] std::string in_words(const std::vector<Base>& bases);

// Returns `word` in a form that a shell reads as one word, quoted if necessary.
[[nodiscard]] std::string quoted(const std::string& word);

// ---- the exit statuses, as in the section EXIT STATUS of upgraderctl(1)

inline constexpr int exit_done = 0;
inline constexpr int exit_usage = 1;
inline constexpr int exit_absent = 2;
inline constexpr int exit_refused = 3;
inline constexpr int exit_kept = 4;
inline constexpr int exit_fell_back = 5;
inline constexpr int exit_ended = 6;
inline constexpr int exit_unknown = 7;

// If a signal interrupts upgraderctl, the exit status is this value plus the number of the signal,
// as in a shell.
inline constexpr int exit_signal_base = 128;

// Returns true if an errno value means that the user lacks a permission. A command that needs the
// permission then ends with exit_refused.
[[nodiscard]] bool is_forbidden(int error_number);

// Returns the exit status of a command that could not read a file: exit_refused if a permission is
// missing, otherwise exit_absent. `error_number` is the errno value of the failure.
[[nodiscard]] int status_of_trouble(int error_number);

}  // namespace upgraderctl
