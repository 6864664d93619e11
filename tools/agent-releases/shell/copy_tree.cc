#include "tools/agent-releases/shell/copy_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "tools/agent-releases/core/member.h"
#include "tools/agent-releases/shell/interruption.h"
#include "tools/agent-releases/shell/modes.h"

namespace agent_releases {
namespace {

constexpr std::size_t copied_bytes = 262'144;

Outcome copy_file(const Directory& from, const Directory& into, const std::string& name,
                  mode_t mode) {
  const auto source = from.open_file(name, O_RDONLY);
  if (!source) return source.refusal();
  const auto copy = into.open_file(name, O_WRONLY | O_CREAT | O_EXCL, mode & 0777U);
  if (!copy) return copy.refusal();
  std::vector<char> piece(copied_bytes);
  while (true) {
    if (const Outcome none = Interruption::none(); !none) return none;
    const ssize_t count = ::read(source.value().get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refusal_from_errno("read", from.path_of(name));
    if (count == 0) break;
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(count));
    const Outcome written = write_all(copy.value().get(), into.path_of(name), bytes);
    if (!written) return written;
  }
  if (::fchmod(copy.value().get(), mode & permission_bits) == 0) return std::monostate{};
  return refusal_from_errno("write", into.path_of(name));
}

}  // namespace

Outcome copy_tree(const Directory& from, const Directory& into,
                  const std::function<bool(const std::string&)>& is_left_out, std::size_t depth) {
  if (depth >= member_depth_max) return Refusal{from.path() + " is too deep for a release"};
  const auto names = from.names();
  if (!names) return names.refusal();
  for (const std::string& name : names.value()) {
    if (is_left_out(name)) continue;
    const auto status = from.status(name);
    if (!status) return status.refusal();
    if (!status.value()) return Refusal{from.path_of(name) + " vanished while it was packed"};
    const mode_t mode = status.value()->st_mode;
    Outcome copied = Refusal{from.path_of(name) + " is a device, a FIFO or a socket"};
    if (S_ISREG(mode)) {
      copied = copy_file(from, into, name, mode);
    } else if (S_ISLNK(mode)) {
      copied = into.link(from.link_target(name).value_or(""), name);
    } else if (S_ISDIR(mode)) {
      const auto below = from.subdirectory(name);
      if (!below) return below.refusal();
      if (const Outcome made = into.make_directory(name, directory_mode); !made) return made;
      const auto copy = into.subdirectory(name);
      if (!copy) return copy.refusal();
      copied = copy_tree(below.value(), copy.value(), is_left_out, depth + 1);
    }
    if (!copied) return copied;
  }
  return std::monostate{};
}

}  // namespace agent_releases
