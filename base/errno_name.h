// Names of errors, as the protocol's member `errno` has them, and whose fault they are.
#pragma once

#include <string>

#include "base/form.h"

namespace upgrader {

// "ENOENT"; "E" and the number if the error has no name here.
[[nodiscard]] std::string errno_name(int error);

// The error of a system call, as a value in a text: "{}"_with(SystemError{errno}).
struct SystemError {
  int number = 0;
};

// "No such file or directory (ENOENT)": for people.
[[nodiscard]] std::string in_words(SystemError error);

// True if the system has no process, descriptor or memory left: then the upgrader has failed, and
// not the program that it wanted to start.
[[nodiscard]] bool is_shortage(int error);

}  // namespace upgrader

namespace agent_protocol {

template <>
struct ValueOf<upgrader::SystemError> : ValueInWords<upgrader::SystemError, upgrader::in_words> {};

}  // namespace agent_protocol
