// fleet-agent's command line as plain data. fleet-agent(8) describes the options.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/common/store_options.h"
#include "fleet/model/agent/capsule.h"

namespace fleet {

// The options of `fleet-agent join`.
struct JoinOptions {
  std::string token = "-";  // path of the file with the token; `-` means standard input
  std::string node;         // the node's name; if empty, the machine's host name
  std::string root;         // a directory to use instead of `/`; if empty, `/`
  int wait_s = 60;
};

struct AgentOptions {
  // A component that has an upgrader of its own on this machine.
  struct Component {
    std::string name;
    std::string control;   // the upgrader's control directory
    std::string releases;  // the directory of the component's releases
  };
  // A source of one component's measures, such as a number of errors. The component `agent` is
  // fleet-agent itself.
  struct Measures {
    std::string component;
    std::string source;  // the option's value, which parse_measure_source() parses
  };

  std::string node;  // the node's name
  StoreOptions store;
  std::string releases;  // the directory of fleet-agent's releases
  std::string keys;      // a directory with the public keys of publishers
  // The directories below which `file:` URLs may name files.
  std::vector<std::string> allowed_files;
  // How many releases of each component stay on disk: an upgrade removes the oldest. With 0, all
  // stay.
  std::size_t keep = 5;
  std::string state;  // the directory in which fleet-agent keeps its ledgers and its other files
  std::string hooks = "/etc/upgrader/hooks.d";
  // A program that reboots the machine. If it is empty, no order can reboot the machine.
  std::string reboot_command;
  // The path of a file that a new version creates if it needs a reboot of the machine.
  std::string reboot_asked = "/run/reboot-required";
  // The path of a file with an id that changes at each boot.
  std::string boot_id = "/proc/sys/kernel/random/boot_id";
  std::string machine_id = "/etc/machine-id";  // the file whose content identifies this machine
  std::vector<std::string> labels;             // the node's labels, each as NAME=VALUE
  std::vector<Component> components;
  std::vector<Measures> measures;
  int lease_s = 30;
  int trial_s = 60;
  // How much the node reports about a failed upgrade: for example only the reason, or the reason
  // and the last lines of output.
  EvidenceLevel evidence = EvidenceLevel::reason;
  bool self_test = false;
  // The options of `fleet-agent join`. If set, the program joins a cell and exits.
  std::optional<JoinOptions> join;
};

[[nodiscard]] std::variant<AgentOptions, Text> agent_options(int argc, char** argv,
                                                             const std::string& version);

}  // namespace fleet
