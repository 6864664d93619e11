#include "tools/agent-releases/shell/download.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent-releases/processor.h"
#include "tools/agent-releases/core/admission.h"
#include "tools/agent-releases/core/names.h"
#include "tools/agent-releases/shell/ledger_file.h"
#include "tools/agent-releases/shell/lock.h"

namespace agent_releases {
namespace {

Outcome judge_request(const Store& store, const Releases::Adding& adding) {
  if (!adding.sha256.empty() && !is_sha256(adding.sha256)) {
    return Refusal{"--sha256 needs 64 digits of 0 to 9 and a to f", Trouble::usage};
  }
  if (store.has_keys() && adding.unsigned_is_wanted) {
    return Refusal{"--unsigned and --keys contradict each other", Trouble::usage};
  }
  if (store.has_keys() || !adding.sha256.empty() || adding.unsigned_is_wanted) {
    return std::monostate{};
  }
  return Refusal{
      "nothing says whose release this is: give --keys=DIR or --sha256=HEX, or say "
      "--unsigned",
      Trouble::usage};
}

// Returns the URL to fetch. If only http and https are allowed, refuses every path without looking
// for the file, because a different answer for a missing file would reveal which files exist on
// this machine.
Result<std::string> url_to_fetch(const Releases::Adding& adding) {
  if (adding.allow_files || is_of_network(adding.source)) return url_of(adding.source);
  return Refusal{shown_url(adding.source) + " is no URL of http or https, and no other is allowed"};
}

Outcome fetch_signature(const Store& store, Fetcher& fetcher, Publication& published) {
  const Result<std::vector<PublicKey>> keys = store.keys();
  if (!keys) return keys.refusal();
  Result<std::string> signature = fetcher.text(published.url + ".minisig", signature_bytes_max);
  if (!signature) {
    // Do not report a missing signature as an interrupted fetch, which a caller repeats: only the
    // publisher can add the signature.
    const bool is_missing = signature.refusal().error_number == ENOENT;
    return Refusal{std::string("the manifest's signature ") +
                       (is_missing ? "is missing: " : "could not be fetched: ") +
                       signature.reason(),
                   is_missing ? Trouble::refused : signature.refusal().trouble};
  }
  published.signature = std::move(signature.value());
  auto good = verify_signature(published.text, published.signature, keys.value());
  if (!good) {
    return Refusal{shown_url(published.url) + ".minisig: " + good.reason(), good.refusal().trouble};
  }
  published.trusted_comment = std::move(good.value());
  return std::monostate{};
}

Result<Circumstances> circumstances(const Store& store, const Releases::Adding& adding,
                                    const Publication& published) {
  const auto ledger = read_ledger(store.directory());
  if (!ledger) return ledger.refusal();
  const auto current = store.version_of_link(current_name);
  if (!current) return current.refusal();
  const auto releases = store.list();
  if (!releases) return releases.refusal();
  Versions versions{.running = adding.running, .current = current.value(), .there = {}};
  std::optional<Moment> added;
  for (const Release& release : releases.value()) {
    versions.there.push_back(release.version);
    added = std::max(added, std::optional(release.added));
  }
  // If a release of this version exists already, only its missing manifest or signature can be
  // added. That must be possible even if newer releases exist, so do not compare this version with
  // the releases in the directory.
  const Version& wanted = published.manifest.version;
  if (std::ranges::find(versions.there, wanted) != versions.there.end()) versions.there.clear();
  return Circumstances{.name = store.name(),
                       .processor = std::string(processor_built_for()),
                       .now = adding.now,
                       .passed = last_passed(ledger.value(), published.trusted_comment, added),
                       .present = present_version(versions, ledger.value()),
                       .older_is_wanted = adding.older_is_wanted};
}

// An interrupted transfer is tried again. It is given up after tries_max tries, or after
// fruitless_tries_max fruitless tries in a row. A try is fruitless if it fetches nothing, or if it
// ends because the server is too slow.
constexpr int fruitless_tries_max = 2;
constexpr int tries_max = 100;

}  // namespace

Result<Publication> fetch_publication(const Store& store, const Releases::Adding& adding,
                                      Fetcher& fetcher) {
  if (const Outcome sensible = judge_request(store, adding); !sensible) return sensible.refusal();
  const Result<std::string> url = url_to_fetch(adding);
  if (!url) return url.refusal();
  Publication published;
  published.url = url.value();
  Result<std::string> text = fetcher.text(published.url, manifest_bytes_max);
  if (!text) return text.refusal();
  published.text = std::move(text.value());
  if (store.has_keys()) {
    const Outcome verified = fetch_signature(store, fetcher, published);
    if (!verified) return verified.refusal();
  }
  const std::string shown = shown_url(published.url);
  Result<Manifest> manifest = parse_manifest(published.text);
  if (!manifest) return Refusal{shown + " is no manifest: " + manifest.reason()};
  published.manifest = std::move(manifest.value());
  const Result<Circumstances> here = circumstances(store, adding, published);
  if (!here) return here.refusal();
  const Outcome admitted = admit(published.manifest, here.value());
  if (!admitted) return Refusal{shown + " is refused: " + admitted.reason()};
  if (adding.sha256.empty() || adding.sha256 == published.manifest.sha256) return published;
  return Refusal{shown + " is refused: it is not the release of --sha256=" + adding.sha256};
}

std::string part_name(const Manifest& manifest) {
  return manifest.sha256 + std::string(partial_ending);
}

Download::Download(Fetcher& fetcher, const Manifest& manifest, const Directory& staging,
                   const std::function<void(const Progress&)>& progress)
    : fetcher_(fetcher),
      manifest_(manifest),
      staging_(staging),
      progress_(progress),
      name_(part_name(manifest)),
      path_(staging.path_of(name_)),
      ends_(std::chrono::steady_clock::now() + fetch_limit(manifest.size)) {}

std::chrono::milliseconds Download::time_left() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(ends_ -
                                                               std::chrono::steady_clock::now());
}

Outcome Download::write_piece(std::string_view bytes) {
  constexpr std::int64_t behind = 8'388'608;
  hash_.add(bytes);
  if (const Outcome written = write_all(part_.get(), path_, bytes); !written) return written;
  const std::int64_t before = bytes_ / behind;
  bytes_ += static_cast<std::int64_t>(bytes.size());
  // After every 8 MiB, start to write the last 8 MiB to disk while the transfer goes on, so that
  // the sync at the end is short.
  if (bytes_ / behind != before) {
    ::sync_file_range(part_.get(), before * behind, behind, SYNC_FILE_RANGE_WRITE);
  }
  return std::monostate{};
}

Outcome Download::start_anew() {
  hash_ = Hash();
  bytes_ = 0;
  from_ = 0;
  in_parts_ = false;
  if (::ftruncate(part_.get(), 0) != 0 || ::lseek(part_.get(), 0, SEEK_SET) != 0) {
    return refusal_from_errno("write", path_);
  }
  return std::monostate{};
}

// Reads and hashes the bytes that an earlier, interrupted fetch has written to the file.
Outcome Download::take_up() {
  const Outcome hashed = read_pieces(part_.get(), path_, [this](std::string_view piece) -> Outcome {
    hash_.add(piece);
    bytes_ += static_cast<std::int64_t>(piece.size());
    return std::monostate{};
  });
  if (!hashed) return hashed;
  from_ = bytes_;
  return bytes_ > manifest_.size ? start_anew() : Outcome(std::monostate{});
}

Outcome Download::open() {
  Result<std::optional<upgrader::OwnedFd>> part = try_lock(staging_, name_);
  if (!part) return part.refusal();
  if (!part.value()) {
    return Refusal{"another process fetches " + path_, Trouble::cut_off};
  }
  part_ = std::move(*part.value());
  if (const Outcome taken = take_up(); !taken) return taken;
  // Reserve disk space for the complete file before the transfer, so that a full disk is noticed
  // immediately. This has no effect if the file system does not support fallocate().
  const off_t size = manifest_.size;
  if (::fallocate(part_.get(), FALLOC_FL_KEEP_SIZE, 0, size) != 0 &&
      (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) {
    return refusal_from_errno("write", path_);
  }
  return std::monostate{};
}

Outcome Download::fetch_rest(const std::string& url) {
  const std::string what = release_name(manifest_.name, manifest_.version);
  int tries_left = tries_max;
  for (int fruitless = 0; bytes_ < manifest_.size;) {
    const std::int64_t before = bytes_;
    const std::chrono::milliseconds left = time_left();
    if (left <= left.zero()) return cut_off(url, "it took too long");
    in_parts_ = in_parts_ || before > 0;
    const Fetcher::Request request{
        .url = url,
        .from = bytes_,
        .bytes = manifest_.size,
        .limit = left,
        .take = [this](std::string_view bytes) { return write_piece(bytes); },
        .progress =
            [&](std::int64_t bytes) {
              if (!progress_) return;
              progress_({.what = what, .bytes = bytes, .of = manifest_.size, .from = from_});
            }};
    const Result<Fetcher::Fetched> end = fetcher_.fetch(request);
    if (!end) return end.refusal();
    if (end.value().end == Fetcher::End::complete) break;
    if (--tries_left == 0) return cut_off(url, end.value().why);
    if (end.value().end == Fetcher::End::cannot_resume) {
      if (const Outcome anew = start_anew(); !anew) return anew;
      continue;
    }
    fruitless = bytes_ > before && !end.value().is_slow ? 0 : fruitless + 1;
    if (fruitless == fruitless_tries_max) return cut_off(url, end.value().why);
  }
  if (bytes_ == manifest_.size) return std::monostate{};
  return Refusal{shown_url(url) + " has " + std::to_string(bytes_) +
                 " bytes, and its manifest says " + std::to_string(manifest_.size)};
}

Refusal Download::cut_off(const std::string& url, const std::string& why) const {
  return Refusal{shown_url(url) + " was cut off after " + std::to_string(bytes_) + " of " +
                     std::to_string(manifest_.size) + " bytes (" + why +
                     "); the same command goes on from there",
                 Trouble::cut_off};
}

Outcome Download::run(const std::string& url) {
  if (const Outcome opened = open(); !opened) return opened;
  // If a file was fetched in several parts and has a wrong hash, it may have changed on the server
  // between two parts. The file is then fetched once more from its beginning.
  for (bool first = true;; first = false) {
    if (const Outcome complete = fetch_rest(url); !complete) return complete;
    if (hash_.digits() == manifest_.sha256) return std::monostate{};
    if (first && (in_parts_ || from_ > 0)) {
      if (const Outcome anew = start_anew(); !anew) return anew;
      continue;
    }
    return Refusal{shown_url(url) + " is not what its manifest says: its sha256 differs"};
  }
}

}  // namespace agent_releases
