// The result of a function: a value, or a sentence that says why there is no value.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace sample_agent {

struct Refusal {
  std::string reason;  // a sentence for people, without a full stop
};

template <class Value>
class [[nodiscard]] Result {
 public:
  Result(Value value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Refusal refusal) : content_(std::in_place_index<1>, std::move(refusal)) {}

  [[nodiscard]] explicit operator bool() const { return content_.index() == 0; }

  // Returns the value. Must be called only if there is a value.
  [[nodiscard]] const Value& value() const { return std::get<0>(content_); }
  [[nodiscard]] Value& value() { return std::get<0>(content_); }

  // Returns the reason why there is no value. Must be called only if there is no value.
  [[nodiscard]] const std::string& reason() const { return std::get<1>(content_).reason; }

 private:
  std::variant<Value, Refusal> content_;
};

// The result of a function that returns no value: success, or a sentence that says why it has
// failed.
using Outcome = Result<std::monostate>;

}  // namespace sample_agent
