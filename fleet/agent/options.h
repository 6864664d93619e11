// fleet-agent's command line as plain data. fleet-agent(8) describes the options.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/common/store_options.h"
#include "fleet/model/capsule.h"

namespace fleet {

// The options of `fleet-agent join`.
struct JoinOptions {
  std::string token = "-";  // the path of the file with the token; `-`: standard input
  std::string node;         // the node's name; empty: the machine's host name
  std::string root;         // a directory to use instead of `/`; empty: this machine itself
  int wait_s = 60;
};

struct AgentOptions {
  // A component that another upgrader on this machine runs.
  struct Component {
    std::string name;
    std::string control;   // the upgrader's control directory
    std::string releases;  // the directory of the component's releases
  };
  // A source of measures of one component. The component `agent` is fleet-agent itself.
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
  std::string state;  // the directory in which fleet-agent keeps its ledgers and its other files
  std::string hooks = "/etc/upgrader/hooks.d";
  // a command that reboots the machine; if empty, no order can reboot it
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
  // How much the node reports about a version that has failed.
  EvidenceLevel evidence = EvidenceLevel::reason;
  bool self_test = false;
  // the options of `join`; if set, fleet-agent joins a cell and exits
  std::optional<JoinOptions> join;
};

struct AgentText {  // the text to show before the program exits
  std::string text;
  int status = 0;
};

[[nodiscard]] std::variant<AgentOptions, AgentText> agent_options(int argc, char** argv,
                                                                  const std::string& version);

}  // namespace fleet
