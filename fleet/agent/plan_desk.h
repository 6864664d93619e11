// Carries out this node's part in all plans. For each plan, an object of the class PlanPart decides
// what this node does. This class gives each PlanPart the store's records, runs the hooks that the
// PlanPart requests, and writes the records that the PlanPart makes.
#pragma once

#include <uv.h>

#include <map>
#include <memory>
#include <string>

#include "fleet/agent/component.h"
#include "fleet/agent/hook_run.h"
#include "fleet/model/agent/plan_follower.h"
#include "fleet/store/mirror.h"

namespace fleet {

class PlanDesk {
 public:
  struct Settings {
    std::string hooks = {};           // the directory of the node's hooks
    std::string reboot_command = {};  // the program that reboots the machine; may be empty
    std::string version = {};         // the version of this fleet-agent
    std::uint64_t seed = 0;
  };

  PlanDesk(uv_loop_t& loop, NodeDesk& desk, Settings settings);

  // Gives the current records to each PlanPart, the object that decides what this node does for one
  // plan. Called when the node's records have changed, and when this process becomes or ceases to
  // be the node's active fleet-agent.
  void look();
  // Kills all hooks, since none may run beside a hook of the next process of fleet-agent. Spares
  // the reboot command: the reboot may be the reason why this process must exit.
  void kill_hooks();

 private:
  struct Running {
    explicit Running(PlanPart fresh) : part(std::move(fresh)) {}

    PlanPart part;
    std::unique_ptr<HookRun> hook = {};
    bool reboots = false;  // the running hook is the command to reboot
    std::unique_ptr<Timer> again = {};
  };

  [[nodiscard]] bool is_wanted(const std::string& text) const;
  void look_at(const std::string& plan, const KeyValue& record);
  [[nodiscard]] PlanSeen seen(const std::string& plan, const KeyValue& record) const;
  void feed(const std::string& plan, const PlanPartEvent& event);
  void perform(const std::string& plan, const RunHook& run);
  void perform(const std::string& plan, const WriteMember& write);
  static void perform(const std::string& /*plan*/, const NothingToDo& /*nothing*/) {}

  uv_loop_t& loop_;
  NodeDesk& desk_;
  Settings settings_;
  std::map<std::string, Running> running_;
  Mirror plans_;
};

}  // namespace fleet
