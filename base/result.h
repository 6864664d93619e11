// A value, or the sentence that says why there is none. Used where a peer's bytes may be wrong:
// a peer's mistake is data, never an exception.
#pragma once

#include <cerrno>
#include <string>
#include <utility>
#include <variant>

namespace agent_protocol {

struct Refusal {
  std::string reason;         // for people, without a full stop
  int error_number = EINVAL;  // for a program; 0 if no errno applies
  bool missing = false;       // what was asked for does not exist itself, and not a part of it

  bool operator==(const Refusal&) const = default;
};

template <class Value>
class [[nodiscard]] Result {
 public:
  Result(Value value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Refusal refusal) : content_(std::in_place_index<1>, std::move(refusal)) {}

  [[nodiscard]] explicit operator bool() const { return content_.index() == 0; }

  // The value. Call it only if the result holds one: otherwise std::get aborts, or throws where
  // exceptions are compiled in.
  [[nodiscard]] const Value& value() const { return std::get<0>(content_); }
  [[nodiscard]] Value& value() { return std::get<0>(content_); }

  // The refusal, and its sentence. Call them only if the result holds no value.
  [[nodiscard]] const Refusal& refusal() const { return std::get<1>(content_); }
  [[nodiscard]] const std::string& reason() const { return refusal().reason; }

 private:
  std::variant<Value, Refusal> content_;
};

}  // namespace agent_protocol

namespace upgrader {
using agent_protocol::Refusal;
using agent_protocol::Result;
}  // namespace upgrader
