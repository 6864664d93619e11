// Tests that the C++ library judges the rows of lines.table as the table says. The C library shares
// the tested code, so it needs no test of its own.
//
// usage: judge FILE, a file that expand.py has written; ends with 1 if a row is judged wrongly
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "agent-protocol/cpp/wire/codec.h"
#include "agent-protocol/cpp/wire/line_reader.h"

namespace {

using namespace agent_protocol;

std::string bytes_of(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return bytes;
}

// Gives the line to a reader, as the library does with the bytes that it reads from its pipe.
std::string judged(const std::string& line) {
  LineReader reader;
  std::optional<Line> read;
  std::string_view rest = line;
  while (!(read = reader.next())) {
    const std::span<char> space = reader.space();
    const std::size_t count = rest.copy(space.data(), space.size());
    reader.written(count);
    rest.remove_prefix(count);
  }
  if (!read->complete) return "ignored";
  const Decoded<UpgraderMessage> decoded = decode_upgrader_message(read->text);
  const auto* const message = std::get_if<UpgraderMessage>(&decoded);
  return message == nullptr ? "ignored" : std::string(type_name(*message));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return EXIT_FAILURE;
  std::ifstream rows(arguments[1]);
  std::string number;
  std::string judgement;
  std::string digits;
  int total = 0;
  int wrong = 0;
  for (; rows >> number >> judgement >> digits; ++total) {
    const std::string got = judged(bytes_of(digits) + '\n');
    if (got == judgement) continue;
    ++wrong;
    std::cout << "row " << number << ": " << got << ", and not " << judgement << '\n';
  }
  return total > 0 && wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
