// Removes from the process what the upgrader has added to it: variables and descriptors.
#include "agent-protocol/cpp/agent/agent_surroundings.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern char** environ;

namespace agent_protocol {

namespace {

constexpr const char* presence_variable = "AGENT_PROTOCOL";
constexpr const char* lock_variable = "AGENT_PROTOCOL_LOCK_FD";

bool put(int from, int to) {
  while (::dup2(from, to) < 0) {
    if (errno != EINTR && errno != EBUSY) return false;
  }
  return true;
}

}  // namespace

bool upgrader_is_there() {
  return std::getenv(presence_variable) != nullptr;
}

std::optional<Pipes> take_pipes() {
  Pipes pipes{.input = Descriptor::private_copy_of(STDIN_FILENO),
              .output = Descriptor::private_copy_of(STDOUT_FILENO)};
  if (!pipes.input.open() || !pipes.output.open()) return std::nullopt;
  const Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.open()) return std::nullopt;
  if (!put(null.number(), STDIN_FILENO)) return std::nullopt;
  if (!put(STDERR_FILENO, STDOUT_FILENO) && !put(null.number(), STDOUT_FILENO)) {
    put(pipes.input.number(), STDIN_FILENO);
    return std::nullopt;
  }
  return pipes;
}

void give_back(const Pipes& pipes) {
  const int error = errno;
  put(pipes.input.number(), STDIN_FILENO);
  put(pipes.output.number(), STDOUT_FILENO);
  errno = error;
}

void keep_lock_private() {
  const char* text = std::getenv(lock_variable);
  if (text == nullptr) return;
  int number = -1;
  const char* end = text + std::strlen(text);
  // If the text is not a number, or the number is too large, `number` is unchanged.
  if (std::from_chars(text, end, number).ptr != end || number <= STDERR_FILENO) return;
  ::fcntl(number, F_SETFD, FD_CLOEXEC);
}

void clean_environment() {
  std::vector<std::string> names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with(presence_variable)) names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names)
    ::unsetenv(name.c_str());
}

}  // namespace agent_protocol
