// The meaning of a failed call: whether it may be tried again, and what it says about the question.
// Pure: the sentences compared here are etcd's own.
#pragma once

#include <string>
#include <string_view>

namespace fleet {

// A call that has failed.
struct CallFailure {
  int code = -1;            // the status of gRPC; -1 if there was none
  std::string reason = {};  // for people
  bool sent = true;         // false if the member has certainly not seen the call
};

enum class Meaning {
  passing,     // may succeed at another member, or later
  denied,      // will always fail
  lease_gone,  // there is no such lease
  compacted,   // the store has forgotten this revision
};

[[nodiscard]] Meaning meaning_of(const CallFailure& failure);

// Returns whether the failed call has certainly written nothing.
[[nodiscard]] bool certainly_not_written(const CallFailure& failure);

}  // namespace fleet
