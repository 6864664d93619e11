// Functions that return the names that system calls and errors have in expectations.table and on
// the command line. Other functions find the file to which a descriptor refers, and read the memory
// of another process.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace fault {

// A system call with its raw arguments, and the process that makes it.
struct RawCall {
  pid_t pid = 0;  // the process that makes the call
  long number = 0;
  unsigned long args[6] = {};
};

// Returns the system call's name. If the call has several uses, a dot and the name of the use
// follow, as in `write.log` and `openat.directory`. `log` is the path of the upgrader's log.
// Returns "" for a call that expectations.table does not have.
[[nodiscard]] std::string name_of(const RawCall& call, const std::string& log);

// Returns the target of the link /proc/PID/fd/FD, or "" if the descriptor is not open.
[[nodiscard]] std::string target_of(pid_t pid, unsigned long fd);

// Converts an errno into its name, such as "EIO", and back. error_number() returns 0 for an unknown
// name.
[[nodiscard]] std::string error_name(int error);
[[nodiscard]] int error_number(std::string_view name);

// Reads up to `size` bytes from the memory of another process. Returns as many bytes as can be
// read.
[[nodiscard]] std::string bytes_of(pid_t pid, unsigned long address, std::size_t size);

// Returns the parts of the text between the separators, without the blanks around each part.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

}  // namespace fault
