#include "tools/agent-releases/shell/trust.h"

#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {
namespace {

constexpr std::string_view key_ending = ".pub";

// Returns the name of the user with this uid, or nothing if there is no such user.
std::optional<std::string> user_name(uid_t user) {
  std::array<char, 16384> text;
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, text.data(), text.size(), &found) != 0 || found == nullptr)
    return std::nullopt;
  return found->pw_name;
}

// Reads a public key. The key file may be a link, because the owner of the file to which the link
// leads is checked.
Result<PublicKey> read_key(const Directory& directory, const std::string& name) {
  const std::string path = directory.path_of(name);
  const upgrader::OwnedFd file(
      ::openat(directory.descriptor(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return refusal_from_errno("read the key", path);
  if (const Outcome trusted = check_owner(status, path); !trusted) return trusted.refusal();
  const Result<std::string> text = read_all(file.get(), path, key_bytes_max);
  if (!text) return text.refusal();
  Result<PublicKey> key = parse_public_key(text.value());
  if (!key) return Refusal{"cannot use the key " + path + ": " + key.reason()};
  return key;
}

}  // namespace

Outcome check_owner(const struct stat& status, const std::string& path) {
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return Refusal{path + " belongs to " +
                   user_name(status.st_uid).value_or("user " + std::to_string(status.st_uid)) +
                   ", who is neither root nor the caller"};
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Refusal{path + " can be written by others than its owner: chmod go-w " + path};
  }
  return std::monostate{};
}

Outcome check_caller(const struct stat& status, const std::string& path) {
  Outcome trusted = check_owner(status, path);
  const auto name = user_name(status.st_uid);
  if (trusted || !name || status.st_uid == 0 || status.st_uid == ::geteuid()) return trusted;
  return Refusal{trusted.reason() + ": run this as " + *name + ", by runuser -u " + *name +
                 " for example"};
}

Outcome check_parent(const struct stat& status, const std::string& parent,
                     const std::string& path) {
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return Refusal{path + " is below " + parent + ", which belongs to " +
                   user_name(status.st_uid).value_or("user " + std::to_string(status.st_uid)) +
                   ", who is neither root nor the caller and could replace it"};
  }
  if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0) {
    return Refusal{path + " is below " + parent + ", where anybody could replace it: chmod o-w " +
                   parent};
  }
  return std::monostate{};
}

Outcome check_parents(const std::string& path) {
  for (std::size_t slash = path.find_last_of('/'); slash != std::string::npos;
       slash = slash == 0 ? std::string::npos : path.find_last_of('/', slash - 1)) {
    const std::string parent = slash == 0 ? "/" : path.substr(0, slash);
    struct stat status {};
    if (::stat(parent.c_str(), &status) != 0) return refusal_from_errno("look at", parent);
    if (const Outcome trusted = check_parent(status, parent, path); !trusted) return trusted;
  }
  return std::monostate{};
}

Result<std::vector<PublicKey>> read_keys(const std::string& path) {
  const auto real = real_path(path);
  if (!real) return refusal_from_errno("open", path);
  if (const Outcome trusted = check_parents(*real); !trusted) return trusted.refusal();
  const Result<Directory> directory = Directory::open(*real);
  if (!directory) return directory.refusal();
  struct stat status {};
  if (::fstat(directory.value().descriptor(), &status) != 0)
    return refusal_from_errno("read", path);
  if (const Outcome trusted = check_owner(status, path); !trusted) return trusted.refusal();
  const Result<std::vector<std::string>> names = directory.value().names();
  if (!names) return names.refusal();
  std::vector<PublicKey> keys;
  for (const std::string& name : names.value()) {
    if (!name.ends_with(key_ending)) continue;
    const Result<PublicKey> key = read_key(directory.value(), name);
    if (!key) return key.refusal();
    keys.push_back(key.value());
  }
  if (keys.empty()) {
    return Refusal{"there is no key in " + path +
                       ": it needs at least one file NAME.pub, as "
                       "minisign -G writes it",
                   Trouble::absent};
  }
  return keys;
}

}  // namespace agent_releases
