#include "upgrader/shell/relink.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/executable.h"
#include "upgrader/core/words.h"

namespace upgrader {
namespace {

int sync_file_system(int fd, const BeforeSync& before_sync) {
  before_sync();
  return ::syncfs(fd) == 0 ? 0 : errno;
}

int sync_open_file(int fd, const BeforeSync& before_sync) {
  before_sync();
  if (::fsync(fd) == 0) return 0;
  // Some file systems cannot sync a single directory, but only the whole file system.
  return errno == EINVAL ? sync_file_system(fd, before_sync) : errno;
}

// Appends to `way` the directories that lead to the program, innermost first, up to the mount point
// of their file system. They must be synced: if a power cut lost a new release's directory but not
// the link to it, the link would dangle.
int find_way_to(const Program& program, std::vector<std::string>& way) {
  std::string directory = program.path;
  dev_t device{};
  while (directory != "/") {
    const std::size_t slash = directory.rfind('/');
    directory.resize(slash == 0 ? 1 : slash);
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0) return errno;
    if (way.empty()) device = status.st_dev;
    if (status.st_dev != device) return 0;
    way.push_back(directory);
  }
  return 0;
}

// Syncs the whole file system that contains the directories `way`. syncfs() needs an open file, so
// this function opens the first of these directories that it may read.
int sync_file_system_of(const std::vector<std::string>& way, const BeforeSync& before_sync) {
  for (const std::string& path : way) {
    Directory directory;
    const int error = directory.open(path);
    if (error == 0) return sync_file_system(directory.descriptor(), before_sync);
    if (error != EACCES) return error;
  }
  return EACCES;
}

// Syncs the executable and the directories that lead to it. Syncs the whole file system instead if
// one of them may not be opened for reading.
int sync_release(const Program& program, const BeforeSync& before_sync) {
  std::vector<std::string> way;
  if (const int error = find_way_to(program, way); error != 0) return error;
  if (program.kind == ExecutableKind::unreadable) return sync_file_system_of(way, before_sync);
  const int file = program.descriptor.get();
  if (const int error = sync_open_file(file, before_sync); error != 0) return error;
  for (const std::string& path : way) {
    Directory directory;
    int error = directory.open(path);
    if (error == EACCES) return sync_file_system(file, before_sync);
    if (error == 0) error = sync_open_file(directory.descriptor(), before_sync);
    if (error != 0) return error;
  }
  return 0;
}

// Makes a refusal that names the path. EINVAL means that the path exists but is not a symbolic
// link; the refusal then has the text `no_link`.
Refusal refuse(const std::string& path, int error, const char* no_link) {
  return {"{}: {}"_with(path, error == EINVAL ? no_link : in_words(SystemError{error})), error};
}

}  // namespace

Result<Link> Link::open(const std::string& path, const std::optional<std::string>& previous) {
  const auto refused = [&](int error) {
    return refuse(path, error, "is no symbolic link, which --relink needs");
  };
  Link opened;
  if (const int error = opened.link_.open(path)) return refused(error);
  opened.committed_ = opened.link_.directory.read_link(opened.link_.name);
  if (opened.committed_.empty()) return refused(errno);
  if (!previous) return opened;

  const auto& [directory, name] = opened.previous_.emplace();
  int error = opened.previous_->open(*previous);
  if (error == 0 && directory.read_link(name).empty()) error = errno;
  const bool usable = error == 0 || (error == ENOENT && directory.descriptor() >= 0);
  if (!usable) return refuse("--previous={}"_with(*previous), error, "is no symbolic link");
  if (directory.is_fat()) {
    return Refusal{"--previous={}: is on FAT, which has no symbolic links"_with(*previous), EPERM};
  }
  struct stat here {};
  struct stat there {};
  if (name == opened.link_.name && ::fstat(directory.descriptor(), &there) == 0 &&
      ::fstat(opened.link_.directory.descriptor(), &here) == 0 && is_same_file(here, there)) {
    return Refusal{"--previous={}: is AGENT's own link"_with(*previous), EINVAL};
  }
  return opened;
}

int Link::previous_stays() const {
  return previous_ ? may_use(previous_->directory.path().c_str(), W_OK | X_OK) : 0;
}

int Link::prove_previous() const {
  if (const int error = previous_stays(); error != 0 || !previous_) return error;
  const std::string present = previous_->directory.read_link(previous_->name);
  return present.empty() ? 0 : previous_->directory.replace_link(previous_->name, present);
}

bool Link::is_read_only() const {
  return may_use(link_.directory.path().c_str(), W_OK) == EROFS;
}

// Makes a temporary link, checks that it leads to exactly the program's file, and sets `target` to
// the link's text. If a relative target leads to another file, because the directory has been
// moved, uses an absolute one.
int Link::prepare_for(const Program& program, bool relative, std::string& target) const {
  target = relative ? link_.directory.way_to(program.path) : program.path;
  if (const int error = link_.directory.prepare_link(link_.name, target); error != 0) return error;
  struct stat wanted {};
  struct stat found {};
  if (::fstat(program.descriptor.get(), &wanted) != 0) return errno;
  const std::string prepared = Directory::prepared_name(link_.name);
  const bool leads_there =
      ::fstatat(link_.directory.descriptor(), prepared.c_str(), &found, 0) == 0 &&
      is_same_file(found, wanted);
  if (leads_there) return 0;
  if (relative) return prepare_for(program, false, target);
  link_.directory.remove(prepared);
  return ESTALE;
}

int Link::prove(const Program& program, const BeforeSync& before_sync) const {
  if (const int error = link_.directory.moved(); error != 0) return error;
  const std::string present = link_.directory.read_link(link_.name);
  if (present.empty()) return errno;
  if (const int error = program.path_changed(); error != 0) return error;
  // Sync the release before the link to it. The link itself is not synced now: the commit syncs the
  // directory anyway.
  if (const int error = sync_release(program, before_sync); error != 0) return error;
  return link_.directory.replace_link(link_.name, present);
}

// Makes the link of --previous lead to the executable that was committed last. If `program`, the
// new version, has the same path, leaves the link as it is: the file at that path has been
// replaced.
int Link::move_previous(const Program& program, const BeforeSync& before_sync) const {
  const bool relative = committed_[0] != '/';
  std::string old = relative ? "{}/{}"_with(link_.directory.path(), committed_) : committed_;
  old = resolve(old).value_or(old);
  if (old == program.path) return 0;
  const std::string target = relative ? previous_->directory.way_to(old) : old;
  // If the link already has this target, only sync it: an upgrader that was killed may have moved
  // the link without syncing it.
  if (previous_->directory.read_link(previous_->name) != target) {
    if (const int error = previous_->directory.replace_link(previous_->name, target); error != 0)
      return error;
  }
  return sync_open_file(previous_->directory.descriptor(), before_sync);
}

int Link::commit(const Program& program, const BeforeSync& before_sync, bool moves_previous) {
  if (!previous_ || !moves_previous) return move(program, before_sync);
  const std::string before = previous_->directory.read_link(previous_->name);
  int error = move_previous(program, before_sync);
  if (error == 0) error = move(program, before_sync);
  if (error == 0 || previous_->directory.read_link(previous_->name) == before) return error;
  if (before.empty()) {
    previous_->directory.remove(previous_->name);
  } else {
    static_cast<void>(previous_->directory.replace_link(previous_->name, before));
  }
  return error;
}

int Link::move(const Program& program, const BeforeSync& before_sync) {
  if (const int error = link_.directory.moved(); error != 0) return error;
  const std::string present = link_.directory.read_link(link_.name);
  if (present.empty()) return errno;
  if (const int error = program.path_changed(); error != 0) return error;
  std::string target;
  if (const int error = prepare_for(program, present[0] != '/', target); error != 0) return error;
  if (const int error = link_.directory.put(link_.name); error != 0) return error;
  if (const int error = sync_open_file(link_.directory.descriptor(), before_sync); error != 0) {
    static_cast<void>(link_.directory.replace_link(link_.name, present));
    return error;
  }
  committed_ = std::move(target);
  return 0;
}

int Link::restore(const BeforeSync& before_sync) const {
  if (const int error = link_.directory.moved(); error != 0) return error;
  const std::string present = link_.directory.read_link(link_.name);
  if (present == committed_) return 0;
  if (present.empty() && errno != ENOENT) return errno;
  if (const int error = link_.directory.replace_link(link_.name, committed_); error != 0)
    return error;
  return sync_open_file(link_.directory.descriptor(), before_sync);
}

}  // namespace upgrader
