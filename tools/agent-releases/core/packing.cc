#include "tools/agent-releases/core/packing.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "agent-releases/processor.h"
#include "tools/agent-releases/core/admission.h"
#include "tools/agent-releases/core/member.h"
#include "tools/agent-releases/core/names.h"

namespace agent_releases {
namespace {

constexpr unsigned executable_by_somebody = 0111;
constexpr unsigned set_id_bits = 06000;
constexpr std::string_view any_processor = "any";
constexpr std::string_view script_mark = "#!";
constexpr std::string_view archive_ending = ".tar.zst";

bool is_elf(const Found& file) {
  return file.kind == Found::Kind::file && file.beginning.starts_with("\177ELF");
}

// Returns true if an ELF file is a program that the kernel can execute, and not an object file or a
// core dump.
bool is_program(const Found& elf) {
  constexpr std::size_t order_at = 5;
  constexpr char little = 1;
  constexpr char executable = 2;
  constexpr char shared = 3;
  if (elf.beginning.size() < elf_header_bytes) return false;
  const std::size_t type_at = elf.beginning[order_at] == little ? 16 : 17;
  return elf.beginning[type_at] == executable || elf.beginning[type_at] == shared;
}

Outcome check_size(const Found& file) {
  if (file.bytes < 1) return Refusal{file.path + " is empty"};
  if (file.bytes > release_bytes_max) {
    return Refusal{file.path + " has more than 68,719,476,736 bytes"};
  }
  return std::monostate{};
}

Outcome check_mode(const Found& file) {
  if ((file.mode & set_id_bits) == 0) return std::monostate{};
  return Refusal{file.path +
                 " would run as another user (set-user-ID or set-group-ID), and a release does "
                 "not: chmod ug-s " +
                 file.path};
}

// Checks that the kernel can execute the release's program.
Outcome check_program(const Found& file) {
  if (file.kind != Found::Kind::file) {
    return Refusal{file.path + " is no regular file, so it cannot be what is executed"};
  }
  if ((file.mode & executable_by_somebody) == 0) {
    return Refusal{file.path + " is not executable: chmod +x " + file.path};
  }
  if (file.beginning.starts_with(script_mark)) return std::monostate{};
  if (is_elf(file) && is_program(file)) return std::monostate{};
  return Refusal{file.path +
                 " is no program: it is neither an executable ELF file nor a script that begins "
                 "with #!"};
}

// Returns true if the file belongs to a package that npm or pip has installed.
bool is_installed(const Wanted& wanted, const Found& found) {
  return !wanted.packages.empty() && found.path.starts_with(wanted.packages + "/");
}

// Refuses a member of the archive (a file, directory or link) that `agent-releases add` would
// refuse later. Also refuses a secret key, unless it belongs to a package that npm or pip has
// installed.
Outcome check_member(const Wanted& wanted, const Found& found) {
  const auto path = member_path(found.path);
  if (!path) return Refusal{"the name " + found.path + " " + path.reason()};
  switch (found.kind) {
    case Found::Kind::file:
      if (!found.is_secret_key || is_installed(wanted, found)) return check_mode(found);
      return Refusal{found.path +
                     " is a secret key, which everybody could read in the release: move it out of "
                     "the directory"};
    case Found::Kind::directory:
      return std::monostate{};
    case Found::Kind::link: {
      const Outcome sound = check_link_target(found.target, path.value().size() - 1);
      if (sound) return sound;
      return Refusal{"the link " + found.path + ": its target " + found.target + " " +
                     sound.reason()};
    }
    case Found::Kind::other:
      break;
  }
  return Refusal{found.path +
                 " is a device, a FIFO or a socket; a release has files, directories and links"};
}

// Returns how many bytes a member of the release (a file, directory or link) takes in the list of
// members that `add` writes: the length of its line.
std::size_t listed_bytes(const Found& found) {
  constexpr std::size_t hash_digits = 64;
  Listed listed{.sha256 = std::string(hash_digits, '0'), .path = found.path};
  if (found.kind == Found::Kind::directory) listed.kind = Listed::Kind::directory;
  if (found.kind == Found::Kind::link) listed.kind = Listed::Kind::link;
  return to_line(listed).size();
}

Outcome check_list(const std::vector<Found>& tree) {
  std::size_t bytes = 0;
  for (const Found& found : tree)
    bytes += listed_bytes(found);
  if (bytes <= member_list_bytes_max) return std::monostate{};
  return Refusal{
      "the list of the directory's files would have more than 16,777,216 bytes, so no machine "
      "would add the release"};
}

const Found* find(const std::vector<Found>& tree, std::string_view path) {
  const auto found =
      std::ranges::find_if(tree, [&](const Found& each) { return each.path == path; });
  return found == tree.end() ? nullptr : &*found;
}

// Finds the program of the release: the program that the publisher has named, or else NAME or
// bin/NAME.
Result<const Found*> find_entry(const Wanted& wanted, const std::vector<Found>& tree) {
  if (!wanted.entry.empty()) {
    if (const Outcome sound = check_entry(wanted.entry); !sound) return sound.refusal();
    const Found* entry = find(tree, wanted.entry);
    if (entry != nullptr) return entry;
    return Refusal{"there is no " + wanted.entry + " in the directory, which --entry names",
                   Trouble::absent};
  }
  for (const std::string& path : {wanted.name, "bin/" + wanted.name}) {
    const Found* entry = find(tree, path);
    if (entry != nullptr && entry->kind == Found::Kind::file) return entry;
  }
  return Refusal{"the directory has neither " + wanted.name + " nor bin/" + wanted.name +
                     ": name the program that is executed by --entry=PATH",
                 Trouble::usage};
}

Result<std::string> processor_of(const Found& program) {
  const auto processor = processor_of_elf(program.beginning);
  if (processor) return std::string(*processor);
  return Refusal{program.path + " is for a processor that manifests have no name for"};
}

// Returns the processor of an ELF program. Refuses if the publisher has named a different
// processor.
Result<std::string> arch_of_program(const Wanted& wanted, const Found& program) {
  Result<std::string> found = processor_of(program);
  if (!found || wanted.arch.empty() || wanted.arch == found.value()) return found;
  return Refusal{program.path + " is for " + found.value() + ", and not for " + wanted.arch};
}

// Returns the processor of a release whose program is a script. The script itself runs on any
// processor, but the release may also contain libraries and programs that were built for one
// processor.
Result<std::string> arch_of_script(const Wanted& wanted, const std::vector<Found>& tree) {
  std::set<std::string> processors;
  std::string first;
  for (const Found& found : tree) {
    const auto processor = is_elf(found) ? processor_of_elf(found.beginning) : std::nullopt;
    if (!processor) continue;
    if (processors.emplace(*processor).second && processors.size() == 1) first = found.path;
  }
  if (wanted.arch == any_processor) return wanted.arch;
  if (processors.empty()) return wanted.arch.empty() ? std::string(any_processor) : wanted.arch;
  if (!wanted.arch.empty()) {
    if (processors.contains(wanted.arch)) return wanted.arch;
    return Refusal{first + " is for " + *processors.begin() + ", and no file is for " +
                   wanted.arch};
  }
  if (processors.size() == 1) return *processors.begin();
  std::string names;
  for (const std::string& processor : processors)
    names += (names.empty() ? "" : ", ") + processor;
  return Refusal{"the directory has files for several processors, " + names +
                     ": say by --arch which one the release is for",
                 Trouble::usage};
}

}  // namespace

Outcome check_wanted(const Wanted& wanted, Moment now) {
  if (const Outcome sound = check_name(wanted.name); !sound) {
    return Refusal{"--name: " + sound.reason(), Trouble::usage};
  }
  if (const Outcome sound = check_version(wanted.version); !sound) {
    return Refusal{"--version: " + sound.reason(), Trouble::usage};
  }
  if (!wanted.arch.empty() && wanted.arch != any_processor && !is_processor_name(wanted.arch)) {
    return Refusal{"--arch: " + wanted.arch +
                       " is no name of a processor: they are x86_64, i386, aarch64, armhf, armel, "
                       "mips, mipsel, riscv64, ppc64le and s390x, or any",
                   Trouble::usage};
  }
  if (wanted.min_protocol < 1) return Refusal{"--min-protocol is at least 1", Trouble::usage};
  if (wanted.min_protocol > protocol_spoken) {
    return Refusal{"--min-protocol: no machine would add a release that needs agent protocol " +
                       std::to_string(wanted.min_protocol) + ": the newest is " +
                       std::to_string(protocol_spoken),
                   Trouble::usage};
  }
  if (wanted.expires && *wanted.expires <= now) {
    return Refusal{"--expires: " + to_text(*wanted.expires) +
                       " has passed, so no machine would add the release",
                   Trouble::usage};
  }
  return std::monostate{};
}

Result<Packing> plan_file(const Wanted& wanted, const Found& file) {
  if (!wanted.entry.empty()) {
    return Refusal{"--entry is for a directory, and " + file.path + " is a file", Trouble::usage};
  }
  if (const Outcome sound = check_program(file); !sound) return sound.refusal();
  if (const Outcome sound = check_mode(file); !sound) return sound.refusal();
  if (const Outcome sound = check_size(file); !sound) return sound.refusal();
  auto arch = is_elf(file) ? arch_of_program(wanted, file) : arch_of_script(wanted, {});
  if (!arch) return arch.refusal();
  return Packing{.kind = Kind::file, .arch = std::move(arch.value())};
}

Result<Packing> plan_tree(const Wanted& wanted, std::vector<Found> tree) {
  if (tree.empty()) return Refusal{"the directory is empty"};
  if (tree.size() > members_max) return Refusal{"the directory has more than 100,000 entries"};
  std::ranges::sort(tree, {}, &Found::path);
  for (const Found& found : tree) {
    if (const Outcome sound = check_member(wanted, found); !sound) return sound.refusal();
  }
  if (const Outcome sound = check_list(tree); !sound) return sound.refusal();
  const Result<const Found*> entry = find_entry(wanted, tree);
  if (!entry) return entry.refusal();
  const Found& program = *entry.value();
  if (const Outcome sound = check_program(program); !sound) return sound.refusal();
  auto arch = is_elf(program) ? arch_of_program(wanted, program) : arch_of_script(wanted, tree);
  if (!arch) return arch.refusal();
  return Packing{.kind = Kind::tar,
                 .arch = std::move(arch.value()),
                 .entry = program.path,
                 .tree = std::move(tree)};
}

Outcome check_unpacked_bytes(const std::vector<Found>& tree, std::int64_t archive_bytes) {
  std::int64_t bytes = 0;
  for (const Found& found : tree)
    bytes += found.kind == Found::Kind::file ? found.bytes : 0;
  const std::int64_t most = unpacked_bytes_max(archive_bytes);
  if (bytes <= most) return std::monostate{};
  return Refusal{"the directory's files have " + std::to_string(bytes) +
                 " bytes, and of an archive of " + std::to_string(archive_bytes) +
                 " bytes no more than " + std::to_string(most) + " would be unpacked"};
}

std::string published_name(const Wanted& wanted, const Packing& packing) {
  return wanted.name + "-" + wanted.version.text() + "-" + packing.arch;
}

std::string published_file(const Wanted& wanted, const Packing& packing) {
  const std::string_view ending = packing.kind == Kind::tar ? archive_ending : "";
  return published_name(wanted, packing) + std::string(ending);
}

Manifest manifest_of(const Wanted& wanted, const Packing& packing, std::int64_t bytes,
                     const std::string& sha256) {
  return Manifest{.name = wanted.name,
                  .version = wanted.version,
                  .arch = packing.arch,
                  .kind = packing.kind,
                  .size = bytes,
                  .sha256 = sha256,
                  .entry = packing.entry,
                  .min_protocol = wanted.min_protocol,
                  .url = published_file(wanted, packing),
                  .expires = wanted.expires,
                  .undo = wanted.undo};
}

}  // namespace agent_releases
