// The syntax of JSON is checked by RapidJSON, which is cereal's own JSON engine: in place, without
// recursion, and with its stack in a fixed pool that it cannot outgrow. Where RapidJSON is narrower
// than RFC 8259 (a lone surrogate, a number beyond a double's range) the line is changed before, so
// that such a value makes trouble only where a message wants it, and not in a member that nobody
// knows.
#include "agent-protocol/wire/json_line.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "agent-protocol/wire/form.h"
#include "agent-protocol/wire/message.h"
#include "agent-protocol/wire/utf8.h"

// In a namespace of our own, so that an agent may link RapidJSON compiled with other settings; and
// with assertions that stay on. None of them depends on the bytes that are parsed.
#define RAPIDJSON_NAMESPACE agent_protocol::rapidjson
#define RAPIDJSON_NAMESPACE_BEGIN namespace agent_protocol::rapidjson {
#define RAPIDJSON_NAMESPACE_END }
#define RAPIDJSON_ASSERT(condition) ((condition) ? static_cast<void>(0) : std::abort())
// RapidJSON 1.1.0 adds to the null pointer of a stack that is not there yet, and compares:
// harmless, but a sanitizer ends the program for it.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/reader.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif

namespace agent_protocol {
namespace {

// RapidJSON looks up to three bytes past the end of a line that ends within a character.
constexpr std::size_t padding_bytes = 4;

// Every integer of the protocol fits, and so does every such number in 64 bits.
constexpr std::size_t integer_digits_max = 18;

static_assert(nesting_max == 32, "expected_by() says so");

// RapidJSON's stack holds two words of 32 bits for each level, also for the one too deep.
constexpr std::size_t stack_bytes = (nesting_max + 1) * 2 * sizeof(std::uint32_t);

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t digits_end(const std::string& bytes, std::size_t at) {
  while (is_digit(bytes[at]))
    ++at;
  return at;
}

// Where the longest number without a minus that begins at `at` ends; `at` itself where none does.
std::size_t number_end(const std::string& bytes, std::size_t at) {
  if (!is_digit(bytes[at])) return at;
  std::size_t end = bytes[at] == '0' ? at + 1 : digits_end(bytes, at);
  if (bytes[end] == '.' && is_digit(bytes[end + 1])) end = digits_end(bytes, end + 1);
  if (bytes[end] != 'e' && bytes[end] != 'E') return end;
  const bool has_sign = bytes[end + 1] == '+' || bytes[end + 1] == '-';
  const std::size_t exponent = end + (has_sign ? 2 : 1);
  return is_digit(bytes[exponent]) ? digits_end(bytes, exponent) : end;
}

// Puts 0e0 in the place of a number that is no short integer: it is as good a number, and as little
// an integer, but RapidJSON does not refuse the whole line for its size. The replacement cannot
// merge with what follows, which is never a digit.
void tame_number(std::string& bytes, std::size_t begin, std::size_t end) {
  const std::string_view number = std::string_view(bytes).substr(begin, end - begin);
  const bool whole = number.find_first_of(".eE") == std::string_view::npos;
  if (whole && number.size() <= integer_digits_max) return;
  constexpr std::string_view tame = "0e0";
  const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(begin);
  std::fill(first, bytes.begin() + static_cast<std::ptrdiff_t>(end), ' ');
  std::copy(tame.begin(), tame.end(), first);
}

// The value of `\uXXXX` at `at`, or -1 if it is none.
int unicode_escape(const std::string& bytes, std::size_t at) {
  if (bytes[at] != '\\' || bytes[at + 1] != 'u') return -1;
  int value = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) {
    const char c = bytes[i];
    if (!is_digit(c) && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F')) return -1;
    value = value * 16 + (is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return value;
}

bool is_high_surrogate(int value) {
  return value >= 0xd800 && value <= 0xdbff;
}
bool is_low_surrogate(int value) {
  return value >= 0xdc00 && value <= 0xdfff;
}

// Puts U+0000 in the place of a lone surrogate at `at`, where an escape begins. Answers the index
// behind the escape.
std::size_t tame_escape(std::string& bytes, std::size_t at) {
  constexpr std::size_t escape_bytes = 6;  // \uXXXX
  const int value = unicode_escape(bytes, at);
  if (value < 0) return at + 2;
  if (is_high_surrogate(value) && is_low_surrogate(unicode_escape(bytes, at + escape_bytes))) {
    return at + 2 * escape_bytes;
  }
  if (is_high_surrogate(value) || is_low_surrogate(value)) bytes.replace(at + 2, 4, "0000");
  return at + escape_bytes;
}

// Changes what RapidJSON would refuse although it is JSON; leaves JSON JSON, and what is none none.
void tame(std::string& bytes, std::size_t size) {
  bool in_text = false;
  for (std::size_t at = 0; at < size;) {
    if (in_text && bytes[at] == '\\') {
      at = tame_escape(bytes, at);
      continue;
    }
    if (bytes[at] == '"') in_text = !in_text;
    const std::size_t end = in_text ? at : number_end(bytes, at);
    tame_number(bytes, at, end);
    at = std::max(end, at + 1);
  }
}

// Takes RapidJSON's events, and writes them down as nodes.
class Recorder {
 public:
  using Kind = JsonLine::Kind;
  using Node = JsonLine::Node;

  Recorder(const char* begin, std::vector<Node>& nodes) : begin_(begin), nodes_(nodes) {}

  bool Null() { return record({.kind = Kind::null}); }
  bool Bool(bool value) { return record({.size = value ? 1U : 0U, .kind = Kind::boolean}); }
  bool RawNumber(const char* text, std::uint32_t size, bool) {
    return record({.begin = offset(text), .size = size, .kind = Kind::number});
  }
  bool String(const char* text, std::uint32_t size, bool) {
    return record({.begin = offset(text), .size = size, .kind = Kind::text});
  }
  bool Key(const char* text, std::uint32_t size, bool copy) { return String(text, size, copy); }
  bool StartObject() { return open(Kind::object); }
  bool EndObject(std::uint32_t) { return close(); }
  bool StartArray() { return open(Kind::array); }
  bool EndArray(std::uint32_t) { return close(); }

  // RapidJSON asks for these too, but was told to give numbers as they are spelled.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  [[nodiscard]] std::uint32_t offset(const char* text) const {
    return static_cast<std::uint32_t>(text - begin_);
  }

  bool record(Node node) {
    nodes_.push_back(node);
    return true;
  }

  bool open(Kind kind) {
    if (depth_ == nesting_max) return false;
    open_[depth_++] = nodes_.size();
    return record({.kind = kind});
  }

  bool close() {
    const std::size_t index = open_[--depth_];
    nodes_[index].size = static_cast<std::uint32_t>(nodes_.size() - index - 1);
    return true;
  }

  const char* begin_;
  std::vector<Node>& nodes_;
  std::array<std::size_t, nesting_max> open_{};  // the arrays and objects that have not ended
  std::size_t depth_ = 0;
};

}  // namespace

namespace {

// What was expected where RapidJSON stopped.
const char* expected_by(rapidjson::ParseErrorCode error) {
  switch (error) {
    case rapidjson::kParseErrorDocumentRootNotSingular:
      return "the end of the line";
    case rapidjson::kParseErrorObjectMissName:
      return "a member's name";
    case rapidjson::kParseErrorObjectMissColon:
      return "a colon";
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
      return ", or }";
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
      return ", or ]";
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
    case rapidjson::kParseErrorStringEscapeInvalid:
      return "a legal character or escape";
    case rapidjson::kParseErrorStringMissQuotationMark:
      return "a closing quote";
    case rapidjson::kParseErrorStringInvalidEncoding:
      return "UTF-8";
    case rapidjson::kParseErrorNumberMissFraction:
    case rapidjson::kParseErrorNumberMissExponent:
      return "a digit";
    case rapidjson::kParseErrorTermination:
      return "at most 32 levels";
    case rapidjson::kParseErrorNone:
    case rapidjson::kParseErrorDocumentEmpty:
    case rapidjson::kParseErrorValueInvalid:
    case rapidjson::kParseErrorNumberTooBig:
    case rapidjson::kParseErrorUnspecificSyntaxError:
      break;
  }
  return "a value";
}

Refusal refuse_at(std::size_t offset, rapidjson::ParseErrorCode error) {
  // Without a form: what takes JSON apart is linked by itself, too (agent-releases, the kit).
  return {"no JSON at byte " + decimal(static_cast<std::int64_t>(offset) + 1) + " (expected " +
          expected_by(error) + ")"};
}

}  // namespace

// A node takes at least two bytes of the line, but for the brackets that are never closed.
JsonLine::JsonLine(std::string_view line) {
  bytes_.reserve(line.size() + padding_bytes);
  bytes_.append(line).append(padding_bytes, '\0');
  nodes_.reserve(line.size() / 2 + nesting_max);
}

Result<JsonLine> JsonLine::parse(std::string_view line) {
  using Pool = rapidjson::MemoryPoolAllocator<>;
  constexpr unsigned flags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                             rapidjson::kParseNumbersAsStringsFlag;
  constexpr std::size_t pool_overhead_bytes = 64;

  JsonLine parsed(line);
  tame(parsed.bytes_, line.size());
  alignas(std::max_align_t) std::array<char, stack_bytes + pool_overhead_bytes> buffer;
  Pool pool(buffer.data(), buffer.size());
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, Pool> reader(&pool, stack_bytes);
  rapidjson::InsituStringStream stream(parsed.bytes_.data());
  Recorder recorder(parsed.bytes_.data(), parsed.nodes_);
  const rapidjson::ParseResult result = reader.Parse<flags>(stream, recorder);
  const std::size_t end = result.IsError() ? result.Offset() : stream.Tell();
  // RapidJSON does not look whether bytes are UTF-8. Outside of texts it takes nothing but ASCII,
  // so where the first bytes that are no UTF-8 come before its own complaint, a text has them.
  const std::size_t utf8_end = utf8_bytes(line);
  if (utf8_end < end) return refuse_at(utf8_end, rapidjson::kParseErrorStringInvalidEncoding);
  if (result.IsError()) return refuse_at(end, result.Code());
  // It takes a NUL byte for the end.
  if (end != line.size()) return refuse_at(end, rapidjson::kParseErrorDocumentRootNotSingular);
  if (parsed.nodes_[root].kind != Kind::object) return Refusal{"no object"};
  return parsed;
}

std::size_t JsonLine::after(std::size_t index) const {
  const Node& node = nodes_[index];
  const bool holds_nodes = node.kind == Kind::array || node.kind == Kind::object;
  return index + 1 + (holds_nodes ? node.size : 0);
}

std::string_view JsonLine::text(const Node& node) const {
  return std::string_view(bytes_).substr(node.begin, node.size);
}

JsonLine::Found JsonLine::find(std::size_t object, std::string_view name) const {
  Found found;
  const std::size_t end = after(object);
  for (std::size_t index = object + 1; index < end; index = after(index + 1)) {
    if (text(nodes_[index]) != name) continue;
    if (found.value != nullptr) {
      found.twice = true;
      break;
    }
    found.value = &nodes_[index + 1];
    found.index = index + 1;
  }
  return found;
}

}  // namespace agent_protocol
