#include "fleet/model/releases/release_watcher.h"

#include <algorithm>
#include <utility>

#include "fleet/model/desired/desired_view.h"
#include "fleet/model/history/chronicle.h"
#include "fleet/model/history/events.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/rollout_decision.h"

namespace fleet {
namespace {

CellSettings settings_in(const CellRecords& records) {
  const KeyValue* found = record_at(records, key_of(KeyKind::settings));
  if (found == nullptr) return {};
  const auto settings = read_record<Settings>(found->value);
  return settings ? cell_settings(settings.value()) : CellSettings{};
}

template <class Take>
void each_below(const CellRecords& records, const std::string& below, const Take& take) {
  for (auto at = records.lower_bound(below); at != records.end(); ++at) {
    if (!at->first.starts_with(below)) return;
    if (const auto key = parse_key(at->first)) take(*key, at->second);
  }
}

bool runs(PlanState state) {
  return state == PlanState::created || state == PlanState::running || state == PlanState::stopping;
}

void take_version(WatchState& state, const std::string& version) {
  if (state.current.empty() || compare_versions(version, state.current) > 0) {
    state.current = version;
  }
}

void take_rollouts(const CellRecords& records, const std::string& component, WatchState& state) {
  std::string last;
  each_below(records, prefix_of(KeyKind::rollout), [&](const ParsedKey& key, const KeyValue& at) {
    if (key.kind != KeyKind::rollout) return;
    const auto rollout = read_record<Rollout>(at.value);
    if (!rollout || rollout.value().terms.component != component) return;
    const Rollout& one = rollout.value();
    // If the release watcher has written only some records of a rollout, the rollout does not count
    // as under way: the watcher erases these records and begins the rollout again.
    if (one.state == RolloutState::created && one.who == watch_who) return;
    take_version(state, one.terms.version);
    if (!is_over(one.state)) state.under_way = true;
    if (one.created < last) return;
    last = one.created;
    const bool is_bad = one.state == RolloutState::aborted || one.state == RolloutState::undone;
    state.halted = is_bad && one.who == watch_who;
  });
}

// Adds the nodes' reports to the component's state. A reporting node that does not run the desired
// version means that a change of version is under way or, if the node's upgrade to that version has
// failed, that the change is halted.
void take_nodes(const CellRecords& records, const std::string& component,
                const std::string& desired, WatchState& state) {
  Reading reading;
  each_below(records, prefix_of(KeyKind::node_info),
             [&](const ParsedKey&, const KeyValue& at) { reading.found.push_back(at); });
  for (const NodeView& node : nodes_in(reading)) {
    const auto version = node.versions.running.find(component);
    if (version == node.versions.running.end()) continue;
    take_version(state, version->second);
    if (desired.empty() || !node.reports() || is_same_version(version->second, desired)) continue;
    const auto upgrade = node.upgrades.find(component);
    const bool failed = upgrade != node.upgrades.end() && upgrade->second.to == desired &&
                        upgrade->second.phase == UpgradePhase::failed;
    (failed ? state.halted : state.under_way) = true;
  }
}

// Returns whether the watcher may not desire or roll out this version now.
bool is_held_back(const WatchState& state, const std::string& version) {
  return state.under_way || state.halted || is_same_version(state.current, version);
}

// Returns the condition that this controller still writes the cell's history.
Compare fence_of(const ReleaseWatcher::Moment& moment) {
  return {.key = key_of(KeyKind::driver, {events_id}),
          .of = Compare::Of::created,
          .revision = moment.fence};
}

// Returns the draft of a rollout with these terms over the nodes in the records.
Result<RolloutDraft> draft_over(const CellRecords& records, const Rollout& wanted) {
  Reading reading;
  for (const std::string& below :
       {prefix_of(KeyKind::node_info), node_identities(), key_of(KeyKind::settings)}) {
    each_below(records, below,
               [&](const ParsedKey&, const KeyValue& at) { reading.found.push_back(at); });
  }
  const auto candidates = candidates_in(nodes_in(reading), wanted.terms.component);
  return draft_rollout(wanted.terms, candidates, wanted.trace, {.budgets = budgets_in(reading)});
}

// Finds the state of a component in the cell's records.
WatchState watch_state(const CellRecords& records, const std::string& component,
                       const WatchSettings& settings) {
  WatchState state;
  if (settings.then == ThenDo::publish) {
    each_below(records, prefix_of(KeyKind::release), [&](const ParsedKey& key, const KeyValue&) {
      if (key.names[0] == component) take_version(state, key.names[1]);
    });
    return state;
  }
  state.under_way = record_at(records, key_of(KeyKind::stop)) != nullptr;
  take_rollouts(records, component, state);
  each_below(records, prefix_of(KeyKind::plan), [&](const ParsedKey& key, const KeyValue& at) {
    if (key.kind != KeyKind::plan) return;
    const auto plan = read_record<Plan>(at.value);
    if (plan && runs(plan.value().state)) state.under_way = true;
  });
  const KeyValue* wish = record_at(records, key_of(KeyKind::desired, {component}));
  const auto desired =
      wish == nullptr ? read_record<Desired>("{}") : read_record<Desired>(wish->value);
  const std::string version = desired ? desired.value().version : "";
  if (!version.empty()) take_version(state, version);
  take_nodes(records, component, settings.then == ThenDo::desire ? version : "", state);
  return state;
}

}  // namespace

ReleaseWatcher::Step ReleaseWatcher::next(const CellRecords& records, const Moment& moment) {
  if (!under_way_.empty()) return Rest{};
  if (moment.fence == 0) {
    watched_.clear();
    return Rest{};
  }
  settings_ = settings_in(records);
  std::erase_if(watched_, [&](const auto& one) { return !settings_.watches.contains(one.first); });
  Rest rest;
  for (const auto& [component, settings] : settings_.watches) {
    Watched& watched = watched_[component];
    if (!watched.version.empty()) {
      if (auto step = take(records, component, watched, moment)) {
        under_way_ = component;
        return std::move(*step);
      }
      watched = {.ask_at = watched.ask_at, .refused = watched.refused, .told = watched.told};
    }
    if (moment.now >= watched.ask_at) {
      watched.ask_at = moment.now + settings.every_ms;
      under_way_ = component;
      return AskSource{url_of_source(settings.source)};
    }
    if (!rest.until || watched.ask_at < *rest.until) rest.until = watched.ask_at;
  }
  return rest;
}

// Returns a line for the log that names the invalid versions in the source's list. Returns an empty
// string if the list has none, or if the last line named the same versions.
std::string ReleaseWatcher::complaint_of(const std::string& component,
                                         const std::vector<FoundRelease>& releases) {
  std::vector<std::string> refused;
  for (const FoundRelease& one : releases) {
    const auto version = version_of_tag(one.tag);
    if (version && !may_be_published(*version)) refused.push_back(*version);
  }
  const std::string names = listed(refused);
  if (std::exchange(watched_[component].refused, names) == names || names.empty()) return "";
  return "the source of " + component + " has versions that no release may have: " + names;
}

std::string ReleaseWatcher::source_said(const CellRecords& records, const std::string& text) {
  const std::string component = std::exchange(under_way_, "");
  const auto settings = settings_.watches.find(component);
  if (settings == settings_.watches.end()) return "";
  const auto found = parse_index(settings->second.source, text);
  if (!found) return "the source of " + component + " " + found.reason();
  std::vector<FoundRelease> releases;
  for (const IndexedRelease& one : found.value())
    releases.push_back(one.release);
  const auto version = release_to_take(releases, settings->second.channel,
                                       watch_state(records, component, settings->second));
  if (!version) return complaint_of(component, releases);
  for (const IndexedRelease& one : found.value()) {
    if (version_of_tag(one.release.tag) != version) continue;
    watched_[component].version = *version;
    watched_[component].offer = one;
  }
  return "";
}

std::string ReleaseWatcher::manifests_came(const agent_protocol::Result<Release>& release) {
  const std::string component = std::exchange(under_way_, "");
  const auto watched = watched_.find(component);
  if (watched == watched_.end()) return "";
  // Check that the release's record can be parsed: a published record is never changed.
  const auto read = release ? read_record<Release>(write_record(release.value())) : release;
  if (read) {
    watched->second.release = release.value();
    return "";
  }
  const std::string version = std::exchange(watched->second.version, "");
  return component + " " + version + " is not taken: " + (release ? "its record " : "") +
         read.reason();
}

std::string ReleaseWatcher::written(const Outcome& outcome) {
  const std::string component = std::exchange(under_way_, "");
  const auto* denied = std::get_if<Denied>(&outcome);
  const auto watched = watched_.find(component);
  if (watched == watched_.end()) return "";
  if (!std::holds_alternative<Committed>(outcome)) watched->second.told.clear();
  if (denied == nullptr) return "";
  const std::string version = watched->second.version;
  watched->second = {.ask_at = watched->second.ask_at, .refused = watched->second.refused};
  return component + " " + version + " is not taken: the store denies the write: " + denied->reason;
}

// Returns the next step for `watched.version`, a new version at the source. The first step asks for
// the manifests, and the second publishes the version. If the settings say so, further steps make
// it the desired version or roll it out. Returns no value if nothing is left to do.
std::optional<ReleaseWatcher::Step> ReleaseWatcher::take(const CellRecords& records,
                                                         const std::string& component,
                                                         Watched& watched, const Moment& moment) {
  if (!watched.release) return AskManifests{watched.version, watched.offer->manifests, component};
  const WatchSettings& settings = settings_.watches.at(component);
  const Compare fence = fence_of(moment);
  const std::string key = key_of(KeyKind::release, {component, watched.version});
  const KeyValue* there = record_at(records, key);
  if (there == nullptr) {
    watched.release->prerelease = watched.offer->release.prerelease;
    watched.release->channel = watched.release->prerelease ? "staging" : "production";
    watched.release->published = moment.time;
    return Order{
        {.compares = {fence, {.key = key}}, .puts = {{key, write_record(*watched.release)}}},
        component + " " + watched.version + " is published"};
  }
  const auto published = read_record<Release>(there->value);
  if (!published || published.value().digest != watched.release->digest) return std::nullopt;
  if (settings.then == ThenDo::publish) return std::nullopt;
  if (settings.then == ThenDo::rollout) {
    return roll_out(records, component, watched, *there, moment);
  }
  const WatchState state = watch_state(records, component, settings);
  if (is_held_back(state, watched.version)) return std::nullopt;
  const std::string wish = key_of(KeyKind::desired, {component});
  const KeyValue* before = record_at(records, wish);
  const Desired desired{.version = watched.version,
                        .digest = published.value().digest,
                        .why = "the newest at its source",
                        .trace = moment.trace};
  return Order{{.compares = {fence,
                             {.key = wish, .revision = before == nullptr ? 0 : before->modified},
                             {.key = key, .revision = there->modified},
                             {.key = key_of(KeyKind::stop)}},
                .puts = {{wish, write_record(desired)}}},
               component + " " + watched.version + " is desired"};
}

std::optional<ReleaseWatcher::Step> ReleaseWatcher::roll_out(const CellRecords& records,
                                                             const std::string& component,
                                                             Watched& watched,
                                                             const KeyValue& release,
                                                             const Moment& moment) {
  const Compare fence = fence_of(moment);
  const std::string id = watch_rollout_id(component, watched.version);
  const std::string key = key_of(KeyKind::rollout, {id});
  const KeyValue* there = record_at(records, key);
  std::optional<WrittenRollout> written;
  if (there != nullptr) {
    const auto rollout = read_record<Rollout>(there->value);
    const bool is_half = rollout && rollout.value().state == RolloutState::created &&
                         rollout.value().who == watch_who;
    if (!is_half) return std::nullopt;
    if (!watched.wanted || watched.wanted->trace != rollout.value().trace) {
      // An earlier driver has written only some records of this rollout. Erase these records, so
      // that the rollout is begun again.
      return Order{{.compares = {fence, {.key = key, .revision = there->modified}},
                    .erases = {{key}, {key_below(key), true}}},
                   id + " was half written, and is taken away"};
    }
    written = {rollout.value(), there->modified};
  }
  if (!watched.wanted) {
    const WatchSettings& settings = settings_.watches.at(component);
    const WatchState state = watch_state(records, component, settings);
    if (is_held_back(state, watched.version)) return std::nullopt;
    Rollout wanted{.terms = settings.terms,
                   .who = std::string(watch_who),
                   .trace = moment.trace,
                   .created = moment.time};
    wanted.terms.component = component;
    wanted.terms.version = watched.version;
    wanted.terms.digest = watched.release->digest;
    wanted.terms.min_protocol = watched.release->min_protocol;
    const auto draft = draft_over(records, wanted);
    if (!draft) return complain(records, component, watched, draft.reason(), moment);
    wanted.terms = draft.value().terms;
    watched.wanted = std::move(wanted);
    watched.draft = draft.value();
  }
  auto creation = next_creation(id, *watched.wanted, watched.draft, release.modified, written);
  if (!creation) return std::nullopt;
  creation->compares.push_back(fence);
  return Order{std::move(*creation), id + " is being written"};
}

// Returns an order that tells people, once for each reason, why the new version is not rolled out:
// the order's news is a line for the log, and its transaction writes an event.
std::optional<ReleaseWatcher::Step> ReleaseWatcher::complain(const CellRecords& records,
                                                             const std::string& component,
                                                             Watched& watched,
                                                             const std::string& reason,
                                                             const Moment& moment) {
  const std::string text = component + " " + watched.version + " is not rolled out: " + reason;
  if (std::exchange(watched.told, text) == text) return std::nullopt;
  Order order{{.compares = {fence_of(moment)}}, text};
  add_event(order.transaction,
            {.time = moment.time,
             .kind = "watch-halted",
             .subject = "rollout/" + watch_rollout_id(component, watched.version),
             .text = brief(text),
             .trace = moment.trace},
            last_event(records) + 1);
  return order;
}

}  // namespace fleet
