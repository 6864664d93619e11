#include "tools/agent-releases/shell/pack_files.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <utility>

#include "agent-releases/processor.h"
#include "base/sha256.h"
#include "tools/agent-releases/core/member.h"
#include "tools/agent-releases/core/minisign.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/interruption.h"
#include "tools/agent-releases/shell/lock.h"
#include "tools/agent-releases/shell/unpack.h"

namespace agent_releases {
namespace {

using Tree = std::vector<Found>;

Outcome look_below(const Directory& directory, const std::string& before, std::size_t depth,
                   Tree& tree);

Outcome look_at_entry(const Directory& directory, const std::string& name, const std::string& path,
                      std::size_t depth, Tree& tree) {
  const auto status = directory.status(name);
  if (!status) return status.refusal();
  if (!status.value()) return Refusal{directory.path_of(name) + " vanished while it was packed"};
  if (S_ISREG(status.value()->st_mode)) {
    const auto file = directory.open_file(name, O_RDONLY);
    if (!file) return file.refusal();
    auto found = look_at_file(file.value().get(), path);
    if (!found) return found.refusal();
    tree.push_back(std::move(found.value()));
    return std::monostate{};
  }
  Found found{.path = path, .kind = Found::Kind::other};
  if (S_ISLNK(status.value()->st_mode)) {
    found.kind = Found::Kind::link;
    found.target = directory.link_target(name).value_or("");
  }
  if (!S_ISDIR(status.value()->st_mode)) {
    tree.push_back(std::move(found));
    return std::monostate{};
  }
  found.kind = Found::Kind::directory;
  tree.push_back(std::move(found));
  const auto below = directory.subdirectory(name);
  if (!below) return below.refusal();
  return look_below(below.value(), path + "/", depth + 1, tree);
}

Outcome look_below(const Directory& directory, const std::string& before, std::size_t depth,
                   Tree& tree) {
  if (depth >= member_depth_max) return Refusal{before + " is too deep for a release"};
  const auto names = directory.names();
  if (!names) return names.refusal();
  for (const std::string& name : names.value()) {
    if (tree.size() > members_max) return Refusal{"the directory has more than 100,000 entries"};
    const Outcome looked = look_at_entry(directory, name, before + name, depth, tree);
    if (!looked) return looked;
  }
  return std::monostate{};
}

// Returns the time of the last write to the file, in nanoseconds since 1970.
std::int64_t written_ns(const struct stat& status) {
  constexpr std::int64_t second_ns = 1'000'000'000;
  return status.st_mtim.tv_sec * second_ns + status.st_mtim.tv_nsec;
}

std::string temporary_name(const std::string& name) {
  return "." + name + ".packing";
}

constexpr std::size_t piece_bytes = 262'144;

// The compression level. Level 12 takes twice as long, and 48 MB of memory instead of 12 MB, and
// makes the archive only one percent smaller.
constexpr const char* zstd_level = "9";

struct FreeWriter {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

// Writes to the outgoing file, and counts and hashes the bytes. Remembers the reason for the first
// failure, because libarchive does not report it.
class Sink {
 public:
  explicit Sink(Outgoing& into) : into_(into) {}

  Outcome write(std::string_view bytes) {
    hash_.add(bytes);
    bytes_ += static_cast<std::int64_t>(bytes.size());
    const Outcome written = into_.write(bytes);
    if (!written && !failure_) failure_ = written.refusal();
    return written;
  }
  [[nodiscard]] const std::optional<Refusal>& failure() const { return failure_; }
  Written written() { return {bytes_, hash_.digits()}; }

 private:
  Outgoing& into_;
  Hash hash_;
  std::int64_t bytes_ = 0;
  std::optional<Refusal> failure_;
};

using Take = std::function<Outcome(std::string_view)>;

bool is_as_found(int file, const Found& found) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == found.bytes &&
         (status.st_mode & permission_bits) == found.mode && written_ns(status) == found.written_ns;
}

Outcome read_found(int file, const Found& found, const Take& take) {
  const Refusal changed{found.path + " was changed while it was packed: pack it again"};
  if (!is_as_found(file, found)) return changed;
  std::vector<char> piece(piece_bytes);
  std::int64_t left = found.bytes;
  while (true) {
    if (const Outcome none = not_interrupted(); !none) return none;
    const ssize_t count = ::read(file, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refusal_from_errno("read", found.path);
    if (count == 0) break;
    left -= count;
    if (left < 0) break;
    const Outcome taken = take({piece.data(), static_cast<std::size_t>(count)});
    if (!taken) return taken;
  }
  return left == 0 && is_as_found(file, found) ? Outcome(std::monostate{}) : changed;
}

la_ssize_t sink_bytes(archive*, void* sink, const void* bytes, std::size_t size) {
  const auto done = static_cast<Sink*>(sink)->write({static_cast<const char*>(bytes), size});
  return done ? static_cast<la_ssize_t>(size) : -1;
}

class Archiving {
 public:
  Archiving(archive* writer, const Directory& directory, Sink& sink)
      : writer_(writer), directory_(directory), sink_(sink) {}

  Outcome run(const std::vector<Found>& tree);

 private:
  Outcome begin();
  Outcome add(const Found& found);
  Outcome add_bytes(const Found& found);
  [[nodiscard]] Refusal broken() const;

  archive* writer_;
  const Directory& directory_;
  Sink& sink_;
};

Refusal Archiving::broken() const {
  if (sink_.failure()) return *sink_.failure();
  const char* why = archive_error_string(writer_);
  return Refusal{std::string("cannot make the archive: ") + (why != nullptr ? why : "libarchive"),
                 Trouble::system};
}

Outcome Archiving::begin() {
  archive_write_set_bytes_in_last_block(writer_, 1);  // adds no padding after the compressed bytes
  if (archive_write_set_format_pax_restricted(writer_) != ARCHIVE_OK ||
      archive_write_add_filter_zstd(writer_) != ARCHIVE_OK ||
      archive_write_set_filter_option(writer_, "zstd", "compression-level", zstd_level) !=
          ARCHIVE_OK ||
      archive_write_open(writer_, &sink_, nullptr, sink_bytes, nullptr) != ARCHIVE_OK) {
    return broken();
  }
  return std::monostate{};
}

Outcome Archiving::add_bytes(const Found& found) {
  const upgrader::OwnedFd file(::openat(directory_.descriptor(), found.path.c_str(),
                                        O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) return refusal_from_errno("open", found.path);
  return read_found(file.get(), found, [&](std::string_view piece) -> Outcome {
    const auto size = static_cast<la_ssize_t>(piece.size());
    if (archive_write_data(writer_, piece.data(), piece.size()) == size) return std::monostate{};
    return broken();
  });
}

// Adds a file to the archive, but not the file's owner and time. With them, the archive would
// differ from machine to machine, and the command `add` ignores them anyway.
Outcome Archiving::add(const Found& found) {
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  if (!entry) return broken();
  archive_entry_copy_pathname(entry.get(), found.path.c_str());
  archive_entry_set_mtime(entry.get(), 0, 0);
  const bool executable = (found.mode & executable_bits) != 0;
  switch (found.kind) {
    case Found::Kind::file:
      archive_entry_set_filetype(entry.get(), AE_IFREG);
      archive_entry_set_perm(entry.get(), executable ? release_mode : 0444);
      archive_entry_set_size(entry.get(), found.bytes);
      break;
    case Found::Kind::directory:
      archive_entry_set_filetype(entry.get(), AE_IFDIR);
      archive_entry_set_perm(entry.get(), directory_mode);
      break;
    case Found::Kind::link:
      archive_entry_set_filetype(entry.get(), AE_IFLNK);
      archive_entry_set_perm(entry.get(), 0777);
      archive_entry_copy_symlink(entry.get(), found.target.c_str());
      break;
    case Found::Kind::other:
      break;
  }
  if (archive_write_header(writer_, entry.get()) != ARCHIVE_OK) return broken();
  return found.kind == Found::Kind::file ? add_bytes(found) : Outcome(std::monostate{});
}

Outcome Archiving::run(const std::vector<Found>& tree) {
  if (const Outcome begun = begin(); !begun) return begun;
  for (const Found& found : tree) {
    if (const Outcome none = not_interrupted(); !none) return none;
    if (const Outcome added = add(found); !added) return added;
  }
  if (archive_write_close(writer_) != ARCHIVE_OK) return broken();
  return std::monostate{};
}

}  // namespace

Result<std::vector<Found>> look_at_tree(const Directory& tree) {
  Tree found;
  const Outcome looked = look_below(tree, "", 0, found);
  if (!looked) return looked.refusal();
  return found;
}

Result<Found> look_at_file(int file, const std::string& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return refusal_from_errno("look at", path);
  Found found{.path = path, .mode = status.st_mode & permission_bits, .bytes = status.st_size};
  found.written_ns = written_ns(status);
  if (!S_ISREG(status.st_mode)) {
    found.kind = Found::Kind::other;
    return found;
  }
  std::array<char, key_bytes_max> bytes;
  const ssize_t count = ::pread(file, bytes.data(), bytes.size(), 0);
  if (count < 0) return refusal_from_errno("read", path);
  const std::string_view beginning(bytes.data(), static_cast<std::size_t>(count));
  found.beginning = beginning.substr(0, elf_header_bytes);
  found.is_secret_key = static_cast<bool>(parse_secret_key(beginning));
  return found;
}

Outgoing::Outgoing(const Directory& directory, std::string name, upgrader::OwnedFd file)
    : directory_(&directory), name_(std::move(name)), file_(std::move(file)) {}

// Opens and locks the temporary file. The kernel releases the lock when this process exits, even if
// it is killed.
Result<Outgoing> Outgoing::open(const Directory& directory, const std::string& name) {
  const std::string temporary = temporary_name(name);
  auto locked = try_lock(directory, temporary, O_RDWR);
  if (!locked) return locked.refusal();
  if (!locked.value()) {
    return Refusal{"another process is writing " + directory.path_of(name), Trouble::system};
  }
  Outgoing outgoing(directory, name, std::move(*locked.value()));
  if (::ftruncate(outgoing.descriptor(), 0) != 0) {
    return refusal_from_errno("write", directory, temporary);
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
  if (::fchmod(descriptor(), mode) != 0) return refusal_from_errno("write", *directory_, name_);
  return sync(descriptor(), path());
}

Outcome Outgoing::publish() {
  const Outcome moved = directory_->rename(temporary_name(name_), *directory_, name_);
  if (moved) file_ = upgrader::OwnedFd();
  return moved;
}

Out::Out(Directory directory, bool made) : directory_(std::move(directory)), is_made_(made) {}

Out::Out(Out&& other) noexcept
    : directory_(std::move(other.directory_)), is_made_(std::exchange(other.is_made_, false)) {}

Out::~Out() {
  if (is_made_) ::rmdir(directory_.path().c_str());
}

Result<Out> Out::open(const std::string& path) {
  const Result<bool> made = make_reachable(path);
  if (!made) return made.refusal();
  Result<Directory> directory = Directory::open(path);
  if (!directory) return directory.refusal();
  return Out(std::move(directory.value()), made.value());
}

Result<Written> copy_file(int file, const Found& found, Outgoing& into) {
  Sink sink(into);
  const Outcome copied =
      read_found(file, found, [&](std::string_view piece) { return sink.write(piece); });
  if (!copied) return copied.refusal();
  return sink.written();
}

Result<Written> write_archive(const Directory& directory, const std::vector<Found>& tree,
                              Outgoing& into) {
  const Utf8Locale utf8;
  Sink sink(into);
  const std::unique_ptr<struct archive, FreeWriter> writer(archive_write_new());
  if (!writer) return Refusal{"libarchive cannot be used", Trouble::system};
  const Outcome archived = Archiving(writer.get(), directory, sink).run(tree);
  if (!archived) {
    // Mark the archive as failed. Otherwise the destructor of `writer` would write the end of the
    // archive, which would then look complete.
    archive_write_fail(writer.get());
    return archived.refusal();
  }
  return sink.written();
}

}  // namespace agent_releases
