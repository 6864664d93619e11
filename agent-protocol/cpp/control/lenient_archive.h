// A cereal archive that reads as much as it can of one line of JSON. It is for files whose writer
// may be newer or older than this program, so it never refuses anything: if a member is absent,
// occurs twice, or has another type than its destination, the destination is left unchanged.
#pragma once

#include <cereal/cereal.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_line.h"
#include "base/moment.h"

namespace upgraderctl {

class LenientArchive : public cereal::InputArchive<LenientArchive> {
 public:
  // The JsonLine must outlive the archive.
  explicit LenientArchive(const agent_protocol::JsonLine& line)
      : cereal::InputArchive<LenientArchive>(this), line_(line) {}

  template <class Value>
  void read_member(std::string_view name, Value& value) {
    const agent_protocol::JsonLine::Found found = line_.find(object_, name);
    if (found.index != agent_protocol::JsonLine::root && !found.twice) read(found.index, value);
  }

 private:
  using Kind = agent_protocol::JsonLine::Kind;

  [[nodiscard]] bool is(std::size_t index, Kind kind) const {
    return line_.node(index).kind == kind;
  }

  bool read(std::size_t index, std::string& value);
  bool read(std::size_t index, bool& value);
  bool read(std::size_t index, std::int64_t& value);
  bool read(std::size_t index, Moment& value);

  template <class Value>
  bool read(std::size_t index, std::optional<Value>& value) {
    Value present{};
    if (!read(index, present)) return false;
    value = std::move(present);
    return true;
  }

  // Reads an array, and leaves out the elements that have another type than `Value`.
  template <class Value>
  bool read(std::size_t index, std::vector<Value>& values) {
    if (!is(index, Kind::array)) return false;
    const std::size_t end = line_.after(index);
    for (std::size_t element = index + 1; element < end; element = line_.after(element)) {
      Value value{};
      if (read(element, value)) values.push_back(std::move(value));
    }
    return true;
  }

  // Reads a structure that has a function `serialize` of its own.
  template <class Value>
  bool read(std::size_t index, Value& value) {
    if (!is(index, Kind::object)) return false;
    const std::size_t outer = std::exchange(object_, index);
    (*this)(value);
    object_ = outer;
    return true;
  }

  const agent_protocol::JsonLine& line_;
  // the index of the JSON object whose members are being read
  std::size_t object_ = agent_protocol::JsonLine::root;
};

// The function that cereal calls for each name-value pair, which is one member.
template <class Value>
void load(LenientArchive& archive, cereal::NameValuePair<Value>& pair) {
  archive.read_member(pair.name, pair.value);
}

}  // namespace upgraderctl
