// Checks the output of sample agents. Each line of the input must occur once in the output, in the
// order of the input, and an active agent must have written it.
//
// usage: check_lines INPUT OUTPUT [EVENTS]
//
// Exits with 0 if all is well, otherwise with 1.
#include <cstdio>
#include <string>
#include <vector>

#include "tests/demo/line_proof.h"

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fputs("usage: check_lines INPUT OUTPUT [EVENTS]\n", stderr);
    return 2;
  }
  const auto events = argc == 4 ? demo::read_events(argv[3]) : std::vector<demo::SeenEvent>{};
  const demo::Proof proof = prove(demo::read_input(argv[1]), demo::read_output(argv[2]), events);
  std::fputs(proof.text().c_str(), stdout);
  return proof.holds() ? 0 : 1;
}
