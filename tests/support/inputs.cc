#include "tests/support/inputs.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>

namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  while (!text.empty() && text.back() == '=')
    text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char character : text) {
    const std::size_t value = alphabet.find(character);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xffffU;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xffU);
  }
  return bytes;
}

[[noreturn]] void fail(const std::string& path, int line, const char* why) {
  std::fprintf(stderr, "%s:%d: %s\n", path.c_str(), line, why);
  std::exit(1);
}

}  // namespace

std::vector<NamedInput> read_inputs(const std::string& path) {
  std::vector<NamedInput> inputs;
  std::ifstream file(path);
  if (!file) fail(path, 0, "cannot be read");
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.starts_with('#')) continue;
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) fail(path, number, "not a name, a blank and base64");
    std::optional<std::string> bytes = from_base64(std::string_view(line).substr(blank + 1));
    if (!bytes) fail(path, number, "not base64");
    inputs.push_back({line.substr(0, blank), std::move(*bytes)});
  }
  return inputs;
}
