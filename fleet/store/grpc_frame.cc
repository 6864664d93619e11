#include "fleet/store/grpc_frame.h"

#include <algorithm>
#include <charconv>

namespace fleet {
namespace {

// The size of the prefix of each message: a byte that is 0 if the message is not compressed, and
// four bytes with its length, big-endian.
constexpr std::size_t prefix_bytes = 5;

std::uint32_t length_in(std::string_view prefix) {
  std::uint32_t length = 0;
  for (std::size_t i = 1; i < prefix_bytes; ++i) {
    length = (length << 8u) | static_cast<unsigned char>(prefix[i]);
  }
  return length;
}

// Decodes percent escapes: "a%20b" becomes "a b".
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr ==
            text.data() + i + 3) {
      plain += static_cast<char>(value);
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::string grpc_framed(std::string_view message) {
  std::string framed(prefix_bytes, '\0');
  for (std::size_t i = 1; i < prefix_bytes; ++i) {
    framed[i] = static_cast<char>((message.size() >> (8 * (prefix_bytes - 1 - i))) & 0xffu);
  }
  framed += message;
  return framed;
}

bool GrpcReader::take(std::string_view bytes) {
  if (!good_) return false;
  buffer_ += bytes;
  good_ = prefix_is_good();
  return good_;
}

// Returns whether the buffer begins with a valid prefix or a part of one. Compressed messages are
// not valid, since the fleet's programs do not ask for compression.
bool GrpcReader::prefix_is_good() const {
  if (!buffer_.empty() && buffer_[0] != '\0') return false;
  return buffer_.size() < prefix_bytes || length_in(buffer_) <= grpc_message_bytes_max;
}

std::optional<std::string> GrpcReader::next() {
  if (!good_ || buffer_.size() < prefix_bytes) return std::nullopt;
  const std::size_t length = length_in(buffer_);
  if (buffer_.size() < prefix_bytes + length) return std::nullopt;
  std::string message = buffer_.substr(prefix_bytes, length);
  buffer_.erase(0, prefix_bytes + length);
  good_ = prefix_is_good();
  return message;
}

void GrpcStatus::take_line(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), lower);
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) {
    value.remove_prefix(1);
  }
  while (!value.empty() && (value.back() == '\r' || value.back() == '\n' || value.back() == ' ')) {
    value.remove_suffix(1);
  }
  if (name == "grpc-message") message_ = unescaped(value);
  if (name != "grpc-status") return;
  int code = grpc_unknown;
  std::from_chars(value.data(), value.data() + value.size(), code);
  code_ = code;
}

}  // namespace fleet
