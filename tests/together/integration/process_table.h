// Reads facts about processes from /proc.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace integration {

// Returns the process's state letter ('R', 'S', 'T', 'Z', …), or 0 if there is no such process.
char state_of(pid_t pid);

// Returns the parent's pid, or 0 if there is no such process.
pid_t parent_of(pid_t pid);

// Returns the process's start time, which is field 22 of /proc/PID/stat, or "" if there is no such
// process.
std::string start_time_of(pid_t pid);

// Returns all children of a process, zombies included.
std::vector<pid_t> children_of(pid_t pid);

// Returns the path to which /proc/PID/exe points, or "" if the link cannot be read.
std::string executable_of(pid_t pid);

// Returns the numbers of the process's open descriptors, from /proc/PID/fd.
std::vector<int> descriptors_of(pid_t pid);

// Returns the value of the line `name`, such as VmRSS, in /proc/PID/status. The value is in kB.
long status_kb(pid_t pid, const std::string& name);

std::string read_file(const std::string& path);

}  // namespace integration
