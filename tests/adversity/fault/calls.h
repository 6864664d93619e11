// System calls and errors by name, and what stands behind a descriptor: the words in which faults
// are named, in expectations.table and on the command line.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace fault {

// One call as the kernel is asked for it.
struct RawCall {
  pid_t pid = 0;  // who asks
  long number = 0;
  unsigned long args[6] = {};
};

// Its name, with what tells one use from another behind a point: `write.log`, `openat.directory`.
// `log` is the path that the log is written to. "" for a number that has no name here.
[[nodiscard]] std::string name_of(const RawCall& call, const std::string& log);

// The target of a process's descriptor, as /proc says it; "" if it is not open.
[[nodiscard]] std::string target_of(pid_t pid, unsigned long fd);

// "EIO"; and back, 0 for what is no error's name.
[[nodiscard]] std::string error_name(int error);
[[nodiscard]] int error_number(std::string_view name);

// Bytes of another process, as far as they can be read.
[[nodiscard]] std::string bytes_of(pid_t pid, unsigned long address, std::size_t size);

// The parts between separators, without the blanks around them.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

}  // namespace fault
