// Switches mutants on and off. A mutant is a small change of the source, which some test should
// notice. `make mutate` compiles all mutants into an instrumented copy of the project. Every file
// of this copy includes this header first. A file named `mutants.control`, in a directory above the
// program, has the number of the mutant that is on. With the number 0, no mutant is on. With -1, no
// mutant is on, and the programs record which mutants are reached. The file is mapped into memory,
// so that these records survive a SIGKILL.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <type_traits>

namespace mutation {

// The greatest number of mutants. The scripts beside this file have the same number.
inline constexpr int mutants_max = 1 << 21;

struct Control {
  int active;
  char reached[mutants_max];
};

// The number of the mutant that is switched on in this process, and the mapped file
// `mutants.control`. A program that forks a child to test a mutant sets both to the mutant's
// number. The file is for the programs that the child starts.
inline int active = 0;
inline Control* control = nullptr;

inline void load_control() {
  char path[4096] = {};
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path) - 1);
  std::string directory(path, length > 0 ? static_cast<std::size_t>(length) : 0);
  while (!directory.empty()) {
    directory.resize(directory.rfind('/'));
    const int fd = ::open((directory + "/mutants.control").c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) continue;
    void* const mapped =
        ::mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    if (mapped == MAP_FAILED) return;
    control = static_cast<Control*>(mapped);
    active = control->active;
    return;
  }
}

inline const bool is_loaded = (load_control(), true);

inline bool is_on(int mutant) {
  if (active < 0) control->reached[mutant] = 1;
  return mutant == active;
}

// Returns whether the mutant is switched on, like is_on(). In code that the compiler evaluates,
// such as a constant, returns false.
constexpr bool is_on_at_run_time(int mutant) {
  return !std::is_constant_evaluated() && is_on(mutant);
}

}  // namespace mutation
