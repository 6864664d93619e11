#include "tools/agent-releases/shell/publication.h"

#include <algorithm>
#include <utility>

#include "agent-releases/processor.h"
#include "tools/agent-releases/core/admission.h"
#include "tools/agent-releases/core/names.h"
#include "tools/agent-releases/shell/ledger_file.h"

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

// Returns the URL to fetch. If only network sources are allowed, refuses a path without looking for
// the file, because the answer would reveal whether the file exists.
Result<std::string> url_to_fetch(const Releases::Adding& adding) {
  if (adding.allow_files || is_of_network(adding.source)) return url_of(adding.source);
  return Refusal{shown_url(adding.source) + " is no URL of http or https, and no other is allowed"};
}

Outcome fetch_signature(const Store& store, Fetcher& fetcher, Publication& published) {
  const Result<std::vector<PublicKey>> keys = store.keys();
  if (!keys) return keys.refusal();
  Result<std::string> signature = fetcher.text(published.url + ".minisig", signature_bytes_max);
  if (!signature) {
    return Refusal{"the manifest's signature is missing: " + signature.reason(),
                   signature.refusal().trouble};
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
  // If a release of this version exists already, nothing will be added. So its version is not
  // compared with those of the other releases.
  const Version& wanted = published.manifest.version;
  if (std::ranges::find(versions.there, wanted) != versions.there.end()) versions.there.clear();
  return Circumstances{.name = store.name(),
                       .processor = std::string(processor_built_for()),
                       .now = adding.now,
                       .passed = last_passed(ledger.value(), published.trusted_comment, added),
                       .present = present_version(versions, ledger.value()),
                       .older_is_wanted = adding.older_is_wanted};
}

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

}  // namespace agent_releases
