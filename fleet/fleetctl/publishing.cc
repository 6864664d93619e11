// fleetctl release publish: manifests and their signatures become one record, once and for all.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fleet/agent/identity.h"
#include "fleet/agent/release_digest.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"
#include "node/releases/core/manifest.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;

std::optional<std::string> content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

struct Draft {
  fleet::Release release = {};
  std::string version = {};
};

// The draft with one more manifest; otherwise why not.
std::string add_manifest(Draft& draft, const std::string& path, const std::string& base) {
  const auto text = content_of(path);
  const auto signature = content_of(path + ".minisig");
  if (!text) return path + ": cannot be read";
  if (!signature) return path + ".minisig: cannot be read, and no node takes what is not signed";
  const auto manifest = agent_releases::parse_manifest(*text);
  if (!manifest) return path + ": " + manifest.reason();
  const std::string version = manifest.value().version.text();
  if (!draft.version.empty() && draft.version != version)
    return path + ": is of " + version + ", not of " + draft.version;
  draft.version = version;
  draft.release.prerelease = manifest.value().version.is_prerelease();
  draft.release.min_protocol = std::max(draft.release.min_protocol, manifest.value().min_protocol);
  draft.release.manifests.push_back(
      {.arch = manifest.value().arch,
       .manifest = *text,
       .signature = *signature,
       .url = base + "/" + std::filesystem::path(path).filename().string()});
  return "";
}

std::string two_of_one_arch(const fleet::Release& release) {
  for (std::size_t i = 1; i < release.manifests.size(); ++i) {
    if (release.manifests[i].arch == release.manifests[i - 1].arch)
      return "two manifests are for " + release.manifests[i].arch;
  }
  return "";
}

// Published before: done if it is the same, for ever another one if not.
int judge_there(const fleet::KeyValue& there, const fleet::Release& release,
                const std::string& what) {
  const auto before = fleet::read_record<fleet::Release>(there.value);
  if (before && before.value().digest == release.digest) {
    say(what + " is published, as before");
    return exit_done;
  }
  complain(what + " is published with other bytes; what was published is never changed");
  return exit_refused;
}

}  // namespace

int publish(const Options& options, Asker& asker) {
  Draft draft;
  std::string base = options.url;
  while (base.ends_with('/')) {
    base.pop_back();
  }
  for (const std::string& path : options.manifests) {
    if (const std::string why = add_manifest(draft, path, base); !why.empty()) {
      complain(why);
      return exit_refused;
    }
  }
  fleet::Release& release = draft.release;
  std::sort(release.manifests.begin(), release.manifests.end(),
            [](const auto& one, const auto& other) { return one.arch < other.arch; });
  if (const std::string why = two_of_one_arch(release); !why.empty()) {
    complain(why);
    return exit_refused;
  }
  release.digest = fleet::release_digest(release);
  release.channel = options.channel;
  release.published = fleet::time_text();

  const std::string what = options.component + " " + draft.version;
  const std::string key = fleet::key_of(KeyKind::release, {options.component, draft.version});
  const auto before = asker.read({key});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&before)) return unreachable(*trouble);
  if (const fleet::KeyValue* there = std::get<fleet::Reading>(before).find(key))
    return judge_there(*there, release, what);
  const int status = write(asker, key, fleet::write_record(release), 0);
  if (status == exit_done) say(what + " is published");
  return status;
}

}  // namespace fleetctl
