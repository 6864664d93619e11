// Reads the inputs of a fuzz target from their text file (tests/adversity/fuzz/inputs.py writes
// it).
#pragma once

#include <string>
#include <vector>

struct NamedInput {
  std::string name;
  std::string bytes;
};

// Returns the inputs in the order of the file. Ends the program with a line on standard error if
// the file cannot be read, or if a line is not a name, a blank and base64.
[[nodiscard]] std::vector<NamedInput> read_inputs(const std::string& path);
