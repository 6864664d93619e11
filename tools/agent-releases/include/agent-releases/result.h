// The result of a function: a value, or a refusal with the reason in words and the kind of trouble.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace agent_releases {

// The kinds of trouble that cause a refusal. agent-releases has an exit status for each kind.
enum class Trouble : std::uint8_t {
  usage,   // the command line is wrong
  absent,  // the requested thing does not exist
  // a rule forbids it: a wrong signature, hash, name or machine, an expired manifest, or a release
  // that is still in use
  refused,
  cut_off,  // a fetch was interrupted; the same command can continue it
  system,   // the system refused: no space, no permission, a disk error
  damaged,  // the bytes on disk are not those that were added
};

struct Refusal {
  std::string reason;  // a sentence for people, without a full stop
  Trouble trouble = Trouble::refused;
  // the errno of the system call that failed, if it is known, otherwise 0; ENOENT also if a server
  // has answered that it does not have the file
  int error_number = 0;
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

  // Returns the refusal. Must be called only if there is no value.
  [[nodiscard]] const Refusal& refusal() const { return std::get<1>(content_); }
  [[nodiscard]] const std::string& reason() const { return refusal().reason; }

 private:
  std::variant<Value, Refusal> content_;
};

// The result of a function that returns no value: success, or a refusal.
using Outcome = Result<std::monostate>;

}  // namespace agent_releases
