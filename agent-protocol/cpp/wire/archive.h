// Two archives for cereal's `serialize` functions: one writes and one reads a line of JSON. The
// line may come from a hostile peer: the archives apply the rules of member.h, never throw, and
// remember the first member that breaks a rule. They do not use cereal's own base classes, which
// keep tables of pointers and types that messages do not need.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent-protocol/cpp/wire/member.h"
#include "base/json_line.h"
#include "base/result.h"

namespace agent_protocol {

// The common part of the writing and the reading archive: the path to the member that is being
// handled, and the first refusal.
class Refusals {
 public:
  [[nodiscard]] const std::optional<std::string>& refusal() const { return refusal_; }
  [[nodiscard]] int error_number() const { return error_number_; }

  void refuse(std::string reason, int error_number = EINVAL) {
    if (refusal_) return;
    refusal_ = std::move(reason);
    error_number_ = error_number;
  }

 protected:
  // Records a refusal. Its text is the member's name in quotes, a blank, and `what`.
  void refuse_member(const char* name, std::string_view what, int error_number = EINVAL);

  // The next three functions each check a rule. If a value breaks the rule, they record a refusal
  // and return false.
  bool keeps_rule(const char* name, std::string_view value, const TextRule& rule);
  bool keeps_rule(const char* name, std::int64_t value, const RangeRule& rule);
  bool keeps_count(const char* name, std::size_t count, const TextsRule& rule);

  std::string path_;  // for refusals: the name of the open object and a dot; empty at the top level
  std::string element_;  // for refusals: "an element of " while an element of a list is checked

 private:
  std::optional<std::string> refusal_;
  int error_number_ = 0;
};

// Writes the line of a message: its type, and then its members, without white space, and escaped as
// the protocol requires.
class WritingArchive : public Refusals {
 public:
  explicit WritingArchive(std::string_view type);

  // Writes all members of a structure. A function `serialize` is used for reading as well as for
  // writing, so it needs a structure that is not const. It does not change it when it writes.
  template <class Structure>
  void write_all(const Structure& from) {
    serialize(*this, const_cast<Structure&>(from));
  }

  // cereal calls this function for each name-value pair, which is one member.
  void operator()(const auto&... pairs) {
    (write_member(pairs.name, pairs.value.value, pairs.value.rule), ...);
  }

  // Returns the line with its newline. If a member was refused, returns the reason why the first
  // such member was refused. Must be the last call.
  [[nodiscard]] Result<std::string> line();

  void write_member(const char* name, const auto& value, const auto& rule) {
    begin_member(name);
    write(name, value, rule);
  }

  template <class Value>
  [[gnu::noinline]] void write_member(const char* name, const std::optional<Value>& value,
                                      const auto& rule) {
    if (value) write_member(name, *value, rule);
  }

  void write_member(const char* name, const std::vector<std::string>& value,
                    const TextsRule& rule) {
    if (value.empty() && rule.may_be_absent) return;
    begin_member(name);
    write(name, value, rule);
  }

 private:
  void begin_member(const char* name);
  void write(const char* name, const std::string& value, const TextRule& rule);
  void write(const char* name, std::int64_t value, const RangeRule& rule);
  void write(const char* name, bool value, const TruthRule& rule);
  void write(const char* name, const std::vector<std::string>& value, const TextsRule& rule);
  void write_name(const char* name, std::size_t index, const NameRule& rule);

  void write(const char* name, auto value, const NameRule& rule) {
    write_name(name, static_cast<std::size_t>(value), rule);
  }

  template <class Enum>
  void write(const char* name, const OpenName<Enum>& value, const TextRule& rule) {
    if (value.later) return write(name, *value.later, rule);
    write(name, value.known, name_rule<Enum>);
  }

  void write(const char* name, const auto& value, const ObjectRule&) {
    const std::size_t path_bytes = path_.size();
    path_.append(name).append(".");
    line_ += '{';
    write_all(value);
    line_ += '}';
    path_.resize(path_bytes);
  }

  std::string line_;
};

// Reads the members of a message from a line. Members that are not asked for are ignored. If a
// member is refused, its destination stays unchanged, and the remaining members are still read.
class ReadingArchive : public Refusals {
 public:
  // The JsonLine must outlive the archive.
  explicit ReadingArchive(const JsonLine& line) : line_(line) {}

  void operator()(const auto&... pairs) {
    (read_member(pairs.name, pairs.value.value, pairs.value.rule), ...);
  }

  void read_member(const char* name, auto& value, const auto& rule) {
    if (const std::optional<std::size_t> index = find(name, true)) read(name, *index, value, rule);
  }

  // Reads one member. Not inlined, so that the program has one copy of this code for each type of
  // member.
  template <class Value>
  [[gnu::noinline]] void read_member(const char* name, std::optional<Value>& value,
                                     const auto& rule) {
    const std::optional<std::size_t> index = find(name, false);
    if (!index) return;
    Value present{};
    if (read(name, *index, present, rule)) value = std::move(present);
  }

  void read_member(const char* name, std::vector<std::string>& value, const TextsRule& rule) {
    const std::optional<std::size_t> index = find(name, !rule.may_be_absent);
    if (index) read(name, *index, value, rule);
  }

 private:
  // Returns the node of the member called `name`, if there is exactly one. Refuses a member that
  // occurs twice, or that is required and absent.
  std::optional<std::size_t> find(const char* name, bool required);

  bool has_kind(const char* name, std::size_t index, JsonLine::Kind kind, std::string_view wanted);

  bool read(const char* name, std::size_t index, std::string& value, const TextRule& rule);
  bool read(const char* name, std::size_t index, std::int64_t& value, const RangeRule& rule);
  bool read(const char* name, std::size_t index, bool& value, const TruthRule& rule);
  bool read(const char* name, std::size_t index, std::vector<std::string>& value,
            const TextsRule& rule);
  std::optional<std::size_t> read_name(const char* name, std::size_t index, const NameRule& rule);

  template <class Enum>
  bool read(const char* name, std::size_t index, Enum& value, const NameRule& rule) {
    const std::optional<std::size_t> number = read_name(name, index, rule);
    if (number) value = static_cast<Enum>(*number);
    return number.has_value();
  }

  template <class Enum>
  void read(const char* name, std::size_t index, OpenName<Enum>& value, const TextRule& rule) {
    // If the text is refused, the whole message is, so nobody reads `value`.
    std::string text;
    static_cast<void>(read(name, index, text, rule));
    if (const std::optional<Enum> known = named<Enum>(text)) {
      value.known = *known;
    } else {
      value.later = std::move(text);
    }
  }

  bool read(const char* name, std::size_t index, auto& value, const ObjectRule&) {
    if (!has_kind(name, index, JsonLine::Kind::object, "an object")) return false;
    const std::size_t outer = std::exchange(object_, index);
    const std::size_t path_bytes = path_.size();
    path_.append(name).append(".");
    serialize(*this, value);
    path_.resize(path_bytes);
    object_ = outer;
    return true;
  }

  const JsonLine& line_;
  // the index of the JSON object whose members are being read
  std::size_t object_ = JsonLine::root;
};

}  // namespace agent_protocol
