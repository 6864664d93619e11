// Functions that name and judge the errors of system calls. The names are those in the member
// `errno` of the protocol's messages.
#pragma once

#include <string>

#include "base/form.h"

namespace upgrader {

// Returns the error's name, such as "ENOENT". If errno_name.cc does not list the error, returns "E"
// and the number.
[[nodiscard]] std::string errno_name(int error);

// Wraps an error number, to be put into a text: "{}"_with(SystemError{errno}).
struct SystemError {
  int number = 0;
};

// Returns the error in words for people: "No such file or directory (ENOENT)".
[[nodiscard]] std::string in_words(SystemError error);

// Returns true if the error means that the system has no process, descriptor or memory left. A
// program that cannot be started for this reason is not at fault.
[[nodiscard]] bool is_shortage(int error);

}  // namespace upgrader
