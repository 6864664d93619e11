// Sorts the arguments of a command line before the options are parsed. Finds the NAME of an
// upgrader, the command, and EXECUTABLE. EXECUTABLE and the arguments after it are never options.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/upgraderctl/core/options.h"

namespace upgraderctl {

struct CommandName {
  Command command;
  const char* name;
  const char* about;
};

// The name of each command and a description of it, in the order of the enum Command.
inline constexpr CommandName command_names[] = {
    {Command::list, "list", "every upgrader below /run/upgrader"},
    {Command::status, "status", "what runs, what is under way, and how the last upgrade ended"},
    {Command::upgrade, "upgrade", "start an upgrade and wait for its end"},
    {Command::rehearse, "rehearse", "start the candidate of an upgrade, and cancel it when ready"},
    {Command::confirm, "confirm", "open the gate of the upgrade under way"},
    {Command::cancel, "cancel", "give the upgrade under way up, before anything is stopped"},
    {Command::commit, "commit", "vouch for the agent on trial"},
    {Command::rollback, "rollback", "roll the agent on trial back"},
    {Command::history, "history", "how upgrades ended, in this life of the upgrader and before"},
    {Command::why, "why", "why the last upgrade that failed has failed"},
    {Command::wait, "wait", "wait for the end of the upgrade under way, or for a phase"},
    {Command::on, "on", "run a command whenever an agent is good, or an upgrade has ended"},
    {Command::shutdown, "shutdown", "end the upgrader and its agent, and wait for that"},
};

struct Words {
  std::optional<std::string> name;
  std::vector<std::string> options;  // the command and its options
  std::vector<std::string> tail;     // EXECUTABLE and the arguments after it
};

[[nodiscard]] Words take_apart(const std::vector<std::string>& words);

}  // namespace upgraderctl
