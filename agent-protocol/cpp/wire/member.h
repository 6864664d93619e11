// The members of messages: the types of their values, and the rules for each type. serialize.h says
// which member has which rule; the archives apply the rules when they read and when they write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent-protocol/cpp/wire/message.h"

namespace agent_protocol {

// The largest integer that every reader of JSON reads exactly (RFC 8259, section 6).
inline constexpr std::int64_t integer_max = 9'007'199'254'740'991;

// A rule for a text, which is always UTF-8 without U+0000.
struct TextRule {
  enum class Form { any, printable_ascii, absolute_path };
  std::size_t bytes_max = line_bytes_max;          // the most bytes of the unescaped text
  std::size_t escaped_bytes_max = line_bytes_max;  // the most bytes when it is escaped, unquoted
  // With printable_ascii or absolute_path, the text must not be empty, either.
  Form form = Form::any;
};

struct RangeRule {
  std::int64_t min = 1;
  std::int64_t max = integer_max;
};

struct TextsRule {
  std::size_t count_max = 0;
  TextRule each;
  bool may_be_absent = false;  // if true, an empty list is written by leaving out the member
};

struct NameRule {
  std::span<const std::string_view> names;
};

struct TruthRule {};

// The rule for a structure that has a `serialize` of its own.
struct ObjectRule {};

// A reference to a value, and its rule. A value that is a std::optional may be absent. Both are
// references, so a Member is small: two addresses.
template <class Rule, class Value>
struct Member {
  Value& value;
  const Rule& rule;
};

template <TextRule of>
inline constexpr TextRule text_rule = of;
template <RangeRule of>
inline constexpr RangeRule range_rule = of;
template <TextsRule of>
inline constexpr TextsRule texts_rule = of;
template <class Enum>
inline constexpr NameRule name_rule{names_of<Enum>};
inline constexpr TruthRule truth_rule;
inline constexpr ObjectRule object_rule;

template <class Value>
Member<TextRule, Value> text(Value& value) {
  return {value, text_rule<TextRule{}>};
}

template <std::size_t bytes_max, std::size_t escaped_bytes_max = line_bytes_max, class Value>
Member<TextRule, Value> limited(Value& value) {
  return {value,
          text_rule<TextRule{.bytes_max = bytes_max, .escaped_bytes_max = escaped_bytes_max}>};
}

template <class Value>
Member<TextRule, Value> identifier(Value& value) {
  return {value,
          text_rule<TextRule{.bytes_max = id_bytes_max, .form = TextRule::Form::printable_ascii}>};
}

template <std::size_t bytes_max, class Value>
Member<TextRule, Value> absolute_path(Value& value) {
  return {value,
          text_rule<TextRule{.bytes_max = bytes_max, .form = TextRule::Form::absolute_path}>};
}

template <std::int64_t min, std::int64_t max, class Value>
Member<RangeRule, Value> ranged(Value& value) {
  return {value, range_rule<RangeRule{.min = min, .max = max}>};
}

template <std::size_t count_max, std::size_t bytes_max, class Value>
Member<TextsRule, Value> texts(Value& value) {
  return {value, texts_rule<TextsRule{.count_max = count_max, .each = {.bytes_max = bytes_max}}>};
}

template <std::size_t count_max, std::size_t bytes_max>
Member<TextsRule, std::vector<std::string>> texts_or_none(std::vector<std::string>& value) {
  return {value,
          texts_rule<TextsRule{
              .count_max = count_max, .each = {.bytes_max = bytes_max}, .may_be_absent = true}>};
}

template <class Enum>
Member<NameRule, Enum> one_of_the_names(Enum& value) {
  return {value, name_rule<Enum>};
}

template <class Enum>
Member<NameRule, std::optional<Enum>> one_of_the_names(std::optional<Enum>& value) {
  return {value, name_rule<Enum>};
}

inline Member<TruthRule, bool> truth(bool& value) {
  return {value, truth_rule};
}

template <class Value>
Member<ObjectRule, Value> object(Value& value) {
  return {value, object_rule};
}

}  // namespace agent_protocol
