#include "node/releases/shell/ledger_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "node/releases/core/names.h"

namespace agent_releases {
namespace {

const std::string file_name{ledger_name};

struct Locked {
  Descriptor file;
  std::string text;
};

// The file that the name names while we hold its lock: it may be replaced while we wait.
Result<Locked> lock_ledger(const Directory& directory) {
  const std::string path = directory.path_of(file_name);
  while (true) {
    Result<Descriptor> file = directory.open_file(file_name, O_RDWR | O_CREAT | O_APPEND);
    if (!file) return file.refusal();
    const int descriptor = file.value().get();
    if (::flock(descriptor, LOCK_EX) != 0) return refusal_from_errno("lock", path);
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) return refusal_from_errno("read", path);
    if (!S_ISREG(status.st_mode)) return Refusal{path + " is not a regular file"};
    const auto named = directory.status(file_name);
    if (!named) return named.refusal();
    const auto& there = named.value();
    if (!there || there->st_ino != status.st_ino || there->st_dev != status.st_dev) continue;
    Result<std::string> text = read_all(descriptor, path, ledger_bytes_max);
    if (!text) return text.refusal();
    return Locked{std::move(file.value()), std::move(text.value())};
  }
}

Outcome replace_ledger(const Directory& directory, const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries)
    text += to_line(entry);
  const std::string temporary{new_ledger_name};
  if (const Outcome written = directory.write(temporary, text); !written) {
    static_cast<void>(directory.remove(temporary));
    return written;
  }
  if (const Outcome moved = directory.rename(temporary, directory, file_name); !moved) return moved;
  return directory.sync();
}

}  // namespace

Result<std::vector<Entry>> read_ledger(const Directory& directory) {
  const auto text = directory.read(file_name, ledger_bytes_max);
  if (!text) return text.refusal();
  return parse_ledger(text.value().value_or(""));
}

Outcome append_to_ledger(const Directory& directory, const Entry& entry) {
  const std::string path = directory.path_of(file_name);
  const Result<Locked> locked = lock_ledger(directory);
  if (!locked) return locked.refusal();
  const auto& [file, text] = locked.value();

  std::size_t sound = 0;
  std::vector<Entry> entries = parse_ledger(text, &sound);
  if (entries.size() >= ledger_entries_max || text.size() > ledger_bytes_max / 2) {
    entries.push_back(entry);
    return replace_ledger(directory, shortened(entries));
  }
  const auto end = static_cast<off_t>(sound);
  if (sound != text.size() && ::ftruncate(file.get(), end) != 0) {
    return refusal_from_errno("cut", path);
  }
  Outcome written = write_all(file.get(), path, to_line(entry));
  if (written) written = sync(file.get(), path);
  if (!written) {
    if (::ftruncate(file.get(), end) != 0) return refusal_from_errno("cut", path);
    return written;
  }
  return sound == 0 ? directory.sync() : Outcome(std::monostate{});
}

}  // namespace agent_releases
