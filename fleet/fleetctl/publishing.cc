// Implements `fleetctl release publish`, which makes the record of a release from its manifests and
// their signatures. The record is never changed later.
#include <algorithm>
#include <filesystem>

#include "agent-releases/manifest.h"
#include "fleet/common/release_draft.h"
#include "fleet/common/text_file.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;

// Returns the content of a manifest or signature file. Reads one byte more than the longest
// manifest has, so that a file that is too long is recognized.
std::optional<std::string> content_of(const std::string& path) {
  return fleet::beginning_of_file(path, agent_releases::manifest_bytes_max + 1);
}

// Adds a manifest and its signature to the draft. Returns an empty string on success, or else why
// the manifest is refused.
std::string add_manifest(fleet::ReleaseDraft& draft, const std::string& path,
                         const std::string& base) {
  const auto text = content_of(path);
  const auto signature = content_of(path + ".minisig");
  if (!text) return path + ": cannot be read";
  if (!signature) return path + ".minisig: cannot be read, and no node takes what is not signed";
  const std::string why =
      draft.add(*text, *signature, base + "/" + std::filesystem::path(path).filename().string());
  return why.empty() ? "" : path + ": " + why;
}

// Handles a version that was published before: a success if that release is the same, or else a
// refusal. Prints the result, and returns the exit status.
int judge_there(const fleet::KeyValue& there, const fleet::Release& release,
                const std::string& what) {
  const auto before = fleet::read_record<fleet::Release>(there.value);
  if (before && before.value().digest == release.digest) {
    const auto url = &fleet::ReleaseManifest::url;
    const bool is_as_asked =
        before.value().channel == release.channel &&
        std::ranges::equal(before.value().manifests, release.manifests, {}, url, url);
    return say(what + " is published, as before" +
               (is_as_asked ? "" : ": it keeps the URL and the channel that it has"));
  }
  return refuse(what + " is published with other bytes; what was published is never changed");
}

}  // namespace

int publish(const Options& options, Asker& asker) {
  fleet::ReleaseDraft draft;
  std::string base = options.url;
  while (base.ends_with('/')) {
    base.pop_back();
  }
  for (const std::string& path : options.manifests) {
    if (const std::string why = add_manifest(draft, path, base); !why.empty()) return refuse(why);
  }
  const auto made = draft.release(options.component);
  if (!made) return refuse(made.reason());
  fleet::Release release = made.value();
  release.channel = options.channel;

  const std::string what = options.component + " " + draft.version();
  const auto wanted_key = fleet::key_if(KeyKind::release, {options.component, draft.version()});
  if (!wanted_key) {
    return refuse(what + ": a version has at most " + std::to_string(fleet::id_bytes_max) +
                  " bytes");
  }
  const std::string& key = *wanted_key;
  const auto before = asker.read({key});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&before)) return unreachable(*trouble);
  if (const fleet::KeyValue* there = std::get<fleet::Reading>(before).find(key))
    return judge_there(*there, release, what);
  const Placed placed =
      place(options, asker,
            {.subject = key.substr(fleet::key_root.size()), .body = fleet::write_record(release)});
  if (placed.status == exit_done) say(what + " is published");
  return say_refused(placed, what);
}

}  // namespace fleetctl
