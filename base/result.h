// A value, or a refusal: a sentence that says why there is no value. It is used, for example, for
// bytes from another program, which may be wrong. A refusal is a normal value, never an exception.
#pragma once

#include <cerrno>
#include <string>
#include <utility>
#include <variant>

namespace agent_protocol {

struct Refusal {
  std::string reason;         // a sentence for people, without a full stop
  int error_number = EINVAL;  // the errno value for programs; 0 if none fits
  // True only if a file was refused because it does not exist. False if the file exists but needs
  // another file that does not, such as an interpreter.
  bool missing = false;

  bool operator==(const Refusal&) const = default;
};

template <class Value>
class [[nodiscard]] Result {
 public:
  Result(Value value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Refusal refusal) : content_(std::in_place_index<1>, std::move(refusal)) {}

  [[nodiscard]] explicit operator bool() const { return content_.index() == 0; }

  // Returns the value. Must be called only if there is one: otherwise std::get aborts, or throws in
  // builds with exceptions.
  [[nodiscard]] const Value& value() const { return std::get<0>(content_); }
  [[nodiscard]] Value& value() { return std::get<0>(content_); }

  // The next two functions return the refusal, and its reason. They must be called only if there is
  // no value.
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
