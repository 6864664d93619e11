// Performs the command `pack`: makes the files that a publisher puts on a server, from a file, a
// directory or a project. These are the file with the release's bytes, its manifest, and the
// manifest's signature.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/json_object.h"
#include "tools/agent-releases/core/minisign.h"
#include "tools/agent-releases/core/names.h"
#include "tools/agent-releases/core/packing.h"
#include "tools/agent-releases/shell/commands.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/interruption.h"
#include "tools/agent-releases/shell/key_files.h"
#include "tools/agent-releases/shell/pack_files.h"
#include "tools/agent-releases/shell/project_tree.h"
#include "tools/agent-releases/shell/report.h"
#include "tools/agent-releases/shell/verification.h"

namespace agent_releases {
namespace {

struct PackOrder {
  Wanted wanted;
  std::string source;  // the file or directory to pack
  std::string out;     // the directory for published files; made if it does not exist
  std::optional<SecretKey> key;
  Moment now = 0;  // the time by the system's clock
};

struct Packed {
  std::string manifest;   // the path of the manifest
  std::string file;       // the path of the release's file
  std::string signature;  // the path of the signature; empty if there is none
  std::string arch;
  std::string sha256;
  std::string entry;  // the path of the program, if the release is a directory
  std::int64_t bytes = 0;
};

constexpr mode_t published_mode = 0644;
constexpr mode_t published_program_mode = 0755;

class Publishing {
 public:
  Publishing(const PackOrder& order, const Packing& packing, const Directory& out)
      : order_(order),
        packing_(packing),
        out_(out),
        file_(published_file(order.wanted, packing)),
        manifest_(published_name(order.wanted, packing) + std::string(manifest_ending)),
        signature_(published_name(order.wanted, packing) + std::string(signature_ending)) {}

  // Packs the release. `source` is the open file or directory to pack. For a file, `file` describes
  // this file. For a directory, `file` is null.
  Result<Packed> run(const upgrader::OwnedFd& source, const Found* file);

 private:
  Result<Written> write(const upgrader::OwnedFd& source, const Found* file, Outgoing& into) const;
  Result<bool> is_published(const Written& written) const;
  Outcome check_manifest(const Manifest& manifest, const std::string& text) const;
  Result<bool> has_signature(const std::string& text) const;
  Outcome publish(Outgoing* file, const std::string& text) const;

  const PackOrder& order_;
  const Packing& packing_;
  const Directory& out_;
  std::string file_;
  std::string manifest_;
  std::string signature_;
};

Result<Written> Publishing::write(const upgrader::OwnedFd& source, const Found* file,
                                  Outgoing& into) const {
  if (file != nullptr) return copy_file(source.get(), *file, into);
  Result<Directory> tree = Directory::open(order_.source);
  if (!tree) return tree.refusal();
  Result<Written> written = write_archive(tree.value(), packing_.tree, into);
  if (!written) return written;
  const Outcome fits = check_unpacked_bytes(packing_.tree, written.value().bytes);
  if (!fits) return fits.refusal();
  return written;
}

// Returns true if a file of this name with the same bytes is published already. Refuses if the
// published file has different bytes, because a release never changes.
Result<bool> Publishing::is_published(const Written& written) const {
  const auto status = out_.status(file_);
  if (!status) return status.refusal();
  if (!status.value()) return false;
  if (!S_ISREG(status.value()->st_mode)) {
    return Refusal{out_.path_of(file_) + " is no regular file"};
  }
  const auto file = out_.open_file(file_, O_RDONLY);
  if (!file) return file.refusal();
  const auto hashed = hash_file(file.value().get(), out_.path_of(file_));
  if (!hashed) return hashed.refusal();
  if (hashed.value() == written.sha256) return true;
  return Refusal{out_.path_of(file_) +
                 " exists, with other bytes; a release never changes: give this one another "
                 "version"};
}

// Refuses to replace a manifest that has a different SHA-256 than this release. Also refuses to
// replace a signed manifest if the new manifest will not be signed, because the old signature would
// be wrong for the new manifest.
Outcome Publishing::check_manifest(const Manifest& manifest, const std::string& text) const {
  const auto there = out_.read(manifest_, manifest_bytes_max);
  if (!there) return there.refusal();
  if (!there.value()) return std::monostate{};
  const auto present = parse_manifest(*there.value());
  if (!present) {
    return Refusal{out_.path_of(manifest_) + " exists, and is no manifest: " + present.reason()};
  }
  if (present.value().sha256 != manifest.sha256) {
    return Refusal{out_.path_of(manifest_) +
                   " exists, and is of other bytes; a release never changes: give this one "
                   "another version"};
  }
  const auto status = out_.status(signature_);
  if (!status) return status.refusal();
  if (order_.key || !status.value() || *there.value() == text) return std::monostate{};
  return Refusal{out_.path_of(manifest_) +
                     " is signed, and the signature would be wrong for the new manifest: sign it, "
                     "by --sign=SECRET.key",
                 Trouble::usage};
}

// Returns true if this command signs the manifest, or if a manifest with the same text is signed
// already.
Result<bool> Publishing::has_signature(const std::string& text) const {
  if (order_.key) return true;
  const auto there = out_.read(manifest_, manifest_bytes_max);
  if (!there) return there.refusal();
  const auto signature = out_.status(signature_);
  if (!signature) return signature.refusal();
  return there.value() == text && signature.value();
}

// Publishes the files. The manifest comes last, because `add` begins with the manifest.
Outcome Publishing::publish(Outgoing* file, const std::string& text) const {
  auto manifest = Outgoing::open(out_, manifest_);
  if (!manifest) return manifest.refusal();
  if (const Outcome done = manifest.value().write(text); !done) return done;
  if (const Outcome done = manifest.value().finish(published_mode); !done) return done;
  std::optional<Outgoing> signature;
  if (order_.key) {
    auto opened = Outgoing::open(out_, signature_);
    if (!opened) return opened.refusal();
    signature.emplace(std::move(opened.value()));
    const Outcome done = signature->write(sign(*order_.key, text, manifest_, order_.now));
    if (!done) return done;
    if (const Outcome finished = signature->finish(published_mode); !finished) return finished;
  }
  if (const Outcome none = not_interrupted(); !none) return none;
  if (file != nullptr) {
    if (const Outcome done = file->publish(); !done) return done;
  }
  if (signature) {
    if (const Outcome done = signature->publish(); !done) return done;
  }
  if (const Outcome done = manifest.value().publish(); !done) return done;
  return out_.sync();
}

Result<Packed> Publishing::run(const upgrader::OwnedFd& source, const Found* found) {
  auto file = Outgoing::open(out_, file_);
  if (!file) return file.refusal();
  const Result<Written> written = write(source, found, file.value());
  if (!written) return written.refusal();
  const mode_t mode = found != nullptr ? published_program_mode : published_mode;
  if (const Outcome done = file.value().finish(mode); !done) return done.refusal();
  const Result<bool> there = is_published(written.value());
  if (!there) return there.refusal();
  const Manifest manifest =
      manifest_of(order_.wanted, packing_, written.value().bytes, written.value().sha256);
  const std::string text = to_text(manifest);
  if (const Outcome sound = check_manifest(manifest, text); !sound) return sound.refusal();
  const Result<bool> is_signed = has_signature(text);
  if (!is_signed) return is_signed.refusal();
  const Outcome published = publish(there.value() ? nullptr : &file.value(), text);
  if (!published) return published.refusal();
  return Packed{.manifest = out_.path_of(manifest_),
                .file = out_.path_of(file_),
                .signature = is_signed.value() ? out_.path_of(signature_) : "",
                .arch = packing_.arch,
                .sha256 = manifest.sha256,
                .entry = packing_.entry,
                .bytes = manifest.size};
}

// Returns the real path of the directory `out`. If `out` does not exist yet, returns the real path
// of the directory in which it will be made.
std::optional<std::string> real_path_of_out(const std::string& out) {
  if (auto path = real_path(out)) return path;
  const auto above = (std::filesystem::path(out) / "").parent_path().parent_path();
  return real_path(above.empty() ? "." : above.string());
}

// Refuses if the directory `out` lies inside the directory that is packed. Otherwise the published
// files would become a part of the next release.
Outcome check_apart(const std::string& source, const std::string& out) {
  const auto tree = real_path(source);
  const auto place = real_path_of_out(out);
  if (!tree || !place) return std::monostate{};
  if (!(*place + "/").starts_with(*tree + "/")) return std::monostate{};
  return Refusal{"--out: " + out + " lies in what is packed, " + source, Trouble::usage};
}

// Packs a release. Before anything is written, refuses a release that `add` would refuse. A failure
// leaves the published files unchanged. If the release is published already, it can get a new
// manifest, for example with a later expiry, but its bytes must be the same as before.
Result<Packed> pack(const PackOrder& order) {
  if (const Outcome sound = check_wanted(order.wanted, order.now); !sound) return sound.refusal();
  const upgrader::OwnedFd source(
      ::open(order.source.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!source || ::fstat(source.get(), &status) != 0) {
    return refusal_from_errno("open", order.source);
  }
  std::optional<Found> file;
  std::vector<Found> tree;
  if (S_ISDIR(status.st_mode)) {
    if (const Outcome apart = check_apart(order.source, order.out); !apart) return apart.refusal();
    const auto directory = Directory::open(order.source);
    if (!directory) return directory.refusal();
    auto found = look_at_tree(directory.value());
    if (!found) return found.refusal();
    tree = std::move(found.value());
  } else {
    auto found = look_at_file(source.get(), order.source);
    if (!found) return found.refusal();
    file = std::move(found.value());
  }
  const Result<Packing> packing =
      file ? plan_file(order.wanted, *file) : plan_tree(order.wanted, std::move(tree));
  if (!packing) return packing.refusal();
  Result<Out> out = Out::open(order.out);
  if (!out) return out.refusal();
  auto packed = Publishing(order, packing.value(), out.value().directory())
                    .run(source, file ? &*file : nullptr);
  if (packed) out.value().keep();
  return packed;
}

std::string json_of(const Packed& packed, const Wanted& wanted) {
  JsonWriter json;
  json.add("name", wanted.name).add("version", wanted.version.text()).add("arch", packed.arch);
  json.add("manifest", packed.manifest).add("file", packed.file);
  if (!packed.signature.empty()) json.add("signature", packed.signature);
  if (!packed.entry.empty()) json.add("entry", packed.entry);
  json.add("size", packed.bytes).add("sha256", packed.sha256);
  return json.line() + "\n";
}

std::string text_of(const Packed& packed, const Wanted& wanted) {
  return packed.manifest + ": " + wanted.name + " " + wanted.version.text() + " for " +
         packed.arch + ", " + shown_bytes(packed.bytes) +
         (packed.signature.empty() ? ", not signed\n" : ", signed\n");
}

Outcome pack_order(PackOrder& order, const Options& options) {
  if (!options.publishing.secret_key.empty()) {
    auto key = read_secret_key(options.publishing.secret_key);
    if (!key) return key.refusal();
    order.key = key.value();
  }
  const Result<Packed> packed = pack(order);
  if (!packed) return packed.refusal();
  print(options.json ? json_of(packed.value(), order.wanted)
                     : text_of(packed.value(), order.wanted));
  return std::monostate{};
}

Result<ProjectTree> make_tree(const Options& options) {
  const PublishOptions& words = options.publishing;
  if (const Outcome apart = check_apart(words.source, words.out); !apart) return apart.refusal();
  const Project project{.directory = words.source,
                        .name = options.name,
                        .entry = words.entry,
                        .run_scripts = words.scripts};
  return words.npm ? make_node_tree(project) : make_python_tree(project);
}

// Packs a project of Node.js or Python. A name or version on the command line replaces the name or
// version that the project states.
Outcome pack_project(PackOrder& order, const Options& options) {
  Wanted early = order.wanted;
  if (early.name.empty()) early.name = "name";
  if (const Outcome sound = check_wanted(early, order.now); !sound) return sound;
  const Result<ProjectTree> tree = make_tree(options);
  if (!tree) return tree.refusal();
  order.source = tree.value().path;
  order.wanted.name = tree.value().name;
  order.wanted.entry = tree.value().entry;
  order.wanted.packages = tree.value().packages;
  if (!options.version) {
    const auto version = Version::parse(tree.value().version);
    if (!version) {
      return Refusal{"the version of package.json, `" + tree.value().version +
                         "`, is none such as 1.2.3: say --version=VERSION",
                     Trouble::usage};
    }
    order.wanted.version = *version;
  }
  return pack_order(order, options);
}

}  // namespace

Outcome perform_pack(const Options& options) {
  const Interruption interruption;
  const PublishOptions& words = options.publishing;
  PackOrder order{.wanted = {.name = options.name,
                             .version = options.version.value_or(Version{}),
                             .arch = words.arch,
                             .entry = words.entry,
                             .min_protocol = words.min_protocol,
                             .expires = words.expires,
                             .undo = !words.no_undo},
                  .source = words.source,
                  .out = words.out,
                  .key = std::nullopt,
                  .now = std::time(nullptr)};
  return words.npm || words.wheels ? pack_project(order, options) : pack_order(order, options);
}

}  // namespace agent_releases
