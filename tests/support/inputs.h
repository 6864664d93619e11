// Reads the inputs of a fuzz target from their text file (tests/adversity/fuzz/inputs.py writes
// it).
#pragma once

#include <string>
#include <vector>

struct NamedInput {
  std::string name;
  std::string bytes;
};

// Returns the inputs in the order of the file. Each line must be a name, a blank and base64. If one
// line is different, or if the file cannot be read, ends the program with a message on standard
// error.
[[nodiscard]] std::vector<NamedInput> read_inputs(const std::string& path);
