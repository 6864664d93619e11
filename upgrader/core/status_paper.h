// Writes the text of `status.json`: one line with a JSON object, member by member. This class does
// not know what the members mean. It cuts every string except a command-line argument to a maximum
// length, so that all required members always fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/form.h"
#include "upgrader/core/chronicle.h"

namespace upgrader {

// The most bytes of a text as it is written, escapes included. A longer text is cut between two
// characters, and its object gets "cut":true.
inline constexpr std::size_t text_written_max = 1'024;
inline constexpr std::size_t path_written_max = 4'095;

// Writes the members of JSON objects one after the other, and leaves out a member that has no
// value.
class StatusPaper {
 public:
  void open(const char* name, char bracket) {
    if (*name != '\0') put_name(name);
    put_comma();  // writes a comma, unless a member's name has just been written
    text_ += bracket;
    cut_ <<= 1;
  }
  void close(char bracket) {
    if ((cut_ & 1) != 0) put_truth("cut", true);
    text_ += bracket;
    cut_ >>= 1;
  }

  // Writes an element of a list: the whole text, with U+FFFD for each byte that is not valid UTF-8.
  void element(std::string_view text);
  void put(const char* name, std::string_view text, std::size_t bytes_max = text_written_max) {
    if (text.empty()) return;
    put_always(name, text, bytes_max);
  }
  void put_path(const char* name, std::string_view path) { put(name, path, path_written_max); }
  void put_always(const char* name, std::string_view text,
                  std::size_t bytes_max = text_written_max);
  void put_known(const char* name, const std::optional<std::string>& text) {
    if (text) put_always(name, *text);
  }
  void put(const char* name, std::int64_t number) {
    put_name(name);
    text_ += agent_protocol::decimal(number);
  }
  void put_known(const char* name, const std::optional<std::int64_t>& number) {
    if (number) put(name, *number);
  }
  void put_truth(const char* name, bool value) {
    put_name(name);
    text_ += value ? "true" : "false";
  }
  void put_time(const char* name, const Stamp& stamp) {
    if (stamp) put_wall_time(name, stamp.wall_ms);
  }
  void put_wall_time(const char* name, std::int64_t wall_ms);

  [[nodiscard]] std::size_t size() const { return text_.size(); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void put_comma() {
    const char last = text_.empty() ? '{' : text_.back();
    if (last != '{' && last != '[' && last != ':') text_ += ',';
  }
  void put_name(const char* name) {
    put_comma();
    text_.append("\"").append(name).append("\":");
  }
  void put_digits(std::int64_t number, std::size_t width, char behind) {
    const std::string digits = agent_protocol::decimal(number);
    if (digits.size() < width) text_.append(width - digits.size(), '0');
    text_.append(digits) += behind;
  }

  std::string text_;
  // One bit for each open object or list, the lowest bit for the innermost one. A bit is set if a
  // text in that object or list was cut.
  unsigned cut_ = 0;
};

}  // namespace upgrader
