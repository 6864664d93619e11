// Adds a release: fetches and verifies its bytes, and writes them durably under temporary names.
// Then renames the files, in an order in which an incomplete release never looks like a release.
// download.h fetches the manifest and the bytes.
#include <sys/stat.h>

#include <utility>

#include "agent-releases/releases.h"
#include "tools/agent-releases/core/names.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/download.h"
#include "tools/agent-releases/shell/fetch.h"
#include "tools/agent-releases/shell/store.h"
#include "tools/agent-releases/shell/unpack.h"
#include "tools/agent-releases/shell/verification.h"

namespace agent_releases {
namespace {

class Addition {
 public:
  Addition(const Store& store, const Releases::Adding& adding, Fetcher fetcher)
      : store_(store), adding_(adding), fetcher_(std::move(fetcher)) {}

  Result<Releases::Added> run();

 private:
  Result<bool> is_there() const;
  Outcome complete(const Directory& staging);
  Outcome finish(const Directory& staging, const Download& download);
  Outcome finish_archive(const Directory& staging, const Download& download);
  Outcome place(const Directory& staging);
  Outcome make(const Directory& staging, bool& is_resumable);
  Outcome settle(const Directory& staging, bool& was_there);
  Outcome add_anew(bool& was_there);
  Outcome add_if_absent(bool& was_there);
  Outcome stage(const Directory& staging, std::string_view ending, std::string_view text);

  const Store& store_;
  const Releases::Adding& adding_;
  Fetcher fetcher_;
  Publication published_;
};

// Returns true if the release exists already. Refuses if the release exists with different bytes,
// because a release never changes.
Result<bool> Addition::is_there() const {
  const Manifest& manifest = published_.manifest;
  const std::string path = store_.directory().path_of(store_.name_of(manifest.version));
  const auto status = store_.directory().status(store_.name_of(manifest.version));
  if (!status) return status.refusal();
  if (!status.value()) return false;
  const auto found = store_.find(manifest.version);
  if (!found) return found.refusal();
  const std::optional<Release>& release = found.value();
  std::string sha256 = release ? release->sha256 : "";
  if (release && sha256.empty() && manifest.kind == Kind::file) {
    const auto hashed = hash_release(store_, *release);
    if (!hashed) return hashed.refusal();
    sha256 = hashed.value();
  }
  if (sha256 == manifest.sha256) return true;
  return Refusal{path +
                 " exists, with other bytes; a release never changes: give the new one "
                 "another version"};
}

// Completes a release that exists already: adds the manifest and the fetched signature, if they are
// missing.
Outcome Addition::complete(const Directory& staging) {
  const Version& version = published_.manifest.version;
  const Directory& directory = store_.directory();
  const auto text = store_.manifest_text(version);
  if (!text) return text.refusal();
  const bool same = text.value() && *text.value() == published_.text;
  if (text.value() && !same) {
    const auto trusted = store_.trusted_manifest(version);
    if (trusted) return std::monostate{};
    return Refusal{"version " + version.text() + " is there with another manifest, and " +
                   trusted.reason() + "; remove it and add it again"};
  }
  for (const std::string_view ending : {signature_ending, manifest_ending}) {
    const bool is_signature = ending == signature_ending;
    const std::string& wanted = is_signature ? published_.signature : published_.text;
    if (wanted.empty() || (same && !is_signature)) continue;
    const std::string beside = store_.name_of(version) + std::string(ending);
    if (const Outcome staged = stage(staging, ending, wanted); !staged) return staged;
    if (const Outcome moved = staging.rename(beside, directory, beside); !moved) return moved;
  }
  return directory.sync();
}

Outcome Addition::stage(const Directory& staging, std::string_view ending, std::string_view text) {
  return staging.write(store_.name_of(published_.manifest.version) + std::string(ending), text);
}

Outcome Addition::finish_archive(const Directory& staging, const Download& download) {
  const Manifest& manifest = published_.manifest;
  const std::string name = store_.name_of(manifest.version);
  if (const Outcome made = staging.make_directory(name, 0700); !made) return made;
  const Result<Directory> below = staging.subdirectory(name);
  if (!below) return below.refusal();
  const Result<std::string> list = unpack(download.descriptor(), manifest.size, below.value());
  if (!list) return list.refusal();
  const auto files = parse_list(list.value());
  if (!files || !has_program(files.value(), manifest.entry)) {
    return Refusal{"the archive has no program " + manifest.entry + ", which `entry` names"};
  }
  if (const Outcome staged = stage(staging, files_ending, list.value()); !staged) return staged;
  return staging.remove(part_name(manifest));
}

// Writes and syncs all files of the release, under names in .staging.
Outcome Addition::finish(const Directory& staging, const Download& download) {
  const Manifest& manifest = published_.manifest;
  if (!published_.signature.empty()) {
    const Outcome staged = stage(staging, signature_ending, published_.signature);
    if (!staged) return staged;
  }
  const Outcome staged = stage(staging, manifest_ending, published_.text);
  if (!staged) return staged;
  if (manifest.kind == Kind::tar) return finish_archive(staging, download);
  if (::fchmod(download.descriptor(), release_mode) != 0) {
    return refusal_from_errno("write", download.path());
  }
  if (const Outcome synced = sync(download.descriptor(), download.path()); !synced) return synced;
  return staging.rename(part_name(manifest), staging, store_.name_of(manifest.version));
}

// Moves the files of the release out of .staging. The release exists as soon as its program or its
// directory has been moved. So the program or directory is moved last, when the list of files, the
// signature and the manifest are durable.
Outcome Addition::place(const Directory& staging) {
  const Directory& directory = store_.directory();
  const std::string name = store_.name_of(published_.manifest.version);
  for (const std::string_view ending : {files_ending, signature_ending, manifest_ending}) {
    const std::string beside = name + std::string(ending);
    const auto staged = staging.status(beside);
    if (!staged) return staged.refusal();
    const bool is_needed = ending == manifest_ending ||
                           (ending == signature_ending && !published_.signature.empty()) ||
                           (ending == files_ending && published_.manifest.kind == Kind::tar);
    if (!staged.value() && is_needed) {
      return Refusal{staging.path_of(beside) + " has vanished", Trouble::system};
    }
    if (!staged.value()) continue;
    if (const Outcome moved = staging.rename(beside, directory, beside); !moved) return moved;
  }
  if (const Outcome synced = directory.sync(); !synced) return synced;
  const Outcome moved = staging.rename(name, directory, name, Directory::Existing::keep);
  if (!moved) return moved;
  if (const Outcome synced = directory.sync(); !synced) {
    static_cast<void>(directory.rename(name, staging, name));
    return synced;
  }
  return staging.sync();
}

// Fetches the bytes of the release and writes its files in .staging. Sets `is_resumable` if a later
// call can continue the partial download.
Outcome Addition::make(const Directory& staging, bool& is_resumable) {
  const auto url = resolve_url(published_.url, published_.manifest.url);
  if (!url) return Refusal{shown_url(published_.url) + ": " + url.reason()};
  // `download` has the program's file open for writing until the end of this function. A file that
  // is open for writing cannot be executed, so this function must not move the release out of
  // .staging.
  Download download(fetcher_, published_.manifest, staging, adding_.progress);
  if (const Outcome fetched = download.run(url.value()); !fetched) {
    is_resumable = fetched.refusal().trouble == Trouble::cut_off && download.has_begun();
    return fetched;
  }
  return finish(staging, download);
}

Outcome Addition::settle(const Directory& staging, bool& was_there) {
  const Result<bool> there = is_there();
  if (!there) return there.refusal();
  was_there = there.value();
  return was_there ? complete(staging) : place(staging);
}

// Adds a release that does not exist yet. First claims the release's names in .staging, because
// other processes may write to the directory while this process fetches and unpacks the release.
Outcome Addition::add_anew(bool& was_there) {
  const Version& version = published_.manifest.version;
  Result<Claim> claim = store_.claim(version, part_name(published_.manifest));
  if (!claim) return claim.refusal();
  // While claim() waited, a different process may have added the release.
  const Result<bool> there = is_there();
  if (!there) return there.refusal();
  bool is_resumable = false;
  Outcome added = std::monostate{};
  if (!there.value()) added = make(claim.value().staging, is_resumable);
  const Result<Writing> writing = store_.begin_writing(part_name(published_.manifest));
  if (!writing) return added ? writing.refusal() : added;
  const Directory& staging = writing.value().staging;
  if (added) added = settle(staging, was_there);
  store_.end_claim(std::move(claim.value()), version);
  if (added && !was_there) return added;
  const std::string wanted =
      is_resumable ? part_name(published_.manifest) : std::string(no_partial);
  static_cast<void>(store_.clean(staging, wanted));
  return added;
}

// Adds the release if it does not exist. If it exists, adds only its manifest or its signature, if
// one of them is missing. Then removes partial downloads, which are no longer needed, and all other
// files that crashes have left in .staging.
Outcome Addition::add_if_absent(bool& was_there) {
  {
    const Result<Writing> writing = store_.begin_writing(part_name(published_.manifest));
    if (!writing) return writing.refusal();
    const Directory& staging = writing.value().staging;
    const Result<bool> there = is_there();
    if (!there) return there.refusal();
    was_there = there.value();
    if (was_there) {
      const Outcome completed = complete(staging);
      if (completed) static_cast<void>(store_.clean(staging, std::string(no_partial)));
      return completed;
    }
  }
  return add_anew(was_there);
}

Result<Releases::Added> Addition::run() {
  Result<Publication> published = fetch_publication(store_, adding_, fetcher_);
  if (!published) return published.refusal();
  published_ = std::move(published.value());
  bool was_there = false;
  const Outcome done = add_if_absent(was_there);
  if (!done) return done.refusal();
  auto release = store_.find(published_.manifest.version);
  if (!release) return release.refusal();
  if (!release.value()) {
    return Refusal{"the release vanished while it was added", Trouble::system};
  }
  return Releases::Added{.release = std::move(*release.value()),
                         .was_there = was_there,
                         .trusted_comment = published_.trusted_comment};
}

}  // namespace

Result<Releases::Added> Releases::add(const Adding& adding) {
  Result<Fetcher> fetcher = Fetcher::make({}, store_->patience().cancelled, adding.cacert);
  if (!fetcher) return fetcher.refusal();
  return Addition(*store_, adding, std::move(fetcher.value())).run();
}

}  // namespace agent_releases
