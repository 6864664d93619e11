// Decides from the gRPC status and etcd's error message what a failed call to etcd means: may a
// repeated call succeed, and may the failed call have written something? Does no input or output.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "fleet/store/store.h"

namespace fleet {

// The failure of a call to etcd.
struct CallFailure {
  int code = -1;            // the gRPC status code; -1 if there was none
  std::string reason = {};  // why the call failed, for people
  bool sent = true;         // false if the member has certainly not received the call
};

enum class Meaning {
  passing,     // a later call, or a call to another member, may succeed
  denied,      // a repeated call would fail, too
  lease_gone,  // the lease does not exist
  compacted,   // the wanted revision is so old that the store has removed it
};

[[nodiscard]] Meaning meaning_of(const CallFailure& failure);

[[nodiscard]] Trouble trouble_of(const CallFailure& failure);

// Returns the answer to a call, parsed by the function `read`. Returns a Trouble if the call has
// failed, or if `read` cannot parse the answer.
template <class Value, class Read>
Reply<Value> answer_from(const std::variant<std::string, CallFailure>& ended, const Read& read) {
  if (const auto* failure = std::get_if<CallFailure>(&ended)) return trouble_of(*failure);
  if (auto value = read(std::get<std::string>(ended))) return *std::move(value);
  return Trouble{Trouble::Kind::unreachable, "an answer that is none"};
}

// Returns whether the failed call has certainly written nothing.
[[nodiscard]] bool certainly_not_written(const CallFailure& failure);

}  // namespace fleet
