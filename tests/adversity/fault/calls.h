// Names system calls and errors, as they are named in expectations.table and on the command line,
// and finds the file behind a descriptor.
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

// Returns the call's name. A call with several uses gets a point and the use behind its name:
// `write.log`, `openat.directory`. `log` is the path of the log. Returns "" for a call that the
// table does not name.
[[nodiscard]] std::string name_of(const RawCall& call, const std::string& log);

// Returns the target of a process's descriptor from /proc, or "" if it is not open.
[[nodiscard]] std::string target_of(pid_t pid, unsigned long fd);

// Converts between an errno and its name, "EIO". error_number() returns 0 for any other text.
[[nodiscard]] std::string error_name(int error);
[[nodiscard]] int error_number(std::string_view name);

// Returns bytes of another process, as many as can be read.
[[nodiscard]] std::string bytes_of(pid_t pid, unsigned long address, std::size_t size);

// Returns the parts between separators, without the blanks around them.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

}  // namespace fault
