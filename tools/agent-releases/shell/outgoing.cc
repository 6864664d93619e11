#include "tools/agent-releases/shell/outgoing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "tools/agent-releases/shell/lock.h"

namespace agent_releases {
namespace {

std::string temporary_name(const std::string& name) {
  return "." + name + ".packing";
}

}  // namespace

Outgoing::Outgoing(const Directory& directory, std::string name, upgrader::OwnedFd file)
    : directory_(&directory), name_(std::move(name)), file_(std::move(file)) {}

// Opens the temporary file and locks it. The kernel releases the lock when this process ends, even
// if it is killed.
Result<Outgoing> Outgoing::open(const Directory& directory, const std::string& name) {
  const std::string temporary = temporary_name(name);
  auto locked = try_lock(directory, temporary, O_RDWR);
  if (!locked) return locked.refusal();
  if (!locked.value()) {
    return Refusal{"another process is writing " + directory.path_of(name), Trouble::system};
  }
  Outgoing outgoing(directory, name, std::move(*locked.value()));
  if (::ftruncate(outgoing.descriptor(), 0) != 0) {
    return refusal_from_errno("write", directory.path_of(temporary));
  }
  return outgoing;
}

Outgoing::~Outgoing() {
  if (file_) static_cast<void>(directory_->remove(temporary_name(name_)));
}

Outcome Outgoing::write(std::string_view bytes) {
  return write_all(descriptor(), path(), bytes);
}

Outcome Outgoing::finish(mode_t mode) {
  if (::fchmod(descriptor(), mode) != 0) return refusal_from_errno("write", path());
  return sync(descriptor(), path());
}

Outcome Outgoing::publish() {
  const Outcome moved = directory_->rename(temporary_name(name_), *directory_, name_);
  if (moved) file_ = upgrader::OwnedFd();
  return moved;
}

}  // namespace agent_releases
