#include "tools/agent-releases/shell/password.h"

#include <fcntl.h>
#include <sodium.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "tools/agent-releases/core/minisign_secret.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/interruption.h"

namespace agent_releases {
namespace {

constexpr const char* file_variable = "MINISIGN_PASSWORD_FILE";
constexpr const char* terminal_path = "/dev/tty";

Result<std::string> read_password_file(const std::string& path) {
  const upgrader::OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return refusal_from_errno("open the password file", path);
  Result<std::string> text = read_all(file.get(), path, password_bytes_max);
  if (text) text.value().resize(std::min(text.value().find('\n'), text.value().size()));
  return text;
}

// While this object exists, the terminal does not show what is typed.
class Silence {
 public:
  explicit Silence(int terminal) : terminal_(terminal) {
    is_known_ = ::tcgetattr(terminal, &before_) == 0;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    silent.c_lflag |= ECHONL;
    if (is_known_) ::tcsetattr(terminal, TCSAFLUSH, &silent);
  }
  ~Silence() {
    if (is_known_) ::tcsetattr(terminal_, TCSAFLUSH, &before_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int terminal_;
  termios before_{};
  bool is_known_;
};

Result<std::string> ask(int terminal, const std::string& question) {
  if (const Outcome asked = write_all(terminal, terminal_path, question + ": "); !asked) {
    return asked.refusal();
  }
  const Silence silence(terminal);
  std::string typed;
  while (true) {
    char c = 0;
    const ssize_t count = ::read(terminal, &c, 1);
    if (const Outcome none = Interruption::none(); !none) return none.refusal();
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refusal_from_errno("read from", terminal_path);
    if (count == 0 || c == '\n') return typed;
    typed += c;
    if (typed.size() > password_bytes_max) return Refusal{"the password is too long"};
  }
}

Result<upgrader::OwnedFd> open_terminal() {
  upgrader::OwnedFd terminal(::open(terminal_path, O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (terminal) return terminal;
  return Refusal{"the key has a password, and there is no terminal to ask for it: let " +
                     std::string(file_variable) + " name a file that holds it",
                 Trouble::usage};
}

}  // namespace

Result<std::string> read_password(const std::string& question) {
  if (const char* path = std::getenv(file_variable)) return read_password_file(path);
  const Result<upgrader::OwnedFd> terminal = open_terminal();
  if (!terminal) return terminal.refusal();
  return ask(terminal.value().get(), question);
}

Result<std::string> read_new_password() {
  const Refusal empty{"the password is empty: give one, or say --no-password", Trouble::usage};
  if (const char* path = std::getenv(file_variable)) {
    Result<std::string> password = read_password_file(path);
    if (password && password.value().empty()) return empty;
    return password;
  }
  const Result<upgrader::OwnedFd> terminal = open_terminal();
  if (!terminal) return terminal.refusal();
  Result<std::string> first = ask(terminal.value().get(), "Password of the new key");
  if (!first) return first;
  if (first.value().empty()) return empty;
  const Result<std::string> second = ask(terminal.value().get(), "The same once more");
  if (!second) return second;
  if (first.value() == second.value()) return first;
  return Refusal{"the two passwords differ", Trouble::usage};
}

}  // namespace agent_releases
