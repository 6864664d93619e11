// Keeps the record of this process, signer/NAME, in the store, on a lease: it disappears soon after
// the process has ended.
#pragma once

#include <memory>
#include <string>

#include "fleet/model/join_records.h"
#include "fleet/store/lease_keeper.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

class Presence {
 public:
  // `key` is the key of the record.
  Presence(Store& store, Timers& timers, std::string key, std::uint64_t seed);

  // Writes the record as soon as there is a lease, and again after each loss of the lease.
  void show(const SignerAtWork& state);
  // Gives the lease back, and so removes the record.
  void end();

 private:
  void write();

  Store& store_;
  Timers& timers_;
  std::string key_;
  std::string wanted_;  // empty until show() is called
  bool stands_ = false;
  bool writing_ = false;
  std::unique_ptr<Timer> retry_;
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
  LeaseKeeper keeper_;
};

}  // namespace fleet
