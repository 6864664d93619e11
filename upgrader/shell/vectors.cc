#include "upgrader/shell/vectors.h"

#include <string_view>

#include "upgrader/core/words.h"

namespace upgrader {
namespace {

// A process id in decimal, with a NUL behind it.
constexpr std::size_t pid_text_bytes = 12;

constexpr std::string_view listen_pid_name = "LISTEN_PID=";

// Behind it, what follows is the program's and not the adapter's own.
char end_of_options[] = "--";

}  // namespace

Vectors::Vectors(const Program& program, const Program* adapter, const Environment& environment)
    : entries_(environment.entries) {
  if (adapter != nullptr) {
    add_arguments(*adapter);
    argv_.push_back(end_of_options);
    entries_.push_back("AGENT_PROTOCOL_PROGRAM={}"_with(program.path()));
    if (program.kind() != ExecutableKind::script) {
      program_descriptor_ = program.descriptor();
      entries_.push_back("AGENT_PROTOCOL_PROGRAM_FD={}"_with(program_descriptor_));
    }
  }
  add_arguments(program);
  argv_.push_back(nullptr);
  if (environment.listen_pid) {
    std::string& entry = entries_[*environment.listen_pid];
    entry.assign(listen_pid_name);
    entry.append(pid_text_bytes, '\0');
    pid_text_ = entry.data() + listen_pid_name.size();
  }
  for (std::string& entry : entries_)
    envp_.push_back(entry.data());
  envp_.push_back(nullptr);
}

void Vectors::add_arguments(const Program& program) {
  argv_.push_back(const_cast<char*>(program.name().c_str()));
  for (const std::string& arg : program.args()) {
    argv_.push_back(const_cast<char*>(arg.c_str()));
  }
}

void Vectors::write_pid(pid_t pid) const {
  // So short a text asks for no memory.
  if (pid_text_ != nullptr) agent_protocol::decimal(pid).copy(pid_text_, pid_text_bytes);
}

}  // namespace upgrader
