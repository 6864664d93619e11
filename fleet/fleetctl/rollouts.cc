#include "fleet/fleetctl/rollouts.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/moment.h"
#include "fleet/fleetctl/cell_view.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/held.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/reasons/failure_causes.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/gates.h"
#include "fleet/model/rollouts/judge_verdict.h"
#include "fleet/model/rollouts/rollout_terms.h"
#include "fleet/model/rollouts/rollout_wish.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;

std::string progress(const fleet::Rollout& rollout) {
  return std::to_string(rollout.batch) + " of " + std::to_string(rollout.batches);
}

// Returns how many nodes the rollout has.
std::int64_t count_nodes(const fleet::Reading& reading) {
  std::int64_t nodes = 0;
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key || key->kind != KeyKind::rollout_batch) continue;
    const auto batch = fleet::read_record<fleet::RolloutBatch>(found.value);
    if (batch) nodes += static_cast<std::int64_t>(batch.value().nodes.size());
  }
  return nodes;
}

// Returns the findings of the judge, which compares nodes that have the new version with nodes that
// do not have it yet. Without findings, returns the reason, such as `nothing is compared yet`.
std::string judge_words(const fleet::Reading& reading) {
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key || key->kind != KeyKind::rollout_judge) continue;
    const auto judge = fleet::read_record<fleet::RolloutJudge>(found.value);
    return judge ? judge.value().words : judge.reason();
  }
  return count_nodes(reading) < fleet::judge_nodes_min ? "too few nodes to compare"
                                                       : "nothing is compared yet";
}

// Adds a line for each measure by which the rollout is judged.
void add_measures(std::vector<upgraderctl::Row>& rows, const fleet::Reading& reading) {
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key || key->kind != KeyKind::rollout_judge) continue;
    const auto judge = fleet::read_record<fleet::RolloutJudge>(found.value);
    if (!judge) continue;
    for (const fleet::JudgedMeasure& measure : judge.value().measures)
      rows.push_back({"  measure", measure.name + ": " + measure.words});
  }
}

// Returns a text about the undo of a rollout: how far it has come, or whether it is impossible or
// automatic. Returns an empty string if there is nothing to say.
std::string undo_words(const fleet::Rollout& rollout) {
  if (rollout.kept > 0) return kept_words(rollout);
  if (rollout.state == fleet::RolloutState::undone) return "every node has gone back";
  if (rollout.undo) return rollout.undo_now ? "ordered, all batches at once" : "ordered";
  if (rollout.terms.no_undo) return "impossible, as the manifest says";
  return rollout.terms.undo ? "by itself if it aborts by itself" : "";
}

// Returns how much of the bake (the time after the last batch in which the rollout is still judged)
// is over, according to the rollout's record.
std::string bake_words(const fleet::Rollout& rollout) {
  const auto length = [](std::int64_t ms) {
    return upgraderctl::show_duration(upgraderctl::Duration{ms});
  };
  const std::string all = length(rollout.terms.bake_ms);
  if (rollout.state != fleet::RolloutState::baking) return all;
  return "at least " + length(rollout.baked_ms) + " of " + all + " have passed";
}

// Adds a line for each gate of the rollout, with the gate's last answer, or `not asked yet`.
void add_gates(std::vector<upgraderctl::Row>& rows, const fleet::Rollout& rollout) {
  for (const std::string& name : rollout.terms.gates) {
    std::string words = "not asked yet";
    for (const fleet::GateStand& gate : rollout.gates) {
      if (gate.name == name) words = words_of(gate);
    }
    rows.push_back({"  gate", name + ": " + words});
  }
}

std::vector<std::string> rollout_page(const std::string& id, const fleet::Rollout& rollout,
                                      const fleet::Reading& reading, const fleet::Held& held) {
  std::vector<std::string> lines{id + ": " + std::string(text_of(rollout.state)) +
                                 (rollout.reason.empty() ? "" : ", " + rollout.reason)};
  std::vector<upgraderctl::Row> rows{
      {"  runs", rollout.terms.component + " " + rollout.terms.version},
      {"  batches done", progress(rollout)}};
  const fleet::RolloutTerms& terms = rollout.terms;
  if (!terms.batches.empty()) rows.push_back({"  batches", terms.batches});
  if (terms.order == fleet::NodeOrder::random) rows.push_back({"  seed", terms.seed});
  for (const std::string& apart : terms.apart)
    rows.push_back({"  apart", apart});
  rows.push_back({"  driver", rollout.driver});
  rows.push_back({"  judge", judge_words(reading)});
  if (const auto words = judging_words(terms, count_nodes(reading)); !words.empty())
    rows.push_back({"  judging", words});
  add_measures(rows, reading);
  add_gates(rows, rollout);
  // `waits_for` in the record may be old: the driver does not update it while the batch is held
  // back. So show `held` if it has a reason.
  const std::string& waits_for = held.words.empty() ? rollout.waits_for : held.words;
  if (!waits_for.empty()) rows.push_back({"  waits for", waits_for});
  if (terms.bake_ms > 0) rows.push_back({"  bake", bake_words(rollout)});
  if (const std::string undo = undo_words(rollout); !undo.empty()) rows.push_back({"  undo", undo});
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key || key->kind != KeyKind::rollout_node) continue;
    const auto node = fleet::read_record<fleet::RolloutNode>(found.value);
    std::string words(node ? text_of(node.value().stage) : node.reason());
    if (node && !node.value().error.empty()) words += ": " + node.value().error;
    rows.push_back({"  node", key->names[1] + " " + words});
  }
  for (const std::string& line : table(rows)) {
    lines.push_back(line);
  }
  return lines;
}

// Returns the order in the JSON for a rollout, such as `pause` for `{"order": "pause"}`.
std::string order_text(const Options& options) {
  switch (options.wish) {
    case fleet::RolloutWish::pause:
      return "pause";
    case fleet::RolloutWish::resume:
      return "none";
    case fleet::RolloutWish::abort:
      return options.leave ? "abort-and-leave" : "abort";
    case fleet::RolloutWish::undo:
      return "undo";
    case fleet::RolloutWish::undo_now:
      return "undo-now";
  }
  return "";
}

}  // namespace

std::string kept_words(const fleet::Rollout& rollout) {
  if (rollout.kept == 0) return "";
  return fleet::counted(rollout.kept, "node") + " cannot go back";
}

std::string reason_words(const fleet::Rollout& rollout) {
  const std::string kept = kept_words(rollout);
  return rollout.reason + (rollout.reason.empty() || kept.empty() ? "" : ", ") + kept;
}

int list_rollouts(const Options& options, Asker& asker) {
  const auto reply = asker.read({fleet::prefix_of(KeyKind::rollout), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  fleet::Reading reading = std::get<fleet::Reading>(reply);
  std::erase_if(reading.found, [](const fleet::KeyValue& found) {
    const auto key = fleet::parse_key(found.key);
    return !key || key->kind != KeyKind::rollout;
  });
  if (options.json) return say_json(as_json(reading));
  std::vector<upgraderctl::Row> rows{{"ROLLOUT", "RUNS", "STATE", "BATCHES", "FAILED", "REASON"}};
  for (const fleet::KeyValue& found : reading.found) {
    const std::string id = fleet::parse_key(found.key)->names.front();
    const auto record = fleet::read_record<fleet::Rollout>(found.value);
    if (!record) {
      rows.push_back({id, "", "unreadable", "", "", record.reason()});
      continue;
    }
    const fleet::Rollout& one = record.value();
    rows.push_back({id, one.terms.component + " " + one.terms.version,
                    std::string(text_of(one.state)), progress(one), std::to_string(one.failed),
                    reason_words(one)});
  }
  return say_all(table(rows));
}

int show_rollout(const Options& options, Asker& asker) {
  const std::string key = fleet::key_of(KeyKind::rollout, {options.rollout});
  const auto reply = asker.read({key, true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  fleet::Reading reading = std::get<fleet::Reading>(reply);
  // Drop the records of other rollouts whose names begin with this one's name.
  std::erase_if(reading.found, [&key](const fleet::KeyValue& found) {
    return found.key != key && !found.key.starts_with(fleet::key_below(key));
  });
  const fleet::KeyValue* found = reading.find(key);
  if (found == nullptr) return refuse(options.rollout + ": no such rollout");
  const auto record = fleet::read_record<fleet::Rollout>(found->value);
  if (options.json) {
    say_json(as_json(reading));
  } else if (record) {
    const auto held = find_held(asker, options.rollout, record.value(), reading);
    if (const int* status = std::get_if<int>(&held)) return *status;
    say_all(rollout_page(options.rollout, record.value(), reading, std::get<fleet::Held>(held)));
  } else {
    return refuse(options.rollout + ": " + record.reason());
  }
  return exit_done;
}

int order_rollout(const Options& options, Asker& asker) {
  const Placed placed = place(options, asker,
                              {.deed = fleet::Deed::patch,
                               .subject = "rollout/" + options.rollout,
                               .body = R"({"order":")" + order_text(options) + "\"}"});
  const bool is_absent = placed.refused && placed.refused->why == fleet::OrderRefused::Why::absent;
  if (is_absent) complain(options.rollout + ": no such rollout");
  if (is_absent || placed.refused) return is_absent ? placed.status : say_refused(placed);
  if (placed.status == exit_done) say(options.rollout + " " + placed.taken.event.text);
  return placed.status;
}

// ---- the reasons why nodes failed

namespace {

std::string duration(std::int64_t ms) {
  return upgraderctl::show_duration(upgraderctl::Duration{ms});
}

void add(std::string& words, const std::string& more) {
  words += (words.empty() ? "" : ", ") + more;
}

std::string suspect_words(const fleet::Suspect& suspect, std::size_t nodes) {
  return suspect.mark + ": " + std::to_string(suspect.failed) + " of these " +
         std::to_string(nodes) + ", and " + std::to_string(suspect.others) + " of the other " +
         std::to_string(suspect.others_in_all);
}

std::vector<std::string> paragraph(const fleet::FailureGroup& group) {
  std::vector<std::string> lines{fleet::counted(group.nodes.size(), "node") + " " +
                                 std::string(text_of(group.stage)) + ": " + group.error};
  lines.push_back("  nodes: " + fleet::listed(group.nodes));
  for (const fleet::Capsule& capsule : group.evidence) {
    if (!capsule.stage.empty()) lines.push_back("  stage: " + capsule.stage);
    const std::string measured = measured_words(capsule);
    if (!measured.empty()) lines.push_back("  " + measured);
    for (const std::string& differs : capsule.differs)
      lines.push_back("  differs: " + differs);
    for (const std::string& line : capsule.lines)
      lines.push_back("  wrote: " + line);
  }
  for (const fleet::Suspect& suspect : group.suspects)
    lines.push_back("  suspect: " + suspect_words(suspect, group.nodes.size()));
  if (group.is_everybody)
    lines.emplace_back("  suspect: the version itself: every node that has begun failed so");
  return lines;
}

}  // namespace

std::string measured_words(const fleet::Capsule& capsule) {
  std::string words;
  if (capsule.exit_status >= 0) add(words, "exit status " + std::to_string(capsule.exit_status));
  if (capsule.signal > 0) add(words, "signal " + std::to_string(capsule.signal));
  if (capsule.lived_ms >= 0) add(words, "lived " + duration(capsule.lived_ms));
  constexpr std::int64_t kib_a_mib = 1'024;
  if (capsule.peak_kib >= 0) {
    add(words, "memory " + std::to_string((capsule.peak_kib + kib_a_mib - 1) / kib_a_mib) + " MiB");
  }
  if (capsule.cpu_ms >= 0) add(words, "processor " + duration(capsule.cpu_ms));
  return words;
}

std::vector<std::string> why_page(const std::vector<fleet::FailureGroup>& groups) {
  std::vector<std::string> lines;
  for (const fleet::FailureGroup& group : groups) {
    for (std::string& line : paragraph(group))
      lines.push_back(std::move(line));
  }
  if (lines.empty()) lines.emplace_back("no node has failed");
  return lines;
}

int show_why(const Options& options, Asker& asker) {
  const std::string key = fleet::key_of(KeyKind::rollout, {options.rollout});
  const auto reply = read_keys(
      asker,
      {key, fleet::key_below(key), fleet::prefix_of(KeyKind::node_info), fleet::node_identities()});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto& reading = std::get<fleet::Reading>(reply);
  if (reading.find(key) == nullptr) return refuse(options.rollout + ": no such rollout");
  const auto nodes = nodes_of_rollout(reading, options.rollout);
  std::vector<fleet::FailureGroup> groups = failure_groups(nodes);
  if (!options.node.empty()) {
    if (!nodes.contains(options.node)) {
      return refuse(options.node + ": nothing was ordered of it in " + options.rollout);
    }
    std::erase_if(groups, [&options](const fleet::FailureGroup& group) {
      return !std::binary_search(group.nodes.begin(), group.nodes.end(), options.node);
    });
    // The user has named a node: show its evidence instead of that of the first node in its group.
    for (fleet::FailureGroup& group : groups) {
      group.error = nodes.at(options.node).record.error;
      group.evidence = nodes.at(options.node).record.evidence;
    }
  }
  if (options.json) return say_json(failures_json(groups));
  if (groups.empty() && !options.node.empty()) {
    say(options.node + ": has not failed");
  } else {
    say_all(why_page(groups));
  }
  return exit_done;
}

}  // namespace fleetctl
