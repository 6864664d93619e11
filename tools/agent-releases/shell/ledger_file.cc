#include "tools/agent-releases/shell/ledger_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "tools/agent-releases/core/names.h"

namespace agent_releases {
namespace {

const std::string file_name{ledger_name};

Outcome replace_ledger(const Directory& directory, const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries)
    text += to_line(entry);
  const std::string temporary{new_ledger_name};
  if (const Outcome written = directory.write(temporary, text, lock_mode); !written) {
    static_cast<void>(directory.remove(temporary));
    return written;
  }
  if (const Outcome moved = directory.rename(temporary, directory, file_name); !moved) return moved;
  return directory.sync();
}

}  // namespace

bool may_read_ledger(const Directory& directory) {
  const int readable = ::faccessat(directory.descriptor(), file_name.c_str(), R_OK, AT_EACCESS);
  return readable == 0 || errno != EACCES;
}

Result<std::vector<Entry>> read_ledger(const Directory& directory) {
  const auto text = directory.read(file_name, ledger_bytes_max);
  if (!text) return text.refusal();
  return parse_ledger(text.value().value_or(""));
}

Outcome append_to_ledger(const Directory& directory, const Entry& entry, const Patience& patience) {
  const std::string path = directory.path_of(file_name);
  const Result<upgrader::OwnedFd> locked = wait_for_lock(directory, file_name, patience, O_APPEND);
  if (!locked) return locked.refusal();
  const upgrader::OwnedFd& file = locked.value();
  const Result<std::string> read = read_all(file.get(), path, ledger_bytes_max);
  if (!read) return read.refusal();
  const std::string& text = read.value();

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
