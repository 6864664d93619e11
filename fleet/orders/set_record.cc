// This file checks a record that a person has written, and makes the record to be stored: it fills
// in the members that programs write.
#include <algorithm>
#include <tuple>

#include "fleet/common/release_draft.h"
#include "fleet/model/drivers/windows.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/settings.h"
#include "fleet/orders/order_kinds.h"

namespace fleet {
namespace {

using agent_protocol::Refusal;
using agent_protocol::Result;

struct Asked {
  const ParsedKey& key;
  const JsonTree& body;
  const JsonTree& before;
  const CellFacts& facts;
  const Orderer& orderer;
};

std::string component_of(const ParsedKey& key) {
  return key.names.back();
}

// Parses the record that a person has written. An unknown member that has the same value in the
// existing record is put into `kept`: a newer program may have written this member. Other unknown
// members are mistakes of the person, and are refused.
template <class Record>
Result<Record> checked(const Asked& asked, JsonTree& kept) {
  const auto names = member_names<Record>();
  kept = json_object();
  for (const auto& [name, member] : asked.body.members) {
    if (name == "v" || std::find(names.begin(), names.end(), name) != names.end()) continue;
    const JsonTree* before = asked.before.find(name);
    if (before == nullptr || *before != member) return Refusal{no_member(name, names)};
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

Result<RecordSet> window(const Asked& asked) {
  JsonTree kept;
  auto record = checked<Window>(asked, kept);
  if (!record) return record.refusal();
  record.value().who = asked.orderer.who;
  if (const auto why = why_no_window(record.value())) return Refusal{*why};
  const std::string& name = record.value().time_zone;
  const bool is_known = name.empty() || name == site_local || name == "UTC";
  if (!is_known && asked.orderer.zones) {
    const auto zone = asked.orderer.zones(name);
    if (!zone) return Refusal{"time zone " + name + ": " + zone.reason()};
  }
  return RecordSet{written(record.value(), kept), "is set"};
}

// Returns a message for the history: the settings in which two records differ.
std::string changes_in_words(const Settings& before, const Settings& after) {
  std::string words;
  const auto add = [&words](const std::string& change) {
    words += (words.empty() ? "" : ", ") + change;
  };
  for (const auto& [name, value] : after.values) {
    const auto old = before.values.find(name);
    if (old != before.values.end() && old->second == value) continue;
    add(name + (name == secret_setting ? " is another one" : " is " + value));
  }
  for (const auto& [name, value] : before.values) {
    if (!after.values.contains(name)) add(name + " is not set any longer");
  }
  return words;
}

Result<RecordSet> settings(const Asked& asked) {
  const auto record = read_record<Settings>(write_tree(asked.body));
  if (!record) return record.refusal();
  for (const auto& [name, member] : asked.body.members) {
    if (name != "v" && member.kind != JsonTree::Kind::text) return Refusal{name + " is no text"};
  }
  const auto before =
      read_record<Settings>(asked.before.is_object() ? write_tree(asked.before) : "{}");
  const Settings there = before ? before.value() : Settings{};
  Settings set = record.value();
  if (const auto why = why_no_settings(set, there)) return Refusal{*why};
  set.who = asked.orderer.who;
  const std::string changes = changes_in_words(there, set);
  return RecordSet{write_record(set), "are set" + (changes.empty() ? "" : ": " + changes)};
}

Result<RecordSet> stop(const Asked& asked) {
  JsonTree kept;
  auto record = checked<Stop>(asked, kept);
  if (!record) return record.refusal();
  record.value().who = asked.orderer.who;
  record.value().since = asked.orderer.time;
  const std::string& why = record.value().why;
  return RecordSet{written(record.value(), kept),
                   "nothing begins" + (why.empty() ? "" : ": " + why)};
}

// Returns the nodes to which a desired version applies: one node, or all nodes of the cell except
// those that a person has pinned to a version.
std::vector<NodeView> meant_by(const Asked& asked) {
  auto nodes = asked.facts.nodes();
  if (asked.key.kind == KeyKind::node_desired) return nodes;
  const std::string component = component_of(asked.key);
  std::erase_if(nodes, [&component](const NodeView& node) {
    const auto own = node.desired.find(component);
    return own != node.desired.end() && own->second.record.pinned;
  });
  return nodes;
}

// Returns whether the node of this record was enrolled in the cell, and is not revoked.
bool is_enrolled(const Asked& asked) {
  const KeyValue* found =
      asked.facts.reading().find(key_of(KeyKind::identity, {node_kind, asked.key.names.front()}));
  const auto identity = read_record<Identity>(found == nullptr ? "" : found->value);
  return identity && identity.value().revoked.empty();
}

Result<RecordSet> desired(const Asked& asked) {
  JsonTree kept;
  auto record = checked<Desired>(asked, kept);
  if (!record) return record.refusal();
  Desired& wish = record.value();
  if (wish.pending) return Refusal{"pending is set, and taken away, by a plan alone"};
  if (!is_version_name(wish.version)) return Refusal{"\"" + wish.version + "\" is no version"};
  const std::string component = component_of(asked.key);
  const auto found = published_release(asked.facts.reading(), component, wish.version);
  if (!found) return found.refusal();
  const auto nodes = meant_by(asked);
  // The node must exist. Otherwise the new record alone would make it look like a silent node, and
  // plans would wait for it.
  if (asked.key.kind == KeyKind::node_desired && nodes.empty() && !is_enrolled(asked))
    return Refusal{asked.key.names.front() + ": no such node"};
  const auto down = why_no_going_down(nodes, component, wish.version);
  if (down && !wish.downgrade) return Refusal{*down};
  wish.digest = found.value().release.digest;
  wish.pinned = asked.key.kind == KeyKind::node_desired;
  wish.who = asked.orderer.who;
  wish.refused.clear();
  wish.previous.clear();
  wish.previous_refused.clear();
  wish.trace = asked.orderer.trace;
  return RecordSet{written(wish, kept),
                   component + " " + wish.version + " is desired",
                   {{.key = key_of(KeyKind::release, {component, wish.version}),
                     .revision = found.value().revision}}};
}

// Returns whether the architectures in the order are right: each manifest for which the order names
// an architecture is a manifest for this architecture.
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

Result<RecordSet> release(const Asked& asked) {
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
  release.published = asked.orderer.time;
  return RecordSet{written(release, kept), "is published"};
}

}  // namespace

Result<PublishedRelease> published_release(const Reading& reading, const std::string& component,
                                           const std::string& version) {
  const KeyValue* found = reading.find(key_of(KeyKind::release, {component, version}));
  if (found == nullptr) return Refusal{component + " " + version + " is not published"};
  const auto release = read_record<Release>(found->value);
  if (!release) return Refusal{"the release " + release.reason()};
  return PublishedRelease{release.value(), found->modified};
}

std::optional<std::string> why_no_going_down(const std::vector<NodeView>& nodes,
                                             const std::string& component,
                                             const std::string& version) {
  const std::string newer = who_runs_newer(nodes, component, version);
  if (newer.empty()) return std::nullopt;
  return component + " " + version + " is older than what runs on " + newer +
         "; if that is meant, say --downgrade (by HTTP \"downgrade\": true)";
}

std::vector<std::string> needs_of_record(const ParsedKey& key, const JsonTree& body) {
  const bool is_wish = key.kind == KeyKind::desired || key.kind == KeyKind::node_desired;
  const std::string version = body.text_of("version");
  if (!is_wish || !is_version_name(version)) return {};
  const std::string release = key_of(KeyKind::release, {component_of(key), version});
  if (key.kind == KeyKind::desired) return {release, prefix_of(KeyKind::node_info)};
  const std::string& node = key.names.front();
  return {release, node_prefix(node), key_of(KeyKind::identity, {node_kind, node})};
}

std::string no_member(std::string_view name, const std::vector<std::string>& known) {
  std::string members;
  for (const std::string& each : known) {
    if (std::ranges::find(signatures, each) != signatures.end()) continue;
    members += (members.empty() ? "" : ", ") + each;
  }
  return "there is no member " + std::string(name) + "; the members are " + members;
}

std::string why_stays_refused(const ParsedKey& key, const std::string& found,
                              const std::string& wanted) {
  if (key.kind != KeyKind::desired) return "";
  const auto there = read_record<Desired>(found);
  const auto wish = read_record<Desired>(wanted);
  if (!there || !wish || there.value().refused.empty()) return "";
  const auto moves = [](const Desired& one) {
    return std::tie(one.version, one.digest, one.downgrade, one.ignore_window);
  };
  if (moves(there.value()) != moves(wish.value())) return "";
  return "stays refused (" + there.value().refused + ") until somebody desires " +
         there.value().version + " again";
}

Result<RecordSet> set_record(const ParsedKey& key, const JsonTree& body, const JsonTree& before,
                             const CellFacts& facts, const Orderer& orderer) {
  const Asked asked{key, body, before, facts, orderer};
  if (key.kind == KeyKind::window) return window(asked);
  if (key.kind == KeyKind::settings) return settings(asked);
  if (key.kind == KeyKind::stop) return stop(asked);
  if (key.kind == KeyKind::release) return release(asked);
  return desired(asked);
}

}  // namespace fleet
