// This file watches the nodes of one rollout, from the records that the rollout's driver (the
// controller that steers it) reads anyway. It finds out which nodes run the new version, which
// nodes are the control group with the old version, and which nodes fail. The judge compares the
// failures of the two groups. This file does no input or output.
//
//     control     the control group: the last control_size() nodes in the random order that follows
//                 from the rollout's seed, until they move to the new version
//     others      all other nodes that have not moved. These are watched, but not compared. A node
//                 that fails before it has moved, in the control group or not, is not compared
//                 after its move
//     new         the nodes on which the new version is active: from a minute after its activation
//                 to the end of the rollout
//     a failure   one of these four:
//                 - fleet-agent was restarted: a new process is active, and has the same version as
//                   the process before. A process with another version comes from an upgrade, which
//                   is no failure.
//                 - No process of fleet-agent has reported for five minutes. But if more than a
//                   tenth of the nodes that have not moved are silent at that time, the cause is
//                   unknown, and the node is not compared until it reports again.
//                 - The record `health` of the node shows a failure of the component.
//                 - The new version has failed, and the node goes back to the old version. In a
//                   rollout of fleet-agent, this always counts, since the same crash in the control
//                   group would count as a restart. In a rollout of another component, it counts
//                   only if the node reports its health. A node with an older fleet-agent does not
//                   report crashes of the old version, so a comparison would be unfair.
//     health      before each batch, the record `control` asks the nodes of the control group for
//                 their health. A node that reports an earlier failure is not compared
//     measures    the measures (numbers that the component reports about itself) are judged when a
//                 batch has soaked: see judge_verdict.h
//     seen        a node was seen to work for the time of its soak, without the times in which the
//                 node was silent or no driver was at work
//
// - The next driver continues from the findings in the record rollout/NAME/judge. This record is
//   written at once when a compared node fails, and within a minute when another node fails. It is
//   also written about ten times in a soak, to note how much of the soak was seen.
// - The judge examines the nodes only from time to time, since thousands of nodes may report at the
//   same time.
// - A batch is confirmed when the verdict is "well". It does not wait for the verdict if the
//   rollout has fewer nodes than judge_nodes_min, no control group, or no random order of its
//   nodes.
// - During a bake, which follows the last batch, all nodes run the new version. Their failures are
//   compared with the failure rate that the control group had: see judge_evidence.h. If the verdict
//   is "worse", the rollout is aborted.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fleet/model/records/time.h"
#include "fleet/model/rollouts/judge_evidence.h"
#include "fleet/model/rollouts/judge_verdict.h"
#include "fleet/model/rollouts/rollout_view.h"

namespace fleet {

// The time from one examination of the nodes by the judge to the next.
inline constexpr Ms judge_look_ms = 10'000;
// The judge's record is written at most once in this time if only nodes that are not compared have
// failed.
inline constexpr Ms judge_note_ms = 60'000;
// A node that is silent for this time counts as failed. The time is long, since a machine may need
// minutes to boot.
inline constexpr Ms judge_silent_ms = 300'000;
// If more than one in `judge_silent_share` of the nodes that have not moved are silent, the network
// is the likely cause, and the silence of a node does not count as a failure.
inline constexpr std::int64_t judge_silent_share = 10;

// How long, after the soak of a batch, the judge waits for the measures that some nodes have not
// reported yet.
inline constexpr Ms judge_measures_ms = 60'000;

class JudgeWatch {
 public:
  explicit JudgeWatch(std::string rollout) : id_(std::move(rollout)) {}

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);

  // Examines the state of all nodes, if judge_look_ms have passed since the last time.
  void look(const RolloutView& view, Ms now);
  // Returns the time from which look() examines the nodes again. Returns no value if the rollout
  // has too few nodes for a comparison, or is not under way.
  [[nodiscard]] std::optional<Ms> next_look() const;

  // Returns the judge's findings if they must be written to the store now, otherwise no value.
  [[nodiscard]] std::optional<RolloutJudge> news() const;
  [[nodiscard]] Verdict verdict() const { return verdict_; }
  // Returns why the batch must still wait for the judge, or an empty string if it need not wait.
  [[nodiscard]] std::string why_unconfirmed() const;
  // Returns the nodes of the control group that have to be asked for their health before the
  // current batch begins.
  [[nodiscard]] std::vector<std::string> controls_to_ask(const RolloutView& view) const;

 private:
  // The reports of one node. They are kept for each node, even if the judge does not compare it.
  struct Heard {
    // The instances that are alive, and their versions.
    std::map<std::string, std::string> instances = {};
    std::string active = {};
    // The health that the node reports, for each component.
    std::map<std::string, NodeHealth> health = {};
    // For each component, the member `run` of the node's record `control`, which shows for which
    // batch the node was last asked for its health.
    std::map<std::string, std::string> control = {};
  };
  // The facts that this driver has found out about one node of the rollout.
  struct Part {
    // The time from which the driver is to watch the node, or no value if it watches the node
    // already.
    std::optional<Ms> enters = {};
    std::optional<Ms> silent_since = {};
    // True if the node fell silent together with many others. The node is watched again when it
    // reports.
    bool is_lost = false;
    std::string instance = {};
    std::string version = {};  // the version of the node's active fleet-agent
    bool is_counted = false;   // the failure in the node's record `health` was counted
  };
  struct SoakReports {
    std::vector<MeasuredNode> nodes = {};
    std::int64_t soaked = 0;   // how many nodes of the batch have soaked to the end
    std::int64_t missing = 0;  // how many reports may still come
  };

  void begin(const RolloutView& view);
  void remember(const RolloutJudge& judge, double tolerate);
  void choose_control(const RolloutView& view);
  void look_at_moved(const RolloutView& view, Ms now);
  void look_at_moved(const RolloutView& view, const std::string& node, Ms now);
  void look_at_parts(const RolloutView& view, Ms now);
  void look_at_health(const RolloutView& view, const std::string& node, Part& part, Ms now);
  void look_at_soak(const RolloutView& view, Ms passed);
  void enter(const RolloutView& view, const std::string& node, Part& part, Ms now);
  // Returns the node's report about its health for this rollout, or null if there is none.
  [[nodiscard]] const NodeHealth* health_of(const RolloutView& view, const std::string& node) const;
  [[nodiscard]] bool has_control_reports(const RolloutView& view) const;
  [[nodiscard]] SoakReports soak_reports(const RolloutView& view) const;
  void judge_measures(const RolloutView& view, bool is_soak_over, Ms now);
  [[nodiscard]] std::string why_measures_miss(const RolloutView& view, Ms now);
  [[nodiscard]] double alpha_of_failures(const RolloutView& view) const;
  void fail(const std::string& node, Ms now);
  [[nodiscard]] bool is_silent(const std::string& node) const;
  [[nodiscard]] bool are_many_silent(const RolloutView& view) const;
  void conclude(const RolloutView& view, Ms now);
  void judge_batch(const RolloutView& view, Ms now);
  void count_bake();
  void judge_bake(const RolloutView& view);
  [[nodiscard]] bool is_news(Ms now) const;
  void take_text(const std::string& key, const std::string* text);

  std::string id_;
  std::unordered_map<std::string, Heard> heard_;
  std::optional<RolloutJudge> written_;  // the record rollout/RID/judge as it is in the store
  std::optional<Cohorts> cohorts_;       // the compared nodes; no value if the rollout has too few
  RolloutJudge found_;
  Verdict verdict_ = Verdict::not_known;
  bool is_waited_for_ = false;
  std::map<std::string, Part> parts_;
  std::unordered_set<std::string> unmoved_;
  std::set<std::string> control_;
  std::set<std::int64_t> failed_;
  // The control nodes' time without a failure before this driver took over.
  Ms control_ms_before_ = 0;
  std::optional<CohortCount> baked_;  // the counts of new nodes at the last look during the bake
  // During a bake, the time at risk (how long nodes were compared and had not failed) grows all the
  // time. If only this time has changed, it is written to the store once in this interval.
  Ms bake_note_ms_ = judge_note_ms;
  std::set<std::string> soaked_;  // nodes of the batch whose soak has ended
  Ms soak_ms_ = 0;  // the soak times of the batch's nodes with the new version, added up
  std::optional<Ms> looked_at_;
  Ms began_at_ = 0;
  // The number (turn_of()) of the last batch whose soak has ended, and the time at which this
  // driver noticed the end. Reports that are missing then may still come for judge_measures_ms.
  std::pair<std::int64_t, Ms> over_ = {-1, 0};
  Ms noted_at_ = 0;
  bool is_news_ = false;
};

// Returns the value of the member `run` in the record `control`, which asks a node of the control
// group for its health. It is different for each batch, and ends like the ids of the rollout's
// commands (id_end()).
[[nodiscard]] std::string control_run(const RolloutView& view);

}  // namespace fleet
