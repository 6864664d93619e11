// A cell in which somebody writes whatever he likes, beside nodes, a rollout and a wish that are
// right and must go on. What a controller decides is decided on it, round by round, and written;
// all that is written must be such as a store takes and as others read again.
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

// Errors seeded in what the world does itself; each must be found.
enum class Planted { none, abort, raw_byte, long_record, exception, endless };

class RecordWorld {
 public:
  RecordWorld(std::uint64_t seed, Planted planted);

  // Its whole life.
  void live();
  // The first fault that was found, or empty.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  void put_neighbours();
  void write_odd_records();
  void drive_all();
  void drive(const std::string& name, std::unique_ptr<fleet::AnyDriver> driver,
             fleet::LeaseId lease);
  // False: the driver has ended.
  bool perform(fleet::AnyDriver& driver, const fleet::DriverAction& action,
               std::vector<fleet::DriverAction>& asked, const std::string& name);
  void good_nodes_act();
  void look_at_history();
  void tell_people();
  void watch_releases();
  void renew_certificates();
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

// Why whoever reads the record at this key would refuse it; empty: he would not.
[[nodiscard]] std::string why_unreadable(const std::string& key, const std::string& value);

// ---- those who only look, or act for a node: what is wrong with what they show or write

[[nodiscard]] std::string wrong_in_fleetctl(const TestStore& store, RecordMaker& maker,
                                            Planted planted);
[[nodiscard]] std::string wrong_in_http(const TestStore& store, RecordMaker& maker);
[[nodiscard]] std::string wrong_in_agent(const TestStore& store, RecordMaker& maker);

// Text for a terminal, line by line; JSON for a program.
[[nodiscard]] std::string wrong_on_terminal(const std::string& text);
[[nodiscard]] std::string wrong_json(const std::string& text);

}  // namespace fleet_test
