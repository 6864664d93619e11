// A simulated machine on a clock that a test moves. The machine has a disk, an upgrader with one
// daemon, and a fleet-agent. Of fleet-agent's code, only the part that handles commands runs here,
// with a connection to the store. A test may kill fleet-agent at any moment; the upgrader then
// continues its work.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fleet/model/agent/node_commander.h"
#include "fleet/store/mirror.h"
#include "tests/together/fleet/fake_store.h"

namespace fleet_test {

inline constexpr std::string_view day_component = "web";

// The moment at which a bad version fails. This moment is the same on every machine.
enum class Fault { none, at_prepare, at_start, at_soak };

class DayMachine {
 public:
  struct World {
    fleet::VirtualTime& time;
    fleet::FakeCell& cell;
    std::function<Fault(const std::string& version)> fault;
    // Injects a bug that the test must find: if true, the disk loses its contents when fleet-agent
    // is killed.
    bool forgets = false;
  };

  DayMachine(World world, std::string name, std::uint64_t seed);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] bool is_on_trial() const { return trial_.has_value(); }
  // These functions return how often each command was carried out, by the id of the command, and
  // how often an upgrade to each version was begun.
  [[nodiscard]] const std::map<std::string, int>& carried_out() const { return carried_out_; }
  [[nodiscard]] const std::map<std::string, int>& begun() const { return begun_; }

  void set_faults(fleet::Faults faults);
  void set_reachable(bool reachable);
  // Kills fleet-agent, and starts it again after `dead_for`.
  void kill(fleet::Ms dead_for);
  [[nodiscard]] bool is_alive() const { return agent_ != nullptr; }

 private:
  struct Trial {
    std::string id = {};
    std::string from = {};
    fleet::Ms began = 0;
    std::optional<fleet::Ms> activated = {};
  };
  // One process of fleet-agent.
  struct Agent {
    Agent(DayMachine& machine, std::uint64_t seed);

    void enter();
    void look();
    void take(const fleet::NodeEvent& event);
    void expect_deadline();
    void perform(const fleet::Save& save);
    void perform(const fleet::Ask& ask);
    void perform(const fleet::Report& report);
    void perform(const fleet::DoPrepare& order);
    void perform(const fleet::BeginUpgrade& begin);
    void perform(const fleet::SendCommit& commit);
    void perform(const fleet::GoBack& back);
    void perform(const fleet::PassGate&) {}
    void perform(const fleet::Reboot&) {}
    // Calls `call` after the delay, unless this process of fleet-agent is killed before then.
    void later(fleet::Ms delay, std::function<void()> call);

    DayMachine& machine_;
    std::string instance_;
    fleet::FakeStore store_;
    fleet::NodeCommander commander_;
    std::pair<std::string, fleet::Revision> seen_ = {};
    std::unique_ptr<fleet::Timer> deadline_;
    std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
    // The mirror (a local copy of the store's records) may call functions of this structure as soon
    // as it is constructed. These functions use the other members, so `mirror_` must be the last
    // member.
    fleet::Mirror mirror_;
  };

  void start();
  [[nodiscard]] fleet::Restarted restarted() const;
  void begin_upgrade(const fleet::BeginUpgrade& begin);
  void activate(const std::string& id, const std::string& version, fleet::Ms trial_ms);
  void end_trial(fleet::UpgradeEnding ending, const std::string& why, bool expired);
  [[nodiscard]] fleet::Ms now() const { return world_.time.now().count(); }

  World world_;
  std::string name_;
  std::uint64_t seed_;
  std::uint64_t starts_ = 0;
  fleet::Faults faults_ = {};
  fleet::NodeLedger disk_;
  std::string version_ = "1";
  std::optional<Trial> trial_;
  fleet::UpgradeEnded last_;
  std::map<std::string, int> carried_out_;
  std::map<std::string, int> begun_;
  std::unique_ptr<Agent> agent_;
};

}  // namespace fleet_test
