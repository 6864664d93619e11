// Lets a sample agent continue with the files that a power cut has left, and copy the rest of the
// log. Then compares the output with the lines that were written to the log.
//
// Each line of standard input has four paths: the log, the file with all lines, the output, and the
// directory in which the agent keeps its position in the log. For each line, writes `ok` or the
// error to standard output.
#include <iostream>
#include <sstream>
#include <string>

#include "sample-agent/copier.h"
#include "sample-agent/variant.h"
#include "tests/demo/line_proof.h"

using namespace sample_agent;

namespace {

Outcome copy_all(const CopierSettings& settings) {
  Result<Copier> copier = Copier::take_over(settings, {}, 1);
  if (!copier) return Refusal{copier.reason()};
  copier.value().use_newest_format();
  while (true) {
    const Result<bool> more = copier.value().copy(1);
    if (!more) return Refusal{more.reason()};
    if (!more.value()) return copier.value().save();
  }
}

std::string judge(const CopierSettings& settings, const std::string& lines) {
  if (const Outcome copied = copy_all(settings); !copied) return "refused: " + copied.reason();
  const demo::Proof proof =
      demo::prove(demo::read_input(lines), demo::read_output(settings.output), {});
  if (proof.holds()) return "ok";
  std::string text = proof.text();
  for (char& character : text) {
    if (character == '\n') character = ' ';
  }
  return text;
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    CopierSettings settings{.input = {},
                            .output = {},
                            .state_directory = {},
                            .version = "1.0.0",
                            .position_format = position_format_max};
    std::string lines;
    std::istringstream words(line);
    words >> settings.input >> lines >> settings.output >> settings.state_directory;
    std::cout << judge(settings, lines) << std::endl;
  }
}
