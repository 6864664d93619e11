// What a member of a message may hold: its value, and the rule for it. serialize.h says which
// member has which; the archives apply the rules, to what is read and to what is written alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent-protocol/wire/message.h"
#include "agent-protocol/wire/names.h"

namespace agent_protocol {

// Readers of JSON need not agree on an integer that is larger (RFC 8259, section 6).
inline constexpr std::int64_t integer_max = 9'007'199'254'740'991;

// Every text is UTF-8 without U+0000.
struct TextRule {
  enum class Form { any, printable_ascii, absolute_path };
  std::size_t bytes_max = line_bytes_max;          // unescaped
  std::size_t escaped_bytes_max = line_bytes_max;  // as written, without the quotes
  Form form = Form::any;                           // printable_ascii and absolute_path: not empty
};

struct RangeRule {
  std::int64_t min = 1;
  std::int64_t max = integer_max;
};

struct TextsRule {
  std::size_t count_max = 0;
  TextRule each;
  bool may_be_absent = false;  // true: an empty list is written as an absent member
};

struct NameRule {
  std::span<const std::string_view> names;
};

struct TruthRule {};

// The members of a structure that has a `serialize` of its own.
struct ObjectRule {};

// A value that is a std::optional may be absent.
template <class Rule, class Value>
struct Member {
  Value& value;
  Rule rule;
};

template <class Value>
Member<TextRule, Value> text(Value& value) {
  return {value, {}};
}

template <class Value>
Member<TextRule, Value> limited(Value& value, std::size_t bytes_max) {
  return {value, {.bytes_max = bytes_max}};
}

template <class Value>
Member<TextRule, Value> limited(Value& value, std::size_t bytes_max,
                                std::size_t escaped_bytes_max) {
  return {value, {.bytes_max = bytes_max, .escaped_bytes_max = escaped_bytes_max}};
}

template <class Value>
Member<TextRule, Value> identifier(Value& value) {
  return {value, {.bytes_max = id_bytes_max, .form = TextRule::Form::printable_ascii}};
}

template <class Value>
Member<TextRule, Value> absolute_path(Value& value, std::size_t bytes_max) {
  return {value, {.bytes_max = bytes_max, .form = TextRule::Form::absolute_path}};
}

template <class Value>
Member<RangeRule, Value> ranged(Value& value, std::int64_t min, std::int64_t max) {
  return {value, {.min = min, .max = max}};
}

template <class Value>
Member<TextsRule, Value> texts(Value& value, std::size_t count_max, std::size_t bytes_max) {
  return {value, {.count_max = count_max, .each = {.bytes_max = bytes_max}}};
}

inline Member<TextsRule, std::vector<std::string>> texts_or_none(std::vector<std::string>& value,
                                                                 std::size_t count_max,
                                                                 std::size_t bytes_max) {
  return {value, {.count_max = count_max, .each = {.bytes_max = bytes_max}, .may_be_absent = true}};
}

template <class Enum>
Member<NameRule, Enum> one_of_the_names(Enum& value) {
  return {value, {names_of<Enum>}};
}

template <class Enum>
Member<NameRule, std::optional<Enum>> one_of_the_names(std::optional<Enum>& value) {
  return {value, {names_of<Enum>}};
}

inline Member<TruthRule, bool> truth(bool& value) {
  return {value, {}};
}

template <class Value>
Member<ObjectRule, Value> object(Value& value) {
  return {value, {}};
}

}  // namespace agent_protocol
