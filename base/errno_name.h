// Names of errors, as the protocol's member `errno` has them, and whose fault they are.
#pragma once

#include <string>

#include "base/form.h"

namespace upgrader {

// "ENOENT"; "E" and the number where there is no name for it.
[[nodiscard]] std::string errno_name(int error);

// Of a system call, as a value in a text: "{}"_with(SystemError{errno}).
struct SystemError {
  int number = 0;
};

// "No such file or directory (ENOENT)": for people.
[[nodiscard]] std::string in_words(SystemError error);

// No process, descriptor or memory is to be had: a failure of ours, and not of the program that
// was to be started.
[[nodiscard]] bool is_shortage(int error);

}  // namespace upgrader

namespace agent_protocol {

template <>
struct ValueOf<upgrader::SystemError> : ValueInWords<upgrader::SystemError, upgrader::in_words> {};

}  // namespace agent_protocol
