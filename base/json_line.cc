// Parses one line of JSON strictly by RFC 8259, in one pass over a copy of the line, without
// recursion. A number stays a text, since some machines have no floating point. The protocol
// forbids some values that JSON allows, such as a lone surrogate. They are refused only in members
// that a message reads: an unknown member may have any value.
#include "base/json_line.h"

#include <array>

#include "base/form.h"
#include "base/utf8.h"

namespace agent_protocol {
namespace {

// The most digits of an integer: enough for every integer of the protocol, and few enough for an
// integer of 64 bits.
constexpr std::size_t integer_digits_max = 18;
static_assert(nesting_max == 32, "Parser::open() says so");

constexpr std::size_t unicode_escape_bytes = 6;  // the bytes of an escape such as \u00e9

constexpr const char* legal_character = "a legal character or escape";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_high_surrogate(int value) {
  return value >= 0xd800 && value <= 0xdbff;
}
bool is_low_surrogate(int value) {
  return value >= 0xdc00 && value <= 0xdfff;
}

// Returns the character that a backslash and `c` stand for; NUL if JSON has no such escape.
char escaped(char c) {
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  const std::size_t found = letters.find(c);
  return found == std::string_view::npos ? '\0' : meanings[found];
}

// Stores the values of a line as nodes, and unescapes its texts in place. A NUL follows the line.
// NUL is valid nowhere in JSON, so the parser stops there without a check for the end of the line.
class Parser {
 public:
  using Kind = JsonLine::Kind;
  using Node = JsonLine::Node;

  Parser(std::string& bytes, std::vector<Node>& nodes) : bytes_(bytes), nodes_(nodes) {}

  // Parses the line. Returns null if the line is valid, otherwise what was expected at the byte
  // where parsing stopped. All functions here that return a `const char*` do the same.
  [[nodiscard]] const char* parse() {
    skip_blanks();
    for (bool over = false; !over;) {
      if (const char* const expected = value()) return expected;
      if (const char* const expected = next_value(over)) return expected;
    }
    return at_ == bytes_.size() ? nullptr : "the end of the line";
  }

  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  // Reads a value. If the value is an array or an object, reads only its opening bracket.
  [[nodiscard]] const char* value() {
    switch (here()) {
      case '{':
        return open(Kind::object);
      case '[':
        return open(Kind::array);
      case '"':
        return text();
      case 't':
        return literal("true", {.size = 1, .kind = Kind::boolean});
      case 'f':
        return literal("false", {.kind = Kind::boolean});
      case 'n':
        return literal("null", {.kind = Kind::null});
      default:
        return number();
    }
  }

  // Goes to the beginning of the next value: past the ends of arrays and objects, past commas, and
  // past the name of a member. Sets `over` if there is no next value, because the outermost object
  // has ended.
  [[nodiscard]] const char* next_value(bool& over) {
    for (;;) {
      skip_blanks();
      over = depth_ == 0;
      if (over) return nullptr;
      Node& holder = nodes_[open_[depth_ - 1]];
      const bool is_object = holder.kind == Kind::object;
      if (here() != (is_object ? '}' : ']')) {
        if (!empty_ && here() != ',') return is_object ? ", or }" : ", or ]";
        if (!empty_) ++at_;
        empty_ = false;
        skip_blanks();
        if (!is_object) return nullptr;
        if (here() != '"') return "a member's name";
        if (const char* const expected = text()) return expected;
        skip_blanks();
        if (here() != ':') return "a colon";
        ++at_;
        skip_blanks();
        return nullptr;
      }
      holder.size = static_cast<std::uint32_t>(nodes_.size() - open_[--depth_] - 1);
      empty_ = false;
      ++at_;
    }
  }

  [[nodiscard]] const char* open(Kind kind) {
    if (depth_ == nesting_max) return "at most 32 levels";
    open_[depth_++] = nodes_.size();
    nodes_.push_back({.kind = kind});
    empty_ = true;
    ++at_;
    return nullptr;
  }

  [[nodiscard]] const char* literal(std::string_view spelling, Node node) {
    for (const char c : spelling) {
      if (here() != c) return "a value";
      ++at_;
    }
    nodes_.push_back(node);
    return nullptr;
  }

  [[nodiscard]] const char* number() {
    const std::size_t begin = at_;
    if (here() == '-') ++at_;
    const std::size_t first = at_;
    if (here() == '0') {
      ++at_;
    } else if (digits() != nullptr) {
      return "a value";
    }
    bool is_integer = at_ - first <= integer_digits_max;
    if (here() == '.') {
      ++at_;
      is_integer = false;
      if (const char* const expected = digits()) return expected;
    }
    if (here() == 'e' || here() == 'E') {
      ++at_;
      is_integer = false;
      if (here() == '+' || here() == '-') ++at_;
      if (const char* const expected = digits()) return expected;
    }
    std::size_t size = at_ - begin;
    if (!is_integer) {  // replace a number that is not an integer by "0e0", which no member accepts
      constexpr std::string_view spelling = "0e0";
      bytes_.replace(first, spelling.size(), spelling);
      size = first - begin + spelling.size();
    }
    nodes_.push_back({.begin = static_cast<std::uint32_t>(begin),
                      .size = static_cast<std::uint32_t>(size),
                      .kind = Kind::number});
    return nullptr;
  }

  [[nodiscard]] const char* digits() {
    if (!is_digit(here())) return "a digit";
    while (is_digit(here()))
      ++at_;
    return nullptr;
  }

  [[nodiscard]] const char* text() {
    const std::size_t begin = ++at_;
    out_ = begin;
    while (here() != '"') {
      if (at_ == bytes_.size()) return "a closing quote";
      if (static_cast<unsigned char>(here()) < 0x20) return legal_character;
      if (here() == '\\') {
        if (const char* const expected = escape()) return expected;
        continue;
      }
      std::size_t count = utf8_character_bytes(std::string_view(bytes_).substr(at_));
      if (count == 0) return "UTF-8";
      for (; count > 0; --count)
        bytes_[out_++] = bytes_[at_++];
    }
    ++at_;
    nodes_.push_back({.begin = static_cast<std::uint32_t>(begin),
                      .size = static_cast<std::uint32_t>(out_ - begin),
                      .kind = Kind::text});
    return nullptr;
  }

  [[nodiscard]] const char* escape() {
    if (bytes_[at_ + 1] != 'u') {
      const char meaning = escaped(bytes_[at_ + 1]);
      if (meaning == '\0') return legal_character;
      bytes_[out_++] = meaning;
      at_ += 2;
      return nullptr;
    }
    int character = hexadecimal(at_ + 2);
    if (character < 0) return legal_character;
    at_ += unicode_escape_bytes;
    if (is_high_surrogate(character) && here() == '\\' && bytes_[at_ + 1] == 'u') {
      if (const int low = hexadecimal(at_ + 2); is_low_surrogate(low)) {
        character = 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00);
        at_ += unicode_escape_bytes;
      }
    }
    const bool is_lone = is_high_surrogate(character) || is_low_surrogate(character);
    // The character takes no more bytes than its escape, so the escape can be overwritten in place.
    out_ += write_utf8(is_lone ? 0 : character, &bytes_[out_]);
    return nullptr;
  }

  // Returns the value of the four hexadecimal digits at `begin`, or -1.
  [[nodiscard]] int hexadecimal(std::size_t begin) const {
    int number = 0;
    for (std::size_t i = begin; i < begin + 4; ++i) {
      const char c = bytes_[i];
      if (!is_digit(c) && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F')) return -1;
      number = number * 16 + (is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return number;
  }

  void skip_blanks() {
    while (here() == ' ' || here() == '\t' || here() == '\n' || here() == '\r')
      ++at_;
  }

  [[nodiscard]] char here() const { return bytes_[at_]; }

  std::string& bytes_;
  std::vector<Node>& nodes_;
  std::size_t at_ = 0;
  std::size_t out_ = 0;  // inside a text: the index at which the next unescaped byte is stored
  std::array<std::size_t, nesting_max> open_{};  // the arrays and objects that are not yet closed
  std::size_t depth_ = 0;
  bool empty_ = false;  // the last byte read was the opening bracket of an array or object
};

}  // namespace

// Reserves room for the most nodes that a line of this length can have. In a valid line, each node
// takes at least two bytes. In an invalid line, up to nesting_max opening brackets may not be
// closed, and each is a node of one byte.
JsonLine::JsonLine(std::string_view line) : bytes_(line) {
  nodes_.reserve(line.size() / 2 + nesting_max);
}

Result<JsonLine> JsonLine::parse(std::string_view line) {
  JsonLine parsed(line);
  Parser parser(parsed.bytes_, parsed.nodes_);
  if (const char* const expected = parser.parse()) {
    return Refusal{"no JSON at byte " + decimal(static_cast<std::int64_t>(parser.at()) + 1) +
                   " (expected " + expected + ")"};
  }
  if (parsed.nodes_[root].kind != Kind::object) return Refusal{"no object"};
  return parsed;
}

std::size_t JsonLine::after(std::size_t index) const {
  const Node& node = nodes_[index];
  const bool holds_nodes = node.kind == Kind::array || node.kind == Kind::object;
  return index + 1 + (holds_nodes ? node.size : 0);
}

std::string_view JsonLine::text(std::size_t index) const {
  return std::string_view(bytes_).substr(nodes_[index].begin, nodes_[index].size);
}

JsonLine::Found JsonLine::find(std::size_t object, std::string_view name) const {
  Found found;
  const std::size_t end = after(object);
  for (std::size_t index = object + 1; index < end; index = after(index + 1)) {
    if (text(index) != name) continue;
    found.twice = found.index != root;
    if (found.twice) break;
    found.index = index + 1;
  }
  return found;
}

}  // namespace agent_protocol
