// Simulates a cell in which somebody writes random records. The cell also has good nodes, a good
// rollout and a good desired version, which must make progress. In each round the controllers
// decide, and their transactions are committed. The store must accept everything that the
// controllers write, and other programs must be able to read it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fleet/controller/driving.h"
#include "fleet/model/history/events.h"
#include "fleet/model/releases/release_watcher.h"
#include "tests/together/fleet/record_maker.h"
#include "tests/together/fleet/test_store.h"

namespace fleet_test {

// Bugs that are injected into this simulation on purpose. The checks must find each of these bugs.
enum class Planted {
  none,
  abort,
  raw_byte,
  long_record,
  exception,
  endless,
  forbidden_write  // a controller writes a key that it has no right to write
};

// The name by which callers of commit() mark a transaction of fleet-signer.
inline constexpr std::string_view signer = "the signer";

class RecordWorld {
 public:
  RecordWorld(std::uint64_t seed, Planted planted);

  // Runs the simulation to its end, or to the first fault.
  void live();
  // Returns the first fault of the simulation, or an empty text.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  void put_bystanders();
  void write_odd_records();
  void drive_all();
  void drive(const std::string& name, std::unique_ptr<fleet::AnyDriver> driver,
             fleet::LeaseId lease);
  // Performs one action of the driver. Returns false if the driver has ended.
  bool perform(fleet::AnyDriver& driver, const fleet::DriverAction& action,
               std::vector<fleet::DriverAction>& asked, const std::string& name);
  void good_nodes_act();
  void look_at_history();
  void tell_people();
  void watch_releases();
  void renew_certificates();
  void let_machines_join();
  void judge_neighbours();
  fleet::Outcome commit(fleet::Transaction transaction, const std::string& who);
  void is_wrong(const std::string& what);
  [[nodiscard]] std::map<std::string, fleet::KeyValue, std::less<>> records() const;

  RecordMaker maker_;
  Planted planted_;
  TestStore store_;
  fleet::Notices notices_;
  fleet::ReleaseWatcher watcher_;
  fleet::Ms now_ = 1'000'000;
  fleet::LeaseId next_lease_ = 100;
  std::string wrong_;
};

// Returns why a program that reads this key would refuse this value, or an empty text.
[[nodiscard]] std::string why_unreadable(const std::string& key, const std::string& value);

// ---- Each of these functions (record_programs.cc) runs one program on the records in the store.
// It returns the first fault that it finds, or an empty text.

[[nodiscard]] std::string wrong_in_fleetctl(const TestStore& store, RecordMaker& maker,
                                            Planted planted);
[[nodiscard]] std::string wrong_in_http(const TestStore& store, RecordMaker& maker);
[[nodiscard]] std::string wrong_in_agent(const TestStore& store, RecordMaker& maker);

// These two functions check the output of a program. The first one checks a text for a terminal,
// line by line, and the second one checks JSON. They return the first fault, or an empty text.
[[nodiscard]] std::string wrong_on_terminal(const std::string& text);
[[nodiscard]] std::string wrong_json(const std::string& text);

}  // namespace fleet_test
