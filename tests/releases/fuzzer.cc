// libFuzzer on all of agent-releases that takes bytes from elsewhere: manifests, signatures, keys,
// ledgers, lists of files, a status.json, and archives, which are unpacked into a directory of
// their own. The first byte of an input says which. What is taken is held to what it promises.
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "node/releases/core/file_list.h"
#include "node/releases/core/ledger.h"
#include "node/releases/core/manifest.h"
#include "node/releases/core/member.h"
#include "node/releases/core/minisign.h"
#include "node/releases/core/names.h"
#include "node/releases/shell/directory.h"
#include "node/releases/shell/tree.h"
#include "node/releases/shell/unpack.h"
#include "node/releases/shell/use.h"

using namespace agent_releases;

namespace {

void must(bool truth) {
  if (!truth) std::abort();
}

// What is accepted is safe to be part of a path, and is the same when it is written and read again.
void take_manifest(std::string_view text) {
  const auto manifest = parse_manifest(text);
  if (!manifest) return;
  must(static_cast<bool>(check_name(manifest.value().name)));
  const std::string name = release_name(manifest.value().name, manifest.value().version);
  must(name.find('/') == std::string::npos && name.size() < 256 && !name.starts_with('.'));
  const auto known = recognise(name, manifest.value().name);
  must(known && known->kind == Known::Kind::release);
  const std::string written = to_text(manifest.value());
  const auto again = parse_manifest(written);
  must(again && to_text(again.value()) == written);
}

void take_ledger(std::string_view text) {
  std::size_t sound = 0;
  const auto entries = parse_ledger(text, &sound);
  must(sound <= text.size());
  for (const Entry& entry : entries)
    must(parse_ledger(to_line(entry)).size() == 1);
}

// Nothing is made beside the directory, and what is in it is what the list says.
void take_archive(std::string_view bytes) {
  char place[] = "/tmp/fuzz-releases-XXXXXX";
  must(::mkdtemp(place) != nullptr);
  const auto outside = Directory::open(place);
  must(static_cast<bool>(outside.value().make_directory("inside", 0700)));
  const auto inside = outside.value().subdirectory("inside");
  const int file = ::memfd_create("archive", MFD_CLOEXEC);
  must(::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const auto list = unpack(file, static_cast<std::int64_t>(bytes.size()), inside.value());
  ::close(file);
  if (list) {
    const auto listed = parse_list(list.value());
    must(static_cast<bool>(listed));
    must(static_cast<bool>(compare_tree(inside.value(), listed.value())));
  }
  must(outside.value().names().value().size() == 1);
  must(static_cast<bool>(outside.value().remove("inside")));
  ::rmdir(place);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 6) {
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
    case 5:
      take_archive(text);
      break;
  }
  return 0;
}
