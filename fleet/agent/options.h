// fleet-agent's command line as plain data. The page fleet-agent(8) says what the options mean.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "fleet/common/store_options.h"

namespace fleet {

struct AgentOptions {
  // Another upgrader of this machine.
  struct Component {
    std::string name;
    std::string control;   // its control directory
    std::string releases;  // the directory of its releases
  };

  std::string node;  // its name
  StoreOptions store;
  std::string releases;                    // the directory of this program's releases
  std::string keys;                        // of public keys
  std::vector<std::string> allowed_files;  // directories whose files are taken as releases, too
  std::string state;                       // a directory of its own, which outlives it
  std::string hooks = "/etc/upgrader/hooks.d";
  std::string reboot_command;  // empty: this machine is not rebooted by orders
  std::string reboot_asked = "/run/reboot-required";        // a file: an upgrade has asked for it
  std::string boot_id = "/proc/sys/kernel/random/boot_id";  // a file
  std::string machine_id = "/etc/machine-id";               // a file
  std::vector<std::string> labels;                          // NAME=VALUE
  std::vector<Component> components;
  int lease_s = 30;
  int trial_s = 60;
  bool self_test = false;
};

struct AgentText {  // to show, and to exit with
  std::string text;
  int status = 0;
};

[[nodiscard]] std::variant<AgentOptions, AgentText> agent_options(int argc, char** argv,
                                                                  const std::string& version);

}  // namespace fleet
