// A cell in which somebody writes random records. It also has good nodes, a good rollout and a good
// desired version, which must make progress. Controllers work in rounds: they decide, and their
// transactions are committed. The store must accept everything that they write, and other programs
// must be able to read it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fleet/controller/driving.h"
#include "fleet/model/notices.h"
#include "fleet/model/release_watcher.h"
#include "tests/together/fleet/record_maker.h"
#include "tests/together/fleet/test_store.h"

namespace fleet_test {

// Errors that are planted in the world itself. The checks must find each of them.
enum class Planted {
  none,
  abort,
  raw_byte,
  long_record,
  exception,
  endless,
  forbidden_write  // a controller writes a record to which it has no right
};

// The name that commit() is given for writes of fleet-signer.
inline constexpr std::string_view signer = "the signer";

class RecordWorld {
 public:
  RecordWorld(std::uint64_t seed, Planted planted);

  // Runs all rounds of the simulation.
  void live();
  // Returns the first fault that was found, or an empty text.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  void put_neighbours();
  void write_odd_records();
  void drive_all();
  void drive(const std::string& name, std::unique_ptr<fleet::AnyDriver> driver,
             fleet::LeaseId lease);
  // Returns false if the driver has ended.
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

// Returns why a reader of this key would refuse the record, or an empty text.
[[nodiscard]] std::string why_unreadable(const std::string& key, const std::string& value);

// ---- Each function runs one program on these records. Returns the first fault, or an empty text.

[[nodiscard]] std::string wrong_in_fleetctl(const TestStore& store, RecordMaker& maker,
                                            Planted planted);
[[nodiscard]] std::string wrong_in_http(const TestStore& store, RecordMaker& maker);
[[nodiscard]] std::string wrong_in_agent(const TestStore& store, RecordMaker& maker);

// Each returns the first fault of an output, or an empty text. The output is text for a terminal,
// which is checked line by line, or JSON for a program.
[[nodiscard]] std::string wrong_on_terminal(const std::string& text);
[[nodiscard]] std::string wrong_json(const std::string& text);

}  // namespace fleet_test
