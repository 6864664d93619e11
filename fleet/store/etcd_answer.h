// The meaning of a call's ending: whether it may be tried again, and what it says of the
// question. Pure: the sentences are etcd's own.
#pragma once

#include <string>
#include <string_view>

namespace fleet {

// A call that has not ended well.
struct CallFailure {
  int code = -1;            // gRPC's; -1: there was none
  std::string reason = {};  // for people
  bool sent = true;         // false: the member has certainly not seen it
};

enum class Meaning {
  passing,     // may end otherwise at another member, or later
  denied,      // will not
  lease_gone,  // there is no such lease
  compacted,   // that revision is forgotten
};

[[nodiscard]] Meaning meaning_of(const CallFailure& failure);

// Nothing was written, although the call failed.
[[nodiscard]] bool certainly_not_written(const CallFailure& failure);

}  // namespace fleet
