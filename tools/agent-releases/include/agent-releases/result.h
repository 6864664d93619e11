// A value, or the sentence that says why there is none, and what kind of trouble that is.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace agent_releases {

// The kind of a refusal. agent-releases has an exit status for each.
enum class Trouble : std::uint8_t {
  usage,    // what was asked for makes no sense
  absent,   // what was asked for does not exist
  refused,  // a rule forbids it: signature, hash, name, machine, expiry, still in use
  cut_off,  // it could not be fetched; the same command goes on where it ended
  system,   // the system refused: no space, no permission, an error of a disk
  damaged,  // what is on disk is not what was added
};

struct Refusal {
  std::string reason;  // for people, without a full stop
  Trouble trouble = Trouble::refused;
};

template <class Value>
class [[nodiscard]] Result {
 public:
  Result(Value value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Refusal refusal) : content_(std::in_place_index<1>, std::move(refusal)) {}

  [[nodiscard]] explicit operator bool() const { return content_.index() == 0; }

  // Only where there is a value.
  [[nodiscard]] const Value& value() const { return std::get<0>(content_); }
  [[nodiscard]] Value& value() { return std::get<0>(content_); }

  // Only where there is none.
  [[nodiscard]] const Refusal& refusal() const { return std::get<1>(content_); }
  [[nodiscard]] const std::string& reason() const { return refusal().reason; }

 private:
  std::variant<Value, Refusal> content_;
};

// Of a deed that has no value: it is done, or the sentence says why not.
using Outcome = Result<std::monostate>;

}  // namespace agent_releases
