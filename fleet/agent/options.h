// fleet-agent's command line as plain data. fleet-agent(8) describes the options.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/common/store_options.h"

namespace fleet {

// The options of `fleet-agent join`.
struct JoinOptions {
  std::string token = "-";  // a file; `-` for standard input
  std::string node;         // empty: the machine's host name
  std::string root;         // a directory in the place of `/`; empty for this machine itself
  int wait_s = 60;
};

struct AgentOptions {
  // A component that another upgrader on this machine runs.
  struct Component {
    std::string name;
    std::string control;   // the upgrader's control directory
    std::string releases;  // the directory of the component's releases
  };

  std::string node;  // the node's name
  StoreOptions store;
  std::string releases;                    // the directory of this program's releases
  std::string keys;                        // a directory with public keys
  std::vector<std::string> allowed_files;  // directories whose files may be releases, too
  std::string state;  // a directory of fleet-agent's own that outlives each process
  std::string hooks = "/etc/upgrader/hooks.d";
  std::string reboot_command;  // empty if commands cannot reboot this machine
  // The path of a file that exists if an upgrade has asked for a reboot.
  std::string reboot_asked = "/run/reboot-required";
  // The path of a file that holds an id, which changes at each boot.
  std::string boot_id = "/proc/sys/kernel/random/boot_id";
  std::string machine_id = "/etc/machine-id";  // a file with an id that differs between machines
  std::vector<std::string> labels;             // NAME=VALUE
  std::vector<Component> components;
  int lease_s = 30;
  int trial_s = 60;
  bool self_test = false;
  std::optional<JoinOptions> join;  // the program is to join a cell, and not to be an agent
};

struct AgentText {  // the text to show before the program exits
  std::string text;
  int status = 0;
};

[[nodiscard]] std::variant<AgentOptions, AgentText> agent_options(int argc, char** argv,
                                                                  const std::string& version);

}  // namespace fleet
