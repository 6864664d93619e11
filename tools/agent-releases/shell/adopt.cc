// Adopts a program that was installed as a plain file: makes a release from the file, and replaces
// the file by a link to the release.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "agent-releases/manifest.h"
#include "agent-releases/processor.h"
#include "agent-releases/releases.h"
#include "base/sha256.h"
#include "tools/agent-releases/core/names.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/store.h"
#include "tools/agent-releases/shell/verification.h"

namespace agent_releases {
namespace {

class Adoption {
 public:
  Adoption(const Store& store, Directory parent, std::string base, const Version& version)
      : store_(store),
        parent_(std::move(parent)),
        base_(std::move(base)),
        path_(parent_.path_of(base_)),
        name_(store.name_of(version)),
        version_(version) {}

  Outcome run();

 private:
  Result<upgrader::OwnedFd> open_program() const;
  Outcome learn_processor(int program);
  Outcome copy(int program, const Directory& staging);
  Outcome place(const Directory& staging, std::int64_t size);
  Outcome link_current() const;
  Outcome link_place() const;

  const Store& store_;
  Directory parent_;  // the directory of the plain file that becomes a release
  std::string base_;
  std::string path_;
  std::string name_;
  Version version_;
  std::string sha256_;
  std::string arch_;
};

Result<upgrader::OwnedFd> Adoption::open_program() const {
  if (parent_.link_target(base_)) {
    return Refusal{path_ + " is a link already: there is nothing to adopt"};
  }
  Result<upgrader::OwnedFd> program = parent_.open_file(base_, O_RDONLY);
  if (!program) return program.refusal();
  struct stat status {};
  if (::fstat(program.value().get(), &status) != 0) return refusal_from_errno("read", path_);
  if (!S_ISREG(status.st_mode) || (status.st_mode & executable_bits) == 0) {
    return Refusal{path_ + " is no program: it is no regular file that can be executed"};
  }
  if ((status.st_mode & (S_ISUID | S_ISGID)) != 0) {
    return Refusal{path_ +
                   " runs as another user (set-user-ID or set-group-ID), and a release "
                   "does not"};
  }
  return program;
}

// Finds out the program's processor, and stores it in arch_. For a script, this machine's processor
// is stored, because the script's interpreter may not exist on machines with a different processor.
Outcome Adoption::learn_processor(int program) {
  std::array<char, elf_header_bytes> header;
  const ssize_t count = ::pread(program, header.data(), header.size(), 0);
  if (count < 0) return refusal_from_errno("read", path_);
  const auto named = processor_of_elf({header.data(), static_cast<std::size_t>(count)});
  arch_ = named.value_or(processor_built_for());
  return std::monostate{};
}

Outcome Adoption::copy(int program, const Directory& staging) {
  const auto file = staging.open_file(name_, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!file) return file.refusal();
  Hash hash;
  std::int64_t size = 0;
  const Outcome copied = read_pieces(program, path_, [&](std::string_view piece) {
    hash.add(piece);
    size += static_cast<std::int64_t>(piece.size());
    return write_all(file.value().get(), staging.path_of(name_), piece);
  });
  if (!copied) return copied;
  if (size == 0) return Refusal{path_ + " is empty"};
  sha256_ = hash.digits();
  if (::fchmod(file.value().get(), release_mode) != 0) {
    return refusal_from_errno("write", staging, name_);
  }
  const Outcome synced = sync(file.value().get(), staging.path_of(name_));
  return synced ? place(staging, size) : synced;
}

// Moves the release's files from .staging into the directory of releases, first the manifest and
// last the program. The release exists as soon as its program is in the directory, so its manifest
// must be there before.
Outcome Adoption::place(const Directory& staging, std::int64_t size) {
  const Directory& directory = store_.directory();
  const auto there_already = directory.status(name_);
  if (!there_already) return there_already.refusal();
  if (there_already.value()) {
    const auto release = store_.find(version_);
    if (!release) return release.refusal();
    const auto there =
        release.value() ? hash_release(store_, *release.value()) : Result<std::string>(Refusal{});
    if (there && there.value() == sha256_) return staging.remove(name_);
    return Refusal{directory.path_of(name_) + " exists, with other bytes than " + path_};
  }
  const std::string beside = name_ + std::string(manifest_ending);
  const Manifest manifest{.name = store_.name(),
                          .version = version_,
                          .arch = arch_,
                          .kind = Kind::file,
                          .size = size,
                          .sha256 = sha256_,
                          .entry = "",
                          .min_protocol = 1,
                          .url = name_,
                          .expires = std::nullopt};
  if (const Outcome written = staging.write(beside, to_text(manifest)); !written) return written;
  if (const Outcome moved = staging.rename(beside, directory, beside); !moved) return moved;
  if (const Outcome synced = directory.sync(); !synced) return synced;
  const Outcome moved = staging.rename(name_, directory, name_, Directory::Existing::keep);
  return moved ? directory.sync() : moved;
}

// Makes the link `current` in the directory of releases, unless it exists already. `current` leads
// to the path at which the program was installed, and link_place() makes that path a link to the
// release. A later commit replaces the link at that path, so that `current` leads to the new
// release.
Outcome Adoption::link_current() const {
  const Directory& directory = store_.directory();
  const std::string current{current_name};
  const bool is_current = parent_.path() == directory.path() && base_ == current;
  if (is_current) return std::monostate{};
  const auto there = directory.status(current);
  if (!there) return there.refusal();
  if (there.value()) return std::monostate{};
  if (const Outcome made = directory.link(path_, current); !made) return made;
  return directory.sync();
}

// Replaces the installed program, a plain file, by a link to the release. The link is made beside
// the file under the temporary name .FILE.adopted, and is then renamed. If this name would be too
// long, FILE is shortened in it.
Outcome Adoption::link_place() const {
  const std::string_view ending = ".adopted";
  const std::size_t room = component_bytes_max - 1 - ending.size();
  const std::string temporary = "." + base_.substr(0, room) + std::string(ending);
  const std::string target =
      parent_.path() == store_.directory().path() ? name_ : store_.directory().path_of(name_);
  if (const Outcome gone = parent_.remove(temporary); !gone) return gone;
  if (const Outcome made = parent_.link(target, temporary); !made) return made;
  if (const Outcome moved = parent_.rename(temporary, parent_, base_); !moved) {
    static_cast<void>(parent_.remove(temporary));
    return moved;
  }
  return parent_.sync();
}

Outcome Adoption::run() {
  const Result<upgrader::OwnedFd> program = open_program();
  if (!program) return program.refusal();
  const Outcome learnt = learn_processor(program.value().get());
  if (!learnt) return learnt.refusal();
  const Result<Writing> writing = store_.begin_writing();
  if (!writing) return writing.refusal();
  if (store_.is_claimed(writing.value().staging, version_)) {
    return Refusal{"another process is adding version " + version_.text()};
  }
  const Outcome copied = copy(program.value().get(), writing.value().staging);
  if (!copied) {
    static_cast<void>(store_.clean(writing.value().staging, ""));
    return copied;
  }
  if (const Outcome linked = link_current(); !linked) return linked;
  return link_place();
}

}  // namespace

Result<Release> Releases::adopt(const std::string& link, const Version& version) {
  if (const Outcome sound = check_version(version); !sound) return sound.refusal();
  const std::size_t slash = link.find_last_of('/');
  const std::string base = slash == std::string::npos ? link : link.substr(slash + 1);
  const std::string before = slash == std::string::npos ? "." : link.substr(0, slash + 1);
  const std::optional<std::string> parent_path = real_path(before);
  if (!parent_path) return refusal_from_errno("find", before);
  if (base.empty()) return Refusal{link + " is no file", Trouble::usage};
  Result<Directory> parent = Directory::open(*parent_path);
  if (!parent) return parent.refusal();
  const Outcome adopted = Adoption(*store_, std::move(parent.value()), base, version).run();
  if (!adopted) return adopted.refusal();
  return find(version);
}

}  // namespace agent_releases
