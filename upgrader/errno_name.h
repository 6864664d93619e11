// Names of errors, as the protocol's member `errno` has them.
#pragma once

#include <string>

namespace upgrader {

// "ENOENT"; "E" and the number where there is no name for it.
[[nodiscard]] std::string errno_name(int error);

// "No such file or directory (ENOENT)": for people.
[[nodiscard]] std::string error_in_words(int error);

}  // namespace upgrader
