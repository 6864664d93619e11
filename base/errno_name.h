// Names of errors, as in the member `errno` of the protocol's messages, and the function
// is_shortage(), which says whether an error is the fault of the system, and not of the program
// that was to be started.
#pragma once

#include <string>

#include "base/form.h"

namespace upgrader {

// Returns the error's name, such as "ENOENT"; for an error without a name here, "E" and the number.
[[nodiscard]] std::string errno_name(int error);

// Wraps an error number, to be put into a text: "{}"_with(SystemError{errno}).
struct SystemError {
  int number = 0;
};

// Returns the error in words for people: "No such file or directory (ENOENT)".
[[nodiscard]] std::string in_words(SystemError error);

// Returns true if the system has no process, descriptor or memory left. Then the failure to start a
// program is not that program's fault.
[[nodiscard]] bool is_shortage(int error);

}  // namespace upgrader
