// Performs the commands `key make` and `key public`: makes a publisher's key files, and reads a
// secret key and its password.
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "tools/agent-releases/core/json_object.h"
#include "tools/agent-releases/shell/commands.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/interruption.h"
#include "tools/agent-releases/shell/key_files.h"
#include "tools/agent-releases/shell/report.h"

namespace agent_releases {
namespace {

// The password of a secret key is read from the file that this variable names or, if the variable
// is not set, from the terminal.
constexpr const char* file_variable = "MINISIGN_PASSWORD_FILE";
constexpr const char* terminal_path = "/dev/tty";

Result<std::string> read_password_file(const std::string& path) {
  const upgrader::OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return refusal_from_errno("open the password file", path);
  Result<std::string> text = read_all(file.get(), path, password_bytes_max);
  if (text) text.value().resize(std::min(text.value().find('\n'), text.value().size()));
  return text;
}

// Turns off the echo of typed characters on the terminal, as long as an object of this class
// exists.
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
  // The echo is turned off before the question is printed. tcsetattr() discards the characters that
  // were typed before it is called. In this order, an answer that is typed as soon as the question
  // appears is neither shown nor discarded.
  const Silence silence(terminal);
  if (const Outcome asked = write_all(terminal, terminal_path, question + ": "); !asked) {
    return asked.refusal();
  }
  std::string typed;
  while (true) {
    char c = 0;
    const ssize_t count = ::read(terminal, &c, 1);
    if (const Outcome none = not_interrupted(); !none) return none.refusal();
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

// Tells a person at a terminal that a key is being derived from the password. Without this message,
// the command would seem to do nothing for some seconds. A failure to write the message is ignored.
void announce_derivation() {
  if (::isatty(STDERR_FILENO) == 0) return;
  static_cast<void>(write_all(STDERR_FILENO, "standard error",
                              "deriving a key from the password, which takes a few seconds ...\n"));
}

// Reads a password, which is the first line of the file that MINISIGN_PASSWORD_FILE names. If this
// variable is not set, prints `question` on the terminal and reads a line from it. Refuses if there
// is neither the variable nor a terminal, or if a signal interrupts the reading.
[[nodiscard]] Result<std::string> read_password(const std::string& question) {
  if (const char* path = std::getenv(file_variable)) return read_password_file(path);
  const Result<upgrader::OwnedFd> terminal = open_terminal();
  if (!terminal) return terminal.refusal();
  return ask(terminal.value().get(), question);
}

// Reads the password for a new key. On a terminal, asks for the password twice. Refuses an empty
// password.
[[nodiscard]] Result<std::string> read_new_password() {
  const Refusal empty{"the password is empty: give one, or say --no-password", Trouble::usage};
  if (const char* path = std::getenv(file_variable)) {
    Result<std::string> password = read_password_file(path);
    if (password && password.value().empty()) return empty;
    return password;
  }
  const Result<upgrader::OwnedFd> terminal = open_terminal();
  if (!terminal) return Refusal{terminal.reason() + ", or say --no-password", Trouble::usage};
  Result<std::string> first = ask(terminal.value().get(), "Password of the new key");
  if (!first) return first;
  if (first.value().empty()) return empty;
  const Result<std::string> second = ask(terminal.value().get(), "The same once more");
  if (!second) return second;
  if (first.value() == second.value()) return first;
  return Refusal{"the two passwords differ", Trouble::usage};
}

constexpr mode_t secret_mode = 0600;
constexpr mode_t public_mode = 0644;

// A new file. The destructor removes the file, unless keep() was called.
class NewFile {
 public:
  static Result<NewFile> make(const std::string& path, mode_t mode) {
    upgrader::OwnedFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file) return NewFile(std::move(file), path);
    if (errno != EEXIST) return refusal_from_errno("make", path);
    return Refusal{path + " exists, and a key is never overwritten"};
  }
  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&& other) noexcept = default;
  ~NewFile() {
    if (file_) ::unlink(path_.c_str());
  }

  Outcome write(std::string_view text) {
    if (const Outcome written = write_all(file_.get(), path_, text); !written) return written;
    return sync(file_.get(), path_);
  }
  void keep() { file_ = upgrader::OwnedFd(); }

 private:
  NewFile(upgrader::OwnedFd file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  upgrader::OwnedFd file_;
  std::string path_;
};

Randomness draw() {
  Randomness randomness;
  ::randombytes_buf(randomness.number.data(), randomness.number.size());
  ::randombytes_buf(randomness.seed.data(), randomness.seed.size());
  ::randombytes_buf(randomness.salt.data(), randomness.salt.size());
  return randomness;
}

// Makes the two files of a key pair. The secret key file gets mode 0600. Never overwrites a file.
// If one of the two files exists already, or if anything else fails, neither file is made.
Result<PublicKey> make_key_files(const std::string& secret, const std::string& open,
                                 bool with_password) {
  // Before asking for a password, find out whether the two files can be made: make them, and remove
  // them again. A process that is killed while it waits for a password then leaves no empty file,
  // which a second call would not overwrite.
  for (const std::string& path : {secret, open}) {
    if (const auto probe = NewFile::make(path, secret_mode); !probe) return probe.refusal();
  }
  std::string password;
  if (with_password) {
    Result<std::string> read = read_new_password();
    if (!read) return read.refusal();
    password = std::move(read.value());
    announce_derivation();
  }
  const Randomness randomness = draw();
  const SecretKey key = make_key(randomness);
  const Result<std::string> text = secret_key_text(key, password, randomness);
  ::sodium_memzero(password.data(), password.size());
  if (!text) return text.refusal();
  const PublicKey half = public_key_of(key);
  auto secret_file = NewFile::make(secret, secret_mode);
  if (!secret_file) return secret_file.refusal();
  auto public_file = NewFile::make(open, public_mode);
  if (!public_file) return public_file.refusal();
  if (const Outcome done = secret_file.value().write(text.value()); !done) return done.refusal();
  const Outcome done = public_file.value().write(public_key_text(half));
  if (!done) return done.refusal();
  secret_file.value().keep();
  public_file.value().keep();
  return half;
}

std::string json_of(const std::string& secret, const std::string& open, const PublicKey& key) {
  JsonWriter json;
  json.add("secret", secret).add("public", open).add("number", shown_key_number(key.number));
  return json.line() + "\n";
}

}  // namespace

Result<SecretKey> read_secret_key(const std::string& path) {
  const upgrader::OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return refusal_from_errno("open the key", path);
  const Result<std::string> text = read_all(file.get(), path, key_bytes_max);
  if (!text) return text.refusal();
  const Result<SecretKeyFile> parsed = parse_secret_key(text.value());
  if (!parsed) return Refusal{"cannot use the key " + path + ": " + parsed.reason()};
  std::string password;
  if (parsed.value().has_password) {
    Result<std::string> read = read_password("Password of " + path);
    if (!read) return read.refusal();
    password = std::move(read.value());
    announce_derivation();
  }
  Result<SecretKey> key = open_secret_key(parsed.value(), password);
  ::sodium_memzero(password.data(), password.size());
  if (key) return key;
  return Refusal{"cannot use the key " + path + ": " + key.reason(), key.refusal().trouble};
}

Outcome perform_key_make(const Options& options) {
  const Interruption interruption;
  const PublishOptions& words = options.publishing;
  const Result<PublicKey> made = make_key_files(words.source, words.public_key, !words.no_password);
  if (!made) return made.refusal();
  print(options.json ? json_of(words.source, words.public_key, made.value())
                     : words.source + " is the secret key, which stays here; " + words.public_key +
                           " is its public key, for every machine\n");
  return std::monostate{};
}

Outcome perform_key_public(const Options& options) {
  const Interruption interruption;
  const Result<SecretKey> key = read_secret_key(options.publishing.source);
  if (!key) return key.refusal();
  print(public_key_text(public_key_of(key.value())));
  return std::monostate{};
}

}  // namespace agent_releases
