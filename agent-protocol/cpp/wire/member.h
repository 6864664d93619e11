// The types of the values that messages have, and the rules for each type. serialize.h says which
// member has which rule; the archives apply the rules when they read and when they write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "agent-protocol/cpp/wire/message.h"

namespace agent_protocol {

// The largest integer that every reader of JSON reads exactly (RFC 8259, section 6).
inline constexpr std::int64_t integer_max = 9'007'199'254'740'991;

// A rule for a text, which is always UTF-8 without U+0000.
struct TextRule {
  enum class Form { any, printable_ascii, absolute_path };
  std::size_t bytes_max = line_bytes_max;  // the most bytes of the unescaped text
  // the most bytes of the text with its escapes, without quotes
  std::size_t escaped_bytes_max = line_bytes_max;
  // A text of the form printable_ascii or absolute_path must also not be empty.
  Form form = Form::any;
};

struct RangeRule {
  std::int64_t min = 1;
  std::int64_t max = integer_max;
};

struct TextsRule {
  std::size_t count_max = 0;
  TextRule each;
  bool may_be_absent = false;  // true: an absent member means an empty list
};

struct NameRule {
  std::span<const std::string_view> names;
  // true: an unknown text, which a later upgrader may send, counts as an absent member
  bool is_open = false;
};

struct TruthRule {};

// The rule for a structure that has a `serialize` of its own.
struct ObjectRule {};

// A value whose set of names may grow: an agent must accept a name that only a later upgrader
// knows. A known name is stored in `known`, any other name in `later`.
template <class Enum>
struct OpenName {
  Enum& known;
  std::optional<std::string>& later;
};
template <class Enum>
OpenName(Enum&, std::optional<std::string>&) -> OpenName<Enum>;

// A value and its rule. A value of a std::optional type may be absent. A Member refers to value and
// rule, and copies neither.
template <class Rule, class Value>
struct Member {
  Value& value;
  const Rule& rule;
};
template <class Rule, class Value>
Member(Value&, const Rule&) -> Member<Rule, Value>;

// ---- the rules for the members of the protocol's messages

inline constexpr TextRule text_rule;
inline constexpr TextRule id_rule{.bytes_max = id_bytes_max,
                                  .form = TextRule::Form::printable_ascii};
inline constexpr TextRule executable_rule{.bytes_max = executable_bytes_max,
                                          .form = TextRule::Form::absolute_path};
inline constexpr TextRule version_rule{.bytes_max = version_bytes_max};
inline constexpr TextRule reason_rule{.bytes_max = reason_bytes_max};
inline constexpr TextRule status_rule{.bytes_max = status_bytes_max};
inline constexpr TextRule about_rule{.bytes_max = about_bytes_max};
inline constexpr TextRule state_rule{.bytes_max = state_bytes_max,
                                     .escaped_bytes_max = state_escaped_bytes_max};

inline constexpr RangeRule protocol_rule{.min = 1, .max = protocol_number_max};
inline constexpr RangeRule timeout_rule{.min = 0, .max = timeout_ms_max};
inline constexpr RangeRule positive_timeout_rule{.min = 1, .max = timeout_ms_max};
inline constexpr RangeRule positive_rule{.min = 1, .max = integer_max};
inline constexpr RangeRule integer_rule{.min = -integer_max, .max = integer_max};

inline constexpr TextsRule args_rule{.count_max = args_max, .each = text_rule};
inline constexpr TextsRule features_rule{.count_max = features_max,
                                         .each = {.bytes_max = feature_bytes_max}};
inline constexpr TextsRule features_or_none_rule{
    .count_max = features_max, .each = features_rule.each, .may_be_absent = true};

template <class Enum>
inline constexpr NameRule name_rule{names_of<Enum>};
template <class Enum>
inline constexpr NameRule open_name_rule{.names = names_of<Enum>, .is_open = true};
inline constexpr TruthRule truth_rule;
inline constexpr ObjectRule object_rule;

}  // namespace agent_protocol
