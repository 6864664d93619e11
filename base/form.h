// Texts with values in them: `"upgrade {} refused: {}"_with(id, reason)` is the text in which each
// {} has been replaced by the next of the values. A form with more or fewer places than values does
// not compile. A value is a text of any kind, a whole number, or an object of a type that has a
// function in_words().
//
// One call makes the whole text, while `"upgrade " + id + ...` makes one text for each `+`. With
// the one call, a small program is smaller by a tenth.
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

// A form is stored with one byte in the place of each {}, which tells the kind of the value. These
// bytes are control characters that no text contains.
enum class ValueKind : char { text = 1, number, told };

// A text as filled() takes it: filled() has C-style variable arguments, which must be plain
// structures.
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

// Returns the argument for filled() that stands for a value. It points to the value itself unless
// that is a number, so the value must live until the whole text is made.
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
// make the static program half a KB larger, by its table of two hundred digits.
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

// Returns `form` with the values put in their places. The byte in each place says the value's kind.
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

// Called at compile time if a form has fewer places than values. Since this function is not
// constexpr, the compilation fails at that call, and the compiler's message shows the function's
// name.
void a_value_has_no_place();

// Makes the form of `written`: each {} becomes the byte for the kind of its value; a zero ends the
// form.
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
