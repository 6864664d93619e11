// Reads the inputs of a fuzz target from their text file (tests/adversity/fuzz/inputs.py writes
// it).
#pragma once

#include <string>
#include <vector>

struct NamedInput {
  std::string name;
  std::string bytes;
};

// Returns the inputs in the order of the file. Each line must have a name, a blank, and the input's
// bytes in base64. If a line has another form, or if the file cannot be read, ends the program with
// a message on standard error.
[[nodiscard]] std::vector<NamedInput> read_inputs(const std::string& path);
