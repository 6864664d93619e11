// Keeps the record that shows that a process runs: `signer/NAME` for a fleet-signer, and
// `controller/NAME/life/ID` for a fleet-controller. The record has a lease, so the record
// disappears from the store soon after the process has exited.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fleet/store/alive.h"
#include "fleet/store/lease_keeper.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

class Presence {
 public:
  // `key` is the key of the record that shows this process. `denied` gets the store's message each
  // time it denies the write, for example for lack of permission.
  Presence(
      Store& store, Timers& timers, std::string key, std::uint64_t seed,
      std::function<void(const std::string& why)> denied = [](const std::string&) {});

  // Writes the record with this value as soon as this process has a lease, and again after each
  // loss of it. The same transaction writes the records `lasting`, which have no lease and so
  // outlive the process.
  void show(std::string value, std::vector<Put> lasting = {});
  // Ends the lease, so that the store erases the record. The records `lasting` stay.
  void end();

 private:
  void write();
  void take(const Outcome& outcome);

  Store& store_;
  Timers& timers_;
  std::string key_;
  std::function<void(const std::string&)> denied_;
  std::string wanted_;  // the record's wanted value; empty until show() is called
  std::vector<Put> lasting_;
  bool stands_ = false;
  bool writing_ = false;
  std::unique_ptr<Timer> retry_;
  Alive alive_;
  LeaseKeeper keeper_;
};

}  // namespace fleet
