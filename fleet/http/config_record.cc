#include "fleet/http/config_record.h"

#include <algorithm>

#include "fleet/common/release_draft.h"
#include "fleet/http/shown_record.h"
#include "fleet/model/ids.h"
#include "fleet/model/record_text.h"
#include "fleet/model/settings.h"
#include "fleet/model/windows.h"

namespace fleet {
namespace {

using agent_protocol::Refusal;
using agent_protocol::Result;

struct Asked {
  const ParsedKey& key;
  const JsonTree& body;
  const JsonTree& before;
  const std::string& who;
  const Reading& reading;
  const ConfigMoment& moment;
};

std::string component_of(const ParsedKey& key) {
  return key.names.back();
}

// What a later version of the records has added stays where it stands; a person's slip is refused.
template <class Record>
Result<Record> checked(const Asked& asked, JsonTree& kept) {
  const auto names = member_names<Record>();
  kept = {.kind = JsonTree::Kind::object};
  for (const auto& [name, member] : asked.body.members) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const JsonTree* before = asked.before.find(name);
    if (before == nullptr || *before != member) return Refusal{"there is no member " + name};
    kept.members[name] = member;
  }
  return read_record<Record>(write_tree(asked.body));
}

template <class Record>
std::string written(const Record& record, const JsonTree& kept) {
  const std::string text = write_record(record);
  if (kept.members.empty()) return text;
  return write_tree(merge_patch(parse_tree(text).value(), kept));
}

Result<ConfigWritten> window(const Asked& asked) {
  JsonTree kept;
  auto record = checked<Window>(asked, kept);
  if (!record) return record.refusal();
  record.value().who = asked.who;
  if (const auto why = why_no_window(record.value())) return Refusal{*why};
  return ConfigWritten{written(record.value(), kept)};
}

// A client that writes back the shortened webhook that it has read leaves the webhook as it is.
void keep_secret(Settings& set, const std::string& webhook) {
  const auto given = set.values.find("webhook");
  if (given != set.values.end() && !webhook.empty() && given->second == shown_url(webhook)) {
    given->second = webhook;
  }
}

Result<ConfigWritten> settings(const Asked& asked) {
  const auto record = read_record<Settings>(write_tree(asked.body));
  if (!record) return record.refusal();
  for (const auto& [name, member] : asked.body.members) {
    if (name != "v" && member.kind != JsonTree::Kind::text) return Refusal{name + " is no text"};
  }
  Settings set = record.value();
  keep_secret(set, asked.before.text_of("webhook"));
  if (const auto why = why_no_settings(set)) return Refusal{*why};
  set.who = asked.who;
  return ConfigWritten{write_record(set)};
}

Result<ConfigWritten> stop(const Asked& asked) {
  JsonTree kept;
  auto record = checked<Stop>(asked, kept);
  if (!record) return record.refusal();
  record.value().who = asked.who;
  record.value().since = asked.moment.time;
  return ConfigWritten{written(record.value(), kept)};
}

Result<ConfigWritten> desired(const Asked& asked) {
  JsonTree kept;
  auto record = checked<Desired>(asked, kept);
  if (!record) return record.refusal();
  Desired& wish = record.value();
  if (wish.pending) return Refusal{"pending is set, and taken away, by a plan alone"};
  if (!is_version_name(wish.version)) return Refusal{"\"" + wish.version + "\" is no version"};
  const std::string key = key_of(KeyKind::release, {component_of(asked.key), wish.version});
  const KeyValue* found = asked.reading.find(key);
  if (found == nullptr) {
    return Refusal{component_of(asked.key) + " " + wish.version + " is not published"};
  }
  const auto release = read_record<Release>(found->value);
  if (!release) return Refusal{"the release " + release.reason()};
  wish.digest = release.value().digest;
  wish.pinned = asked.key.kind == KeyKind::node_desired;
  wish.who = asked.who;
  wish.trace = asked.moment.trace;
  return ConfigWritten{written(wish, kept), {{.key = key, .revision = found->modified}}};
}

// Whether each manifest stands beside the architecture that it is for, or beside none.
bool names_machines_of(const Release& given, const Release& made) {
  return std::all_of(
      given.manifests.begin(), given.manifests.end(), [&](const ReleaseManifest& one) {
        if (one.arch.empty()) return true;
        return std::any_of(made.manifests.begin(), made.manifests.end(),
                           [&](const ReleaseManifest& other) {
                             return other.arch == one.arch && other.manifest == one.manifest;
                           });
      });
}

Result<ConfigWritten> release(const Asked& asked) {
  JsonTree kept;
  const auto record = checked<Release>(asked, kept);
  if (!record) return record.refusal();
  ReleaseDraft draft;
  for (const ReleaseManifest& one : record.value().manifests) {
    const std::string why = draft.add(one.manifest, one.signature, one.url);
    if (!why.empty()) return Refusal{"the manifest for " + one.arch + ": " + why};
  }
  auto made = draft.release(asked.key.names.front());
  if (!made) return made.refusal();
  if (draft.version() != asked.key.names.back()) {
    return Refusal{"the manifest is of version " + draft.version()};
  }
  Release& release = made.value();
  if (!names_machines_of(record.value(), release)) {
    return Refusal{"arch is not what the manifest says"};
  }
  if (!record.value().digest.empty() && record.value().digest != release.digest) {
    return Refusal{"the digest is not that of these manifests"};
  }
  release.channel = record.value().channel;
  release.published = asked.moment.time;
  return ConfigWritten{written(release, kept)};
}

}  // namespace

std::vector<std::string> config_needs(const ParsedKey& key, const JsonTree& body) {
  const bool is_wish = key.kind == KeyKind::desired || key.kind == KeyKind::node_desired;
  const std::string version = body.text_of("version");
  if (!is_wish || !is_version_name(version)) return {};
  return {key_of(KeyKind::release, {component_of(key), version})};
}

Result<ConfigWritten> config_written(const ParsedKey& key, const JsonTree& body,
                                     const JsonTree& before, const std::string& who,
                                     const Reading& reading, const ConfigMoment& moment) {
  const Asked asked{key, body, before, who, reading, moment};
  if (key.kind == KeyKind::window) return window(asked);
  if (key.kind == KeyKind::settings) return settings(asked);
  if (key.kind == KeyKind::stop) return stop(asked);
  if (key.kind == KeyKind::release) return release(asked);
  return desired(asked);
}

}  // namespace fleet
