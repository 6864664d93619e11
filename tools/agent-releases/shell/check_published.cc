// Performs the command `pack --check`: checks a directory of published files as `add` checks them
// on a machine. A publisher can find faults with it before any machine fetches the files.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent-releases/manifest.h"
#include "agent-releases/processor.h"
#include "agent-releases/result.h"
#include "base/shown.h"
#include "tools/agent-releases/core/admission.h"
#include "tools/agent-releases/core/json_object.h"
#include "tools/agent-releases/core/member.h"
#include "tools/agent-releases/core/minisign.h"
#include "tools/agent-releases/core/moment.h"
#include "tools/agent-releases/core/names.h"
#include "tools/agent-releases/shell/commands.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/fetch.h"
#include "tools/agent-releases/shell/interruption.h"
#include "tools/agent-releases/shell/report.h"
#include "tools/agent-releases/shell/trust.h"
#include "tools/agent-releases/shell/unpack.h"
#include "tools/agent-releases/shell/verification.h"

namespace agent_releases {
namespace {

struct CheckedManifest {
  std::string name;  // the name of the manifest file
  Outcome sound = std::monostate{};
  std::string notes{};  // what could not be checked, and why
};

constexpr std::string_view signature_of_manifest = ".minisig";

class Checking {
 public:
  Checking(const Directory& directory, std::vector<PublicKey> keys, Moment now)
      : directory_(directory), keys_(std::move(keys)), now_(now) {}

  // Checks the file `name`. Returns nothing if the file is JSON but not a manifest.
  Result<std::optional<CheckedManifest>> look_at(const std::string& name);

 private:
  Outcome judge(const std::string& text, CheckedManifest& checked);
  Result<std::string> verify(const std::string& text, CheckedManifest& checked) const;
  Outcome judge_alone(const Manifest& manifest, const std::string& comment) const;
  Outcome judge_beside_others(const Manifest& manifest, const std::string& name);
  Outcome judge_file(const Manifest& manifest, CheckedManifest& checked) const;
  static Outcome judge_archive(const Manifest& manifest, int archive);

  const Directory& directory_;
  std::vector<PublicKey> keys_;
  Moment now_;
  // The first manifest for each name, version and processor, and the hash in that manifest. A later
  // manifest with the same name, version and processor must state the same hash.
  std::map<std::string, std::pair<std::string, std::string>> seen_;
};

void note(CheckedManifest& checked, const std::string& text) {
  checked.notes += (checked.notes.empty() ? "" : "; ") + text;
}

Result<std::string> Checking::verify(const std::string& text, CheckedManifest& checked) const {
  const auto signature =
      directory_.read(checked.name + std::string(signature_of_manifest), signature_bytes_max);
  if (!signature) return signature.refusal();
  if (keys_.empty()) {
    note(checked, signature.value() ? "its signature is not verified without --keys=DIR"
                                    : "it is not signed");
    return std::string();
  }
  if (!signature.value()) return Refusal{"the manifest's signature is missing"};
  return verify_signature(text, *signature.value(), keys_);
}

// Checks a manifest as `add` would on a machine with the manifest's processor, in a directory
// without releases.
Outcome Checking::judge_alone(const Manifest& manifest, const std::string& comment) const {
  const std::string_view processor = todays_processor_name(manifest.arch);
  if (manifest.arch != "any" && !is_processor_name(processor)) {
    return Refusal{"it is for " + manifest.arch + ", which is no processor's name"};
  }
  return admit(manifest, {.name = manifest.name,
                          .processor = std::string(processor),
                          .now = now_,
                          .passed = last_passed({}, comment, std::nullopt),
                          .present = std::nullopt});
}

Outcome Checking::judge_beside_others(const Manifest& manifest, const std::string& name) {
  const std::string release = release_name(manifest.name, manifest.version) + " " + manifest.arch;
  const auto [first, is_new] = seen_.try_emplace(release, name, manifest.sha256);
  if (is_new || first->second.second == manifest.sha256) return std::monostate{};
  return Refusal{"it is of the same version as " + first->second.first +
                 ", with other bytes; a machine that has the one refuses the other"};
}

Outcome Checking::judge_archive(const Manifest& manifest, int archive) {
  const Result<Scratch> scratch = Scratch::make();
  if (!scratch) return scratch.refusal();
  const Result<std::string> list = unpack(archive, manifest.size, scratch.value().directory());
  if (!list) return list.refusal();
  const auto files = parse_list(list.value());
  if (files && has_program(files.value(), manifest.entry)) return std::monostate{};
  return Refusal{"the archive has no program " + manifest.entry + ", which `entry` names"};
}

Outcome Checking::judge_file(const Manifest& manifest, CheckedManifest& checked) const {
  const Result<std::string> base = url_of(directory_.path_of(checked.name));
  if (!base) return base.refusal();
  const Result<std::string> url = resolve_url(base.value(), manifest.url);
  if (!url) return url.refusal();
  const std::optional<std::string> path = path_of_url(url.value());
  if (!path) {
    note(checked, "its file is elsewhere, and not looked at: " + shown_url(url.value()));
    return std::monostate{};
  }
  const upgrader::OwnedFd file(::open(path->c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return refusal_from_errno("open", *path);
  if (!S_ISREG(status.st_mode)) return Refusal{*path + " is no regular file"};
  if (status.st_size != manifest.size) {
    return Refusal{*path + " has " + std::to_string(status.st_size) +
                   " bytes, and its manifest says " + std::to_string(manifest.size)};
  }
  const Result<std::string> hashed = hash_file(file.get(), *path);
  if (!hashed) return hashed.refusal();
  if (hashed.value() != manifest.sha256) {
    return Refusal{*path + " has other bytes than its manifest says: its sha256 differs"};
  }
  return manifest.kind == Kind::tar ? judge_archive(manifest, file.get())
                                    : Outcome(std::monostate{});
}

Outcome Checking::judge(const std::string& text, CheckedManifest& checked) {
  const Result<std::string> comment = verify(text, checked);
  if (!comment) return comment.refusal();
  const Result<Manifest> manifest = parse_manifest(text);
  if (!manifest) return Refusal{"it is no manifest: " + manifest.reason()};
  const Outcome admitted = judge_alone(manifest.value(), comment.value());
  if (!admitted) return admitted;
  const Outcome alone = judge_beside_others(manifest.value(), checked.name);
  return alone ? judge_file(manifest.value(), checked) : alone;
}

// Checks one file. Skips an index of releases, which is JSON but not a manifest.
Result<std::optional<CheckedManifest>> Checking::look_at(const std::string& name) {
  CheckedManifest checked{.name = name};
  const auto signature = directory_.status(name + std::string(signature_of_manifest));
  if (!signature) return signature.refusal();
  const auto text = directory_.read(name, manifest_bytes_max);
  if (!text || !text.value()) {
    if (!signature.value()) return std::optional<CheckedManifest>{};
    checked.sound = text ? Refusal{name + " vanished"} : text.refusal();
    return std::optional(std::move(checked));
  }
  auto json = JsonReader::parse(*text.value());
  const bool is_manifest = json && json.value().text("sha256", manifest_bytes_max);
  if (!is_manifest && !signature.value()) return std::optional<CheckedManifest>{};
  checked.sound = judge(*text.value(), checked);
  return std::optional(std::move(checked));
}

// Checks all manifests among the files *.json of a directory, in the order of their names. `keys`
// is a directory of public keys. Each manifest must be signed by one of these keys; if `keys` is
// empty, no signature is verified. Each archive is unpacked into a temporary directory, which is
// removed afterwards.
Result<std::vector<CheckedManifest>> check_published(const std::string& path,
                                                     const std::string& keys, Moment now) {
  std::vector<PublicKey> trusted;
  if (!keys.empty()) {
    auto read = read_keys(keys);
    if (!read) return read.refusal();
    trusted = std::move(read.value());
  }
  const auto real = real_path(path);
  if (!real) return refusal_from_errno("open", path);
  const auto directory = Directory::open(*real);
  if (!directory) return directory.refusal();
  auto names = directory.value().names();
  if (!names) return names.refusal();
  std::ranges::sort(names.value());
  Checking checking(directory.value(), std::move(trusted), now);
  std::vector<CheckedManifest> all;
  for (const std::string& name : names.value()) {
    if (name.starts_with('.') || !name.ends_with(manifest_ending)) continue;
    if (const Outcome none = not_interrupted(); !none) return none.refusal();
    auto checked = checking.look_at(name);
    if (!checked) return checked.refusal();
    if (checked.value()) all.push_back(std::move(*checked.value()));
  }
  return all;
}

std::string json_of(const CheckedManifest& checked) {
  JsonWriter json;
  json.add("manifest", checked.name).add("sound", static_cast<bool>(checked.sound));
  if (!checked.sound) json.add("reason", checked.sound.reason());
  if (!checked.notes.empty()) json.add("notes", checked.notes);
  return json.line() + "\n";
}

std::string text_of(const CheckedManifest& checked) {
  return upgraderctl::shown(checked.name) +
         (checked.sound ? " is sound"
                        : " would be refused: " + upgraderctl::shown(checked.sound.reason())) +
         (checked.notes.empty() ? "" : " (" + upgraderctl::shown(checked.notes) + ")") + "\n";
}

}  // namespace

Outcome perform_check(const Options& options) {
  const Interruption interruption;
  const auto all = check_published(options.publishing.check, options.keys, std::time(nullptr));
  if (!all) return all.refusal();
  std::size_t refused = 0;
  for (const CheckedManifest& checked : all.value()) {
    refused += checked.sound ? 0 : 1;
    print(options.json ? json_of(checked) : text_of(checked));
  }
  if (all.value().empty()) {
    return Refusal{"there is no manifest in " + options.publishing.check, Trouble::absent};
  }
  if (refused == 0) return std::monostate{};
  return Refusal{std::to_string(refused) + " of " + std::to_string(all.value().size()) +
                 " manifests would be refused"};
}

}  // namespace agent_releases
