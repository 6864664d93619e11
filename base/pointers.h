// Makes the arrays of pointers that exec and posix_spawn take as arguments and environment.
#pragma once

#include <string>
#include <vector>

namespace upgrader {

// Returns a pointer to each text, and a null pointer at the end. The texts must live for as long as
// the pointers are used.
[[nodiscard]] inline std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts)
    pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace upgrader
