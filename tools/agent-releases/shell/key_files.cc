#include "tools/agent-releases/shell/key_files.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/password.h"

namespace agent_releases {
namespace {

constexpr mode_t secret_mode = 0600;
constexpr mode_t public_mode = 0644;

// A new file, which is removed again unless keep() is called.
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
  }
  Result<SecretKey> key = open_secret_key(parsed.value(), password);
  ::sodium_memzero(password.data(), password.size());
  if (key) return key;
  return Refusal{"cannot use the key " + path + ": " + key.reason(), key.refusal().trouble};
}

Result<PublicKey> make_key_files(const std::string& secret, const std::string& open,
                                 bool with_password) {
  auto secret_file = NewFile::make(secret, secret_mode);
  if (!secret_file) return secret_file.refusal();
  auto public_file = NewFile::make(open, public_mode);
  if (!public_file) return public_file.refusal();
  std::string password;
  if (with_password) {
    Result<std::string> read = read_new_password();
    if (!read) return read.refusal();
    password = std::move(read.value());
  }
  const Randomness randomness = draw();
  const SecretKey key = make_key(randomness);
  const Result<std::string> text = secret_key_text(key, password, randomness);
  ::sodium_memzero(password.data(), password.size());
  if (!text) return text.refusal();
  const PublicKey half = public_key_of(key);
  if (const Outcome done = secret_file.value().write(text.value()); !done) return done.refusal();
  const Outcome done = public_file.value().write(public_key_text(half));
  if (!done) return done.refusal();
  secret_file.value().keep();
  public_file.value().keep();
  return half;
}

}  // namespace agent_releases
