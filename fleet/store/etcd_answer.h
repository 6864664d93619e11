// Decides what the failure of a call to etcd means: whether another try may help, and whether the
// call may have written something. Recognises failures by etcd's error messages. Does no input or
// output.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "fleet/store/store.h"

namespace fleet {

// The failure of a call to etcd.
struct CallFailure {
  int code = -1;            // the gRPC status; -1 if the answer had none
  std::string reason = {};  // why the call failed, for people
  bool sent = true;         // false if the member has certainly not received the call
};

enum class Meaning {
  passing,     // a later try, or another member, may succeed
  denied,      // another try would fail, too
  lease_gone,  // the lease does not exist (any more)
  compacted,   // the wanted revision is so old that the store has removed it
};

[[nodiscard]] Meaning meaning_of(const CallFailure& failure);

[[nodiscard]] Trouble trouble_of(const CallFailure& failure);

// Parses the bytes of an answer with `read`, and returns the result. Returns an error if the call
// failed, or if `read` cannot parse the bytes.
template <class Value, class Read>
Reply<Value> answer_from(const std::variant<std::string, CallFailure>& ended, const Read& read) {
  if (const auto* failure = std::get_if<CallFailure>(&ended)) return trouble_of(*failure);
  if (auto value = read(std::get<std::string>(ended))) return *std::move(value);
  return Trouble{Trouble::Kind::unreachable, "an answer that is none"};
}

// Returns true if the failed call has certainly not written anything.
[[nodiscard]] bool certainly_not_written(const CallFailure& failure);

}  // namespace fleet
