#include "tools/agent-conformance/transcript.h"

#include <array>
#include <cstdio>

namespace conformance {

namespace {

// The most entries of a transcript. Later messages are judged, but not recorded.
constexpr std::size_t entries_max = 400;

// Returns the number of bytes of the UTF-8 character that begins at the index `at`. Returns 0 if
// the bytes there are not valid UTF-8, or if the character must not be written to a terminal.
std::size_t character(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = byte(at);
  if (first >= 0x20 && first < 0x7f) return 1;
  const std::size_t size = first >= 0xf0 && first < 0xf5   ? 4
                           : first >= 0xe0 && first < 0xf0 ? 3
                           : first >= 0xc2 && first < 0xe0 ? 2
                                                           : 0;
  if (size == 0 || at + size > bytes.size()) return 0;
  for (std::size_t i = at + 1; i < at + size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(at + 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  const bool control = first == 0xc2 && second < 0xa0;
  return overlong || beyond || control ? 0 : size;
}

std::string byte_in_words(char c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\x%02x", static_cast<unsigned>(c) & 0xffU);
  return text.data();
}

std::string sign(const Entry& entry) {
  const std::string number = std::to_string(entry.agent + 1);
  switch (entry.kind) {
    case Entry::Kind::said:
      return number + "> ";
    case Entry::Kind::told:
      return number + "< ";
    case Entry::Kind::error_output:
      return number + "! ";
    case Entry::Kind::happened:
      break;
  }
  return "   ";
}

}  // namespace

std::string shown(std::string_view bytes, std::size_t most) {
  std::string result;
  for (std::size_t at = 0; at < bytes.size();) {
    if (at >= most) {
      return result + "... (" + std::to_string(bytes.size()) + " bytes)";
    }
    const std::size_t size = character(bytes, at);
    result += size == 0 ? byte_in_words(bytes[at]) : std::string(bytes.substr(at, size));
    at += size == 0 ? 1 : size;
  }
  return result;
}

void Transcript::add(Time at, int agent, Entry::Kind kind, std::string_view text) {
  if (entries_.size() >= entries_max) {
    ++left_out_;
    return;
  }
  entries_.push_back({.at = at, .agent = agent, .kind = kind, .text = shown(text)});
}

std::vector<std::string> Transcript::lines() const {
  std::vector<std::string> result;
  for (const Entry& entry : entries_) {
    std::array<char, 32> time{};
    std::snprintf(time.data(), time.size(), "%8.3f  ",
                  static_cast<double>(entry.at.count()) / 1'000'000);
    result.push_back(time.data() + sign(entry) + entry.text);
  }
  if (left_out_ > 0) result.push_back("          (" + std::to_string(left_out_) + " more)");
  return result;
}

}  // namespace conformance
