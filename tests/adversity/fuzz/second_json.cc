#include "tests/adversity/fuzz/second_json.h"

#include <utility>

#include "tests/adversity/fuzz/target.h"

namespace fuzz {

namespace {

bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

// Returns the value of a hexadecimal digit, or -1.
int hexadecimal(char byte) {
  if (is_digit(byte)) return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

void append_utf8(std::string& text, unsigned code) {
  const auto append = [&text](unsigned byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    append(code);
  } else if (code < 0x800) {
    append(0xc0 | (code >> 6));
    append(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    append(0xe0 | (code >> 12));
    append(0x80 | ((code >> 6) & 0x3f));
    append(0x80 | (code & 0x3f));
  } else {
    append(0xf0 | (code >> 18));
    append(0x80 | ((code >> 12) & 0x3f));
    append(0x80 | ((code >> 6) & 0x3f));
    append(0x80 | (code & 0x3f));
  }
}

class Reader {
 public:
  Reader(std::string_view line, int levels_max) : line_(line), levels_left_(levels_max) {}

  bool read_line(Json& value) {
    skip_space();
    if (!read_value(value)) return false;
    skip_space();
    return at_ == line_.size();
  }

 private:
  bool read_value(Json& value);
  bool read_number(Json& value);
  bool read_text(Json& value);
  bool read_escape(Json& value);
  bool read_four(unsigned& code);
  bool read_unicode(Json& value);
  bool read_utf8(Json& value);
  bool read_array(Json& value);
  bool read_object(Json& value);
  bool read_digits();

  // Returns the next byte. At the end of the line, returns NUL, which no JSON contains.
  [[nodiscard]] char peek() const { return at_ < line_.size() ? line_[at_] : '\0'; }

  bool take(char byte) {
    if (at_ == line_.size() || line_[at_] != byte) return false;
    ++at_;
    return true;
  }

  bool take_word(std::string_view word) {
    if (line_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  void skip_space() {
    while (take(' ') || take('\t') || take('\n') || take('\r'))
      continue;
  }

  std::string_view line_;
  std::size_t at_ = 0;
  int levels_left_;
};

bool Reader::read_value(Json& value) {
  switch (peek()) {
    case '{':
      return read_object(value);
    case '[':
      return read_array(value);
    case '"':
      return read_text(value);
    case 't':
      value.kind = Json::Kind::boolean;
      value.boolean = true;
      return take_word("true");
    case 'f':
      value.kind = Json::Kind::boolean;
      return take_word("false");
    case 'n':
      return take_word("null");
    default:
      return read_number(value);
  }
}

bool Reader::read_digits() {
  const std::size_t begin = at_;
  while (is_digit(peek()))
    ++at_;
  return at_ > begin;
}

// Reads a number by the rule of RFC 8259:
// [ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ( "e" / "E" ) [ sign ] 1*digit ]
bool Reader::read_number(Json& value) {
  value.kind = Json::Kind::number;
  const std::size_t begin = at_;
  take('-');
  if (!take('0') && !read_digits()) return false;
  if (planted("leading-zero")) read_digits();
  if (take('.') && !read_digits()) return false;
  if (take('e') || take('E')) {
    if (!take('+')) take('-');
    if (!read_digits()) return false;
  }
  value.number = line_.substr(begin, at_ - begin);
  return true;
}

bool Reader::read_text(Json& value) {
  value.kind = Json::Kind::text;
  if (!take('"')) return false;
  while (!take('"')) {
    if (at_ == line_.size() || static_cast<unsigned char>(peek()) < 0x20) return false;
    if (!(take('\\') ? read_escape(value) : read_utf8(value))) return false;
  }
  return true;
}

bool Reader::read_escape(Json& value) {
  if (take('u')) return read_unicode(value);
  static constexpr std::pair<char, char> escapes[] = {
      {'"', '"'},  {'\\', '\\'}, {'/', '/'},  {'b', '\b'},
      {'f', '\f'}, {'n', '\n'},  {'r', '\r'}, {'t', '\t'},
  };
  for (const auto& [name, byte] : escapes) {
    if (!take(name)) continue;
    value.text += byte;
    return true;
  }
  return false;
}

bool Reader::read_four(unsigned& code) {
  code = 0;
  for (int digits = 0; digits < 4; ++digits) {
    const int digit = hexadecimal(peek());
    if (digit < 0) return false;
    code = code * 16 + static_cast<unsigned>(digit);
    ++at_;
  }
  return true;
}

bool Reader::read_unicode(Json& value) {
  unsigned code = 0;
  if (!read_four(code)) return false;
  if (code < 0xd800 || code > 0xdfff) {
    append_utf8(value.text, code);
    return true;
  }
  const std::size_t after = at_;
  if (code < 0xdc00 && take_word("\\u")) {
    unsigned low = 0;
    if (!read_four(low)) return false;
    if (low >= 0xdc00 && low <= 0xdfff) {
      append_utf8(value.text, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
      return true;
    }
    // The escape that follows this surrogate is not the second half of a pair. So this surrogate is
    // a lone one, and the escape is read again as a separate character.
    at_ = after;
  }
  value.lone_surrogate = true;
  return true;
}

// Reads a character by RFC 3629's table of well-formed sequences.
bool Reader::read_utf8(Json& value) {
  const auto byte_at = [this](std::size_t index) -> unsigned {
    return at_ + index < line_.size() ? static_cast<unsigned char>(line_[at_ + index]) : 0U;
  };
  const unsigned first = byte_at(0);
  std::size_t size = 0;
  unsigned least = 0x80;
  unsigned most = 0xbf;
  if (first < 0x80) {
    size = 1;
  } else if (first >= 0xc2 && first <= 0xdf) {
    size = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    size = 3;
    if (first == 0xe0) least = 0xa0;
    if (first == 0xed) most = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    size = 4;
    if (first == 0xf0) least = 0x90;
    if (first == 0xf4) most = 0x8f;
  } else {
    return false;
  }
  for (std::size_t index = 1; index < size; ++index) {
    const unsigned next = byte_at(index);
    if (next < (index == 1 ? least : 0x80) || next > (index == 1 ? most : 0xbf)) return false;
  }
  value.text += line_.substr(at_, size);
  at_ += size;
  return true;
}

bool Reader::read_array(Json& value) {
  value.kind = Json::Kind::array;
  if (levels_left_ == 0 || !take('[')) return false;
  --levels_left_;
  skip_space();
  if (!take(']')) {
    do {
      skip_space();
      if (!read_value(value.items.emplace_back())) return false;
      skip_space();
    } while (take(','));
    if (!take(']')) return false;
  }
  ++levels_left_;
  return true;
}

bool Reader::read_object(Json& value) {
  value.kind = Json::Kind::object;
  if (levels_left_ == 0 || !take('{')) return false;
  --levels_left_;
  skip_space();
  if (!take('}')) {
    do {
      skip_space();
      if (!read_text(value.names.emplace_back())) return false;
      skip_space();
      if (!take(':')) return false;
      skip_space();
      if (!read_value(value.items.emplace_back())) return false;
      skip_space();
    } while (take(','));
    if (!take('}')) return false;
  }
  ++levels_left_;
  return true;
}

}  // namespace

std::optional<Json> read_json(std::string_view line, int levels_max) {
  Json value;
  if (!Reader(line, levels_max).read_line(value)) return std::nullopt;
  return value;
}

}  // namespace fuzz
