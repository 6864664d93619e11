// The fuzz target of agent-releases. It passes bytes to all code that reads bytes from outside:
// manifests, signatures, keys, ledgers, lists of files, a status.json, and archives, which are
// unpacked into a directory. The first byte of an input selects one of these kinds for the
// remaining bytes. Aborts the process if an accepted input breaks a rule.
#pragma once

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "agent-releases/manifest.h"
#include "tools/agent-releases/core/ledger.h"
#include "tools/agent-releases/core/member.h"
#include "tools/agent-releases/core/minisign.h"
#include "tools/agent-releases/core/names.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/remove.h"
#include "tools/agent-releases/shell/unpack.h"
#include "tools/agent-releases/shell/verification.h"

namespace releases_target {

using namespace agent_releases;

// The number of kinds of input. An input's kind, counted from 0, is its first byte modulo `kinds`.
inline constexpr unsigned kinds = 6;
inline constexpr unsigned archive = 5;  // the kind of an input that is an archive

// Injected errors, which the checks below must find. An error has an effect only if the tested code
// accepts the input: a manifest, the entries of a ledger, or an archive.
enum class Planted { nothing, name_that_leads_out, entry_of_nothing, file_that_is_not_listed };
inline Planted planted = Planted::nothing;

inline void must(bool truth) {
  if (!truth) std::abort();
}

// Checks an accepted manifest. Its members must be safe as parts of a path. After it was written
// and read again, it must be the same.
inline void take_manifest(std::string_view text) {
  const auto manifest = parse_manifest(text);
  if (!manifest) return;
  must(static_cast<bool>(check_name(manifest.value().name)));
  std::string name = release_name(manifest.value().name, manifest.value().version);
  if (planted == Planted::name_that_leads_out) name += "/..";
  must(name.find('/') == std::string::npos && name.size() < 256 && !name.starts_with('.'));
  const auto known = recognise(name, manifest.value().name);
  must(known && known->kind == Known::Kind::release);
  const std::string written = to_text(manifest.value());
  const auto again = parse_manifest(written);
  must(again && to_text(again.value()) == written);
}

inline void take_ledger(std::string_view text) {
  std::size_t sound = 0;
  const auto entries = parse_ledger(text, &sound);
  if (planted == Planted::entry_of_nothing && !entries.empty()) sound = text.size() + 1;
  must(sound <= text.size());
  for (const Entry& entry : entries)
    must(parse_ledger(to_line(entry)).size() == 1);
}

// Makes a directory, in a memory file system if possible, because unpacking syncs each file, which
// is slow on a disk.
inline std::string make_place() {
  std::string place = "/dev/shm/fuzz-releases-XXXXXX";
  if (::mkdtemp(place.data()) == nullptr) {
    place = "/tmp/fuzz-releases-XXXXXX";
    must(::mkdtemp(place.data()) != nullptr);
  }
  return place;
}

// Unpacks an archive, and checks the result. The unpacking must not create a file outside the
// target directory. If the archive is accepted, that directory must have exactly the files of the
// archive's list.
inline void take_archive(std::string_view bytes) {
  const std::string place = make_place();
  const auto outside = Directory::open(place);
  must(static_cast<bool>(outside.value().make_directory("inside", 0700)));
  const auto inside = outside.value().subdirectory("inside");
  const int file = ::memfd_create("archive", MFD_CLOEXEC);
  must(::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const auto list = unpack(file, static_cast<std::int64_t>(bytes.size()), inside.value());
  ::close(file);
  bool sound = true;
  if (list) {
    const auto listed = parse_list(list.value());
    if (planted == Planted::file_that_is_not_listed) {
      must(static_cast<bool>(inside.value().make_directory("planted", 0700)));
    }
    sound = listed && compare_tree(inside.value(), listed.value());
  }
  sound = sound && outside.value().names().value().size() == 1;
  must(static_cast<bool>(outside.value().remove("inside")));
  ::rmdir(place.c_str());
  must(sound);
}

// Passes an input to the code that reads this kind of input.
inline void take(std::string_view input) {
  if (input.empty()) return;
  const std::string_view text = input.substr(1);
  switch (static_cast<unsigned char>(input.front()) % kinds) {
    case 0:
      take_manifest(text);
      break;
    case 1:
      static_cast<void>(verify_signature("message", text, {PublicKey{}}));
      static_cast<void>(parse_public_key(text));
      break;
    case 2:
      take_ledger(text);
      break;
    case 3:
      static_cast<void>(parse_list(text));
      static_cast<void>(member_path(text));
      static_cast<void>(check_link_target(text, 2));
      break;
    case 4:
      static_cast<void>(uses_of_status(std::string(text), "control"));
      break;
    case archive:
      take_archive(text);
      break;
  }
}

}  // namespace releases_target
