// Texts with values in them: `"upgrade {} refused: {}"_with(id, reason)` replaces each {} by the
// next value. The wrong number of {} is a compile error. A value is a text of any kind, a whole
// number, or an object with a function in_words(). `_with` compiles to one call, while `+` needs a
// call for each part, so `_with` makes a small program smaller by a tenth.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace agent_protocol {

// The kind of a value. A text such as "upgrade {} refused" is stored with one byte in the place of
// each {}: the kind of the value that belongs there. These bytes are control characters, which do
// not occur in the texts themselves.
enum class ValueKind : char { text = 1, number, told };

// A text as an argument of filled(). filled() takes C-style variable arguments (...), which cannot
// be objects such as std::string.
struct Text {
  const char* begin;
  std::size_t size;
};

// A value that is neither a text nor a number, with the function that turns it into a text.
struct Told {
  const void* value;
  std::string (*in_words)(const void* value);
};

template <class Value>
consteval ValueKind kind_of() {
  if (std::integral<Value>) return ValueKind::number;
  return std::convertible_to<const Value&, std::string_view> ? ValueKind::text : ValueKind::told;
}

// Converts a value to an argument for filled(). A number is copied; any other value is pointed to,
// and must live until filled() has returned.
template <class Value>
auto handed(const Value& value) {
  if constexpr (kind_of<Value>() == ValueKind::number) {
    return static_cast<std::int64_t>(value);
  } else if constexpr (kind_of<Value>() == ValueKind::text) {
    const std::string_view text = value;
    return Text{text.data(), text.size()};
  } else {
    return Told{&value, [](const void* it) { return in_words(*static_cast<const Value*>(it)); }};
  }
}

// Returns the number in decimal digits, with a minus sign if it is negative. std::to_string would
// make the static program half a KB larger, because it contains a table of two hundred digits.
inline std::string decimal(std::int64_t number) {
  char digits[20];
  char* begin = std::end(digits);
  auto rest = static_cast<std::uint64_t>(number < 0 ? -(number + 1) : number) + (number < 0);
  do {
    *--begin = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (number < 0) *--begin = '-';
  return {begin, std::end(digits)};
}

// Returns the text with the values in their places. `form`, which with_kinds() makes, has a byte (a
// ValueKind) in the place of each value. The caller must have converted the values by handed().
[[nodiscard]] std::string filled(const char* form, ...);

// A string literal that can be a template argument.
template <std::size_t size>
struct Written {
  // Converts a literal. Not explicit, so that a plain literal can be used as the template argument.
  consteval Written(const char (&literal)[size]) {  // NOLINT(google-explicit-constructor)
    std::copy_n(literal, size, bytes);
  }
  char bytes[size]{};
};

// Called at compile time if a form has more values than places {}. The function is not constexpr,
// so the compilation fails, and the compiler's message shows this name.
void a_value_has_no_place();

// Converts the text `written` to a form for filled(), at compile time: replaces each {} by one
// byte, the kind of the value that belongs there. The form ends with a zero.
template <Written written, ValueKind... kinds>
consteval auto with_kinds() {
  constexpr std::array<ValueKind, sizeof...(kinds)> all{kinds...};
  std::array<char, sizeof(written.bytes) - sizeof...(kinds)> form{};
  std::size_t value = 0;
  std::size_t end = 0;
  for (std::size_t at = 0; at < sizeof(written.bytes); ++at) {
    const bool is_place = written.bytes[at] == '{' && written.bytes[at + 1] == '}';
    form.at(end++) = is_place ? static_cast<char>(all.at(value++)) : written.bytes[at];
    if (is_place) ++at;
  }
  if (value != sizeof...(kinds)) a_value_has_no_place();
  return form;
}

template <Written written>
struct Form {
  template <class... Values>
  [[nodiscard, gnu::always_inline]] std::string operator()(const Values&... values) const {
    static constexpr auto form = with_kinds<written, kind_of<Values>()...>();
    return filled(form.data(), handed(values)...);
  }
};

template <Written written>
consteval Form<written> operator""_with() {
  return {};
}

}  // namespace agent_protocol

namespace upgrader {
using agent_protocol::operator""_with;
}  // namespace upgrader
