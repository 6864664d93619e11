#include "fleet/fleetctl/why.h"

#include <algorithm>
#include <utility>

#include "base/moment.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/enum_text.h"
#include "fleet/model/failure_groups.h"
#include "fleet/model/identities.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_brief.h"

namespace fleetctl {

using fleet::KeyKind;

namespace {

std::string duration(std::int64_t ms) {
  return upgraderctl::show_duration(upgraderctl::Duration{ms});
}

void add(std::string& words, const std::string& more) {
  words += (words.empty() ? "" : ", ") + more;
}

std::string count_of(std::size_t nodes) {
  return std::to_string(nodes) + (nodes == 1 ? " node " : " nodes ");
}

std::string suspect_words(const fleet::Suspect& suspect, std::size_t nodes) {
  return suspect.mark + ": " + std::to_string(suspect.failed) + " of these " +
         std::to_string(nodes) + ", and " + std::to_string(suspect.others) + " of the other " +
         std::to_string(suspect.others_in_all);
}

std::vector<std::string> paragraph(const fleet::FailureGroup& group) {
  std::vector<std::string> lines{count_of(group.nodes.size()) + std::string(text_of(group.stage)) +
                                 ": " + group.error};
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
    // Show the evidence of the node that the user has named. Otherwise its group would show the
    // evidence of the group's first node.
    for (fleet::FailureGroup& group : groups) {
      group.error = nodes.at(options.node).record.error;
      group.evidence = nodes.at(options.node).record.evidence;
    }
  }
  if (options.json) {
    say_json(failures_json(groups));
    return exit_done;
  }
  if (groups.empty() && !options.node.empty()) {
    say(options.node + ": has not failed");
  } else {
    say_all(why_page(groups));
  }
  return exit_done;
}

}  // namespace fleetctl
