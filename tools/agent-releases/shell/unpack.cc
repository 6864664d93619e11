#include "tools/agent-releases/shell/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/sha256.h"
#include "tools/agent-releases/core/member.h"

namespace agent_releases {
namespace {

constexpr std::size_t read_bytes = 262'144;

struct FreeArchive {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

struct Link {
  std::vector<std::string> path;
  std::string target;
};

std::string joined(const std::vector<std::string>& components) {
  std::string path;
  for (const std::string& component : components)
    path += (path.empty() ? "" : "/") + component;
  return path;
}

// Returns `text`. Refuses a null pointer, which libarchive returns for a name that is not valid
// UTF-8.
Result<std::string> text_of(const char* text, const char* what) {
  if (text != nullptr) return std::string(text);
  return Refusal{std::string("the archive has ") + what + " that is not UTF-8"};
}

// Returns the refusal for an entry of the archive that could not be made. If its name exists
// already (EEXIST), the refusal says that the archive has the entry twice. Otherwise returns
// `failed`, the refusal of the call that has failed.
Refusal refusal_of_entry(const Refusal& failed, const std::string& shown) {
  if (failed.error_number != EEXIST) return failed;
  return Refusal{shown + " is in the archive twice"};
}

class Unpacking {
 public:
  Unpacking(archive* reader, std::int64_t archive_bytes, const Directory& into)
      : reader_(reader), bytes_max_(unpacked_bytes_max(archive_bytes)), into_(into) {}

  Result<std::string> run();

 private:
  Outcome take_all();
  Outcome take(archive_entry* entry);
  Outcome take_file(archive_entry* entry, const std::vector<std::string>& path);
  // A file that is being unpacked.
  struct Writing {
    int file;
    const std::string& path;
    Hash& hash;
  };
  Outcome fill_hole(const Writing& writing, std::int64_t at, std::int64_t end);
  Outcome copy_data(const Writing& writing, std::int64_t length);
  Outcome take_hard_link(const Link& link);
  Outcome take_symbolic_link(const Link& link);
  Outcome note(Listed listed);
  Outcome sync_directories();
  Result<Directory> parent_of(const std::vector<std::string>& path);
  [[nodiscard]] Refusal broken() const;

  archive* reader_;
  std::int64_t bytes_max_;
  const Directory& into_;
  std::int64_t bytes_ = 0;
  std::size_t members_ = 0;
  std::set<std::vector<std::string>> directories_{{}};
  std::vector<Link> hard_links_;
  std::vector<Link> symbolic_links_;
  // the files unpacked so far, by path; hard links may refer to them
  std::map<std::string, Listed> files_;
  std::string list_;
};

Refusal Unpacking::broken() const {
  const char* why = archive_error_string(reader_);
  return Refusal{std::string("the archive cannot be read: ") + (why != nullptr ? why : "damaged")};
}

Outcome Unpacking::note(Listed listed) {
  list_ += to_line(listed);
  if (listed.kind == Listed::Kind::file) files_.emplace(listed.path, listed);
  if (list_.size() <= member_list_bytes_max) return std::monostate{};
  return Refusal{"the archive's names have more than 16,777,216 bytes"};
}

// Opens the directory that contains the entry with this path, and makes missing directories. No
// component of the path can be a symbolic link, because symbolic links are made only after all
// files.
Result<Directory> Unpacking::parent_of(const std::vector<std::string>& path) {
  Result<Directory> parent = into_.subdirectory(".");
  std::vector<std::string> way;
  for (std::size_t i = 0; parent && i + 1 < path.size(); ++i) {
    way.push_back(path[i]);
    if (directories_.insert(way).second) {
      const Outcome made = parent.value().make_directory(path[i], 0700);
      if (!made) return made.refusal();
      const Outcome noted = note({.kind = Listed::Kind::directory, .path = joined(way)});
      if (!noted) return noted.refusal();
    }
    Result<Directory> next = parent.value().subdirectory(path[i]);
    if (!next) return Refusal{joined(way) + " is a directory and something else in the archive"};
    parent = std::move(next);
  }
  return parent;
}

// Writes zeros for the bytes from `at` to `end`, a hole of a sparse file.
Outcome Unpacking::fill_hole(const Writing& writing, std::int64_t at, std::int64_t end) {
  static constexpr std::array<char, 4'096> zeros{};
  for (; at < end; at += static_cast<std::int64_t>(zeros.size())) {
    const std::int64_t gap = std::min<std::int64_t>(end - at, zeros.size());
    const std::string_view hole(zeros.data(), static_cast<std::size_t>(gap));
    writing.hash.add(hole);
    if (const Outcome written = write_all(writing.file, writing.path, hole); !written) {
      return written;
    }
  }
  return std::monostate{};
}

// Writes the content of the current entry, a file of `length` bytes. libarchive gives the offset of
// each piece of data, and skips the holes of a sparse file. It does not report a hole after the
// last piece, so the rest up to `length` is filled with zeros.
Outcome Unpacking::copy_data(const Writing& writing, std::int64_t length) {
  std::int64_t at = 0;
  while (true) {
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int result = archive_read_data_block(reader_, &bytes, &size, &offset);
    if (result != ARCHIVE_OK && result != ARCHIVE_EOF) return broken();
    if (result == ARCHIVE_EOF) offset = std::max(at, length);
    const auto end = offset + static_cast<std::int64_t>(size);
    if (offset < at || end - at > bytes_max_ - bytes_) {
      return Refusal{"the archive has more than " + std::to_string(bytes_max_) +
                     " bytes when it is unpacked"};
    }
    bytes_ += end - at;
    if (const Outcome filled = fill_hole(writing, at, offset); !filled) return filled;
    if (result == ARCHIVE_EOF) return std::monostate{};
    at = end;
    const std::string_view piece(static_cast<const char*>(bytes), size);
    writing.hash.add(piece);
    if (const Outcome written = write_all(writing.file, writing.path, piece); !written) {
      return written;
    }
  }
}

Outcome Unpacking::take_file(archive_entry* entry, const std::vector<std::string>& path) {
  const mode_t mode = archive_entry_perm(entry);
  const std::string shown = joined(path);
  if ((mode & (S_ISUID | S_ISGID)) != 0) {
    return Refusal{shown + " would run as another user (set-user-ID or set-group-ID)"};
  }
  if (archive_entry_size(entry) > bytes_max_ - bytes_) {
    return Refusal{"the archive has more than " + std::to_string(bytes_max_) +
                   " bytes when it is unpacked"};
  }
  const Result<Directory> parent = parent_of(path);
  if (!parent) return parent.refusal();
  const auto file = parent.value().open_file(path.back(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!file) return refusal_of_entry(file.refusal(), shown);
  Hash hash;
  const int descriptor = file.value().get();
  const Outcome copied = copy_data({descriptor, shown, hash}, archive_entry_size(entry));
  if (!copied) return copied;
  const mode_t kept = (mode & 0111) != 0 ? 0555U : 0444U;
  if (::fchmod(descriptor, kept) != 0) return refusal_from_errno("write", shown);
  if (const Outcome synced = sync(descriptor, shown); !synced) return synced;
  return note({.kind = Listed::Kind::file, .mode = kept, .sha256 = hash.digits(), .path = shown});
}

Outcome Unpacking::take(archive_entry* entry) {
  const Result<std::string> name = text_of(archive_entry_pathname(entry), "a name");
  if (!name) return name.refusal();
  const auto path = member_path(name.value());
  if (!path) return Refusal{"the archive's name " + name.value() + " " + path.reason()};
  if (const char* target = archive_entry_hardlink(entry)) {
    hard_links_.push_back({path.value(), target});
    return std::monostate{};
  }
  const auto type = archive_entry_filetype(entry);
  if (type == AE_IFDIR) {
    if (directories_.contains(path.value())) return std::monostate{};
    std::vector<std::string> below = path.value();
    // parent_of() creates the directory of a path without the path's last component. The path gets
    // an empty last component, so that parent_of() creates the directory of this entry.
    below.emplace_back();
    const Result<Directory> made = parent_of(below);
    return made ? Outcome(std::monostate{}) : Outcome(made.refusal());
  }
  if (path.value().empty()) return Refusal{"the archive's own directory is something else in it"};
  if (type == AE_IFREG) return take_file(entry, path.value());
  if (type != AE_IFLNK) return Refusal{name.value() + " is neither a file, a directory nor a link"};
  const auto target = text_of(archive_entry_symlink(entry), "a link");
  if (!target) return target.refusal();
  symbolic_links_.push_back({path.value(), target.value()});
  return std::monostate{};
}

Outcome Unpacking::take_hard_link(const Link& link) {
  const std::string shown = joined(link.path);
  const auto target = member_path(link.target);
  if (!target) return Refusal{"the link " + shown + ": its target " + target.reason()};
  const auto found = files_.find(joined(target.value()));
  if (found == files_.end()) return Refusal{"the link " + shown + " names no file of the archive"};
  const Listed listed = found->second;
  const auto from = parent_of(target.value());
  const auto parent = link.path.empty() ? Result<Directory>(Refusal{}) : parent_of(link.path);
  if (!from || !parent) return Refusal{"the link " + shown + " cannot be made"};
  if (::linkat(from.value().descriptor(), target.value().back().c_str(),
               parent.value().descriptor(), link.path.back().c_str(), 0) != 0) {
    return refusal_of_entry(refusal_from_errno("link", shown), shown);
  }
  return note(
      {.kind = Listed::Kind::file, .mode = listed.mode, .sha256 = listed.sha256, .path = shown});
}

Outcome Unpacking::take_symbolic_link(const Link& link) {
  const std::string shown = joined(link.path);
  if (const Outcome sound = check_link_target(link.target, link.path.size() - 1); !sound) {
    return Refusal{"the link " + shown + ": its target " + link.target + " " + sound.reason()};
  }
  const Result<Directory> parent = parent_of(link.path);
  if (!parent) return parent.refusal();
  if (const Outcome made = parent.value().link(link.target, link.path.back()); !made) {
    return refusal_of_entry(made.refusal(), shown);
  }
  Hash hash;
  hash.add(link.target);
  return note({.kind = Listed::Kind::link, .sha256 = hash.digits(), .path = shown});
}

Outcome Unpacking::take_all() {
  while (true) {
    archive_entry* entry = nullptr;
    const int result = archive_read_next_header(reader_, &entry);
    if (result == ARCHIVE_EOF) return std::monostate{};
    // An archive with damaged bytes must be refused, even if libarchive could continue after these
    // bytes (ARCHIVE_RETRY).
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return broken();
    if (++members_ > members_max) return Refusal{"the archive has more than 100,000 entries"};
    if (const Outcome taken = take(entry); !taken) return taken;
  }
}

// Syncs all directories, the deepest first, and gives each directory its final mode.
Outcome Unpacking::sync_directories() {
  for (auto path = directories_.rbegin(); path != directories_.rend(); ++path) {
    std::vector<std::string> below = *path;
    below.emplace_back();
    const Result<Directory> directory = parent_of(below);
    if (!directory) return directory.refusal();
    const std::string shown = joined(*path);
    if (::fchmod(directory.value().descriptor(), 0755) != 0) {
      return refusal_from_errno("write", shown);
    }
    if (const Outcome synced = directory.value().sync(); !synced) return synced;
  }
  return std::monostate{};
}

Result<std::string> Unpacking::run() {
  if (const Outcome taken = take_all(); !taken) return taken.refusal();
  if (members_ == 0) return Refusal{"the archive is empty"};
  for (const Link& link : hard_links_) {
    if (const Outcome made = take_hard_link(link); !made) return made.refusal();
  }
  for (const Link& link : symbolic_links_) {
    if (const Outcome made = take_symbolic_link(link); !made) return made.refusal();
  }
  if (const Outcome synced = sync_directories(); !synced) return synced.refusal();
  return list_;
}

}  // namespace

Result<std::string> unpack(int archive, std::int64_t archive_bytes, const Directory& into) {
  const Utf8Locale utf8;
  const std::unique_ptr<struct archive, FreeArchive> reader(archive_read_new());
  if (!reader) return Refusal{"libarchive cannot be used", Trouble::system};
  archive_read_support_format_tar(reader.get());
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_filter_xz(reader.get());
  archive_read_support_filter_zstd(reader.get());
  if (::lseek(archive, 0, SEEK_SET) != 0) return refusal_from_errno("read", "the archive");
  if (archive_read_open_fd(reader.get(), archive, read_bytes) != ARCHIVE_OK) {
    const char* why = archive_error_string(reader.get());
    return Refusal{std::string("the archive cannot be read: ") +
                   (why != nullptr ? why : "damaged")};
  }
  return Unpacking(reader.get(), archive_bytes, into).run();
}

}  // namespace agent_releases
