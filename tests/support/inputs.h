// Reads the inputs of a fuzz target from their text file (tests/adversity/fuzz/inputs.py writes
// it).
#pragma once

#include <string>
#include <vector>

struct NamedInput {
  std::string name;
  std::string bytes;
};

// In the order of the file. Fails the program with a line on standard error if the file cannot be
// read, or a line of it is not a name, a blank and base64.
[[nodiscard]] std::vector<NamedInput> read_inputs(const std::string& path);
