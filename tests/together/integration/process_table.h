// What /proc says of processes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace integration {

// The state letter ('R', 'S', 'T', 'Z', …), or 0 if there is no such process.
char state_of(pid_t pid);

// The parent's pid, or 0 if there is no such process.
pid_t parent_of(pid_t pid);

// Field 22 of /proc/PID/stat, or "".
std::string start_time_of(pid_t pid);

// All processes, zombies too, whose parent it is.
std::vector<pid_t> children_of(pid_t pid);

// What /proc/PID/exe leads to, or "".
std::string executable_of(pid_t pid);

// The names in /proc/PID/fd.
std::vector<int> descriptors_of(pid_t pid);

// A line of /proc/PID/status in kB, such as VmRSS.
long status_kb(pid_t pid, const std::string& name);

std::string read_file(const std::string& path);

}  // namespace integration
