// Decides what the failure of a call means: whether another try may help, and whether the call may
// have written something. Pure: compares the error messages of etcd.
#pragma once

#include <string>
#include <string_view>

namespace fleet {

// The failure of a call to etcd.
struct CallFailure {
  int code = -1;            // the status of gRPC; -1 if the answer had none
  std::string reason = {};  // why the call failed, for people
  bool sent = true;         // false: the member has certainly not seen the call
};

enum class Meaning {
  passing,     // another member, or a later try, may succeed
  denied,      // another try would fail, too
  lease_gone,  // the lease does not exist, or does not exist any more
  compacted,   // the store has removed old revisions, among them the wanted one
};

[[nodiscard]] Meaning meaning_of(const CallFailure& failure);

// Returns true if the failed call has certainly not written anything.
[[nodiscard]] bool certainly_not_written(const CallFailure& failure);

}  // namespace fleet
