// Implements `fleetctl rollout watch`, which draws one line for the whole rollout, and one line for
// each batch that has begun.
#include <unistd.h>

#include <cstdio>
#include <map>

#include "base/shown.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/rollouts.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;
using fleet::NodeStage;

constexpr std::size_t bar_width = 30;

struct Nodes {
  std::map<std::int64_t, std::vector<std::string>> batches = {};
  std::map<std::string, NodeStage> stages = {};

  [[nodiscard]] NodeStage stage(const std::string& node) const {
    const auto found = stages.find(node);
    return found == stages.end() ? NodeStage::waiting : found->second;
  }
};

// Returns the line for a batch, such as `[####..] batch 2: 1 confirmed, 2 applying`.
std::string line_of(std::int64_t number, const std::vector<std::string>& batch,
                    const Nodes& nodes) {
  std::map<NodeStage, std::size_t> counts;
  std::size_t ended = 0;
  for (const std::string& node : batch) {
    ++counts[nodes.stage(node)];
    if (fleet::is_end(nodes.stage(node))) ++ended;
  }
  std::string text;
  for (const auto& [stage, count] : counts) {
    text += (text.empty() ? " " : ", ") + std::to_string(count) + " " +
            std::string(fleet::text_of(stage));
  }
  return bar(ended, batch.size(), bar_width) + " batch " + std::to_string(number + 1) + ":" + text;
}

std::string head_of(const std::string& id, const fleet::Rollout& rollout, const Nodes& nodes) {
  const std::string reason = reason_words(rollout);
  std::size_t all = 0;
  std::size_t ended = 0;
  for (const auto& [number, batch] : nodes.batches) {
    all += batch.size();
    for (const std::string& node : batch) {
      if (fleet::is_end(nodes.stage(node))) ++ended;
    }
  }
  return bar(ended, all, bar_width) + " " + id + ": " + rollout.terms.component + " " +
         rollout.terms.version + ", " + std::string(fleet::text_of(rollout.state)) +
         (reason.empty() ? "" : ", " + reason);
}

// Draws the lines over the lines that were drawn before, of which there are `before`.
void draw(const std::vector<std::string>& lines, std::size_t before) {
  if (before > 0) std::printf("\x1b[%zuA", before);
  for (const std::string& line : lines) {
    std::printf("\x1b[2K%s\n", upgraderctl::shown(line).c_str());
  }
  std::fflush(stdout);
}

void append(const std::vector<std::string>& lines, const std::vector<std::string>& before) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i >= before.size() || before[i] != lines[i]) say(lines[i]);
  }
  std::fflush(stdout);
}

}  // namespace

std::string bar(std::size_t done, std::size_t all, std::size_t width) {
  const std::size_t filled = all == 0 ? 0 : done * width / all;
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
}

WatchedRollout watched(const std::string& id, const fleet::Reading& reading) {
  WatchedRollout seen;
  fleet::Rollout rollout;
  Nodes nodes;
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key || key->names.empty() || key->names[0] != id) continue;
    if (key->kind == KeyKind::rollout) {
      const auto record = fleet::read_record<fleet::Rollout>(found.value);
      seen.is_there = true;
      if (record) rollout = record.value();
      seen.damage = record ? "" : record.reason();
    }
    if (key->kind == KeyKind::rollout_batch) {
      const auto record = fleet::read_record<fleet::RolloutBatch>(found.value);
      if (record) nodes.batches[static_cast<std::int64_t>(key->number())] = record.value().nodes;
    }
    if (key->kind == KeyKind::rollout_node) {
      const auto record = fleet::read_record<fleet::RolloutNode>(found.value);
      nodes.stages[key->names[1]] = record ? record.value().stage : NodeStage::unknown;
    }
  }
  seen.state = rollout.state;
  seen.lines.push_back(head_of(id, rollout, nodes));
  for (const auto& [number, batch] : nodes.batches) {
    if (number <= rollout.batch) seen.lines.push_back(line_of(number, batch, nodes));
  }
  return seen;
}

int watch_rollout(const Options& options, Asker& asker) {
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  std::vector<std::string> before;
  for (;;) {
    const auto reply =
        asker.read({fleet::key_of(fleet::KeyKind::rollout, {options.rollout}), true});
    if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
    const WatchedRollout now = watched(options.rollout, std::get<fleet::Reading>(reply));
    if (!now.is_there || !now.damage.empty()) {
      return refuse(options.rollout + ": " + (now.is_there ? now.damage : "no such rollout"));
    }
    is_terminal ? draw(now.lines, before.size()) : append(now.lines, before);
    before = now.lines;
    if (now.state == fleet::RolloutState::completed) return exit_done;
    if (fleet::is_over(now.state)) return exit_failed;
    asker.rest();
  }
}

}  // namespace fleetctl
