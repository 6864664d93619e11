#include "base/vectors.h"

#include <algorithm>
#include <cstring>

#include "base/errno_name.h"

namespace upgrader {
namespace {

// The entries after those of the environment: the lock's, two for an adapter, and the null at the
// end.
constexpr std::size_t entries_added_max = 4;

// The arguments after this one are the program's, not the adapter's own.
constexpr const char* end_of_options = "--";

}  // namespace

// envp_ has room for all entries that may be added. Places that stay unused are null, and the first
// null ends the environment.
Vectors::Vectors(const Program& program, const Program* adapter, const Environment& environment)
    : envp_(environment.entries.size() + entries_added_max) {
  auto next = std::copy(environment.entries.begin(), environment.entries.end(), envp_.begin());
  if (environment.lock_descriptor) {
    lock_fd_ = "AGENT_PROTOCOL_LOCK_FD={}"_with(*environment.lock_descriptor);
    *next++ = lock_fd_.c_str();
  }
  if (adapter != nullptr) {
    add_arguments(*adapter);
    argv_.push_back(end_of_options);
    program_path_ = "AGENT_PROTOCOL_PROGRAM={}"_with(program.path());
    *next++ = program_path_.c_str();
    if (program.kind() != ExecutableKind::script) {
      program_descriptor_ = program.descriptor();
      program_fd_ = "AGENT_PROTOCOL_PROGRAM_FD={}"_with(program_descriptor_);
      *next++ = program_fd_.c_str();
    }
  }
  add_arguments(program);
  argv_.push_back(nullptr);
  if (environment.listen_pid) envp_[*environment.listen_pid] = listen_pid_;
}

void Vectors::add_arguments(const Program& program) {
  argv_.push_back(program.name().c_str());
  for (const std::string& arg : program.args()) {
    argv_.push_back(arg.c_str());
  }
}

void Vectors::write_pid(pid_t pid) {
  // The digits of a pid are so few that std::string never allocates them on the heap. Their NUL
  // ends the text, even if a longer number was there before.
  const std::string digits = agent_protocol::decimal(pid);
  std::memcpy(std::strchr(listen_pid_, '=') + 1, digits.c_str(), digits.size() + 1);
}

}  // namespace upgrader
