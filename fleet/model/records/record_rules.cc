#include "fleet/model/records/record_rules.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "fleet/model/agent/capsule.h"
#include "fleet/model/nodes/target.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/batch_draft.h"
#include "fleet/model/rollouts/rollout_terms.h"

namespace fleet {

using namespace record_checks;

// ---- the rules for the records of a node

Wrong put_right(NodeInfo& info) {
  cut_labels(info.facts);
  cut_labels(info.labels);
  cut_labels({&info.upgrader_protocol, &info.library_protocol, &info.time_zone});
  return first_of({too_many(info.facts.size(), record_entries_max, "facts"),
                   too_many(info.labels.size(), record_entries_max, "labels"),
                   too_many(info.on_disk.size(), record_entries_max, "on_disk")});
}

Wrong put_right(Versions& versions) {
  cut_labels(versions.running);
  return too_many(versions.running.size(), record_entries_max, "components");
}

Wrong put_right(Instance& instance) {
  cut_texts({&instance.degraded});
  cut_labels({&instance.version, &instance.phase, &instance.boot_id, &instance.since,
              &instance.last_command});
  return std::nullopt;
}

Wrong put_right(Active& active) {
  cut_labels({&active.instance, &active.boot_id});
  return std::nullopt;
}

Wrong put_right(Upgrade& upgrade) {
  cut_evidence(upgrade.evidence);
  cut_texts({&upgrade.error});
  cut_labels({&upgrade.from, &upgrade.to, &upgrade.began, &upgrade.changed});
  return wrong_name(upgrade.attempt, &is_command_id, "id of a command");
}

Wrong put_right(Command& command) {
  cut_texts({&command.reason});
  cut_labels({&command.digest, &command.instance, &command.trace});
  if (!is_command_id(command.id)) return quoted(command.id) + " is no id of a command";
  return first_of(
      {wrong_version(command.version), wrong_time(command.not_after_ms, "not_after_ms"),
       wrong_time(command.soak_ms, "soak_ms"), wrong_time(command.confirm_ms, "confirm_ms"),
       wrong_time(command.deadline_ms, "deadline_ms"), wrong_time(command.delay_ms, "delay_ms")});
}

Wrong put_right(Answer& answer) {
  cut_evidence(answer.evidence);
  cut_texts({&answer.result});
  cut_labels({&answer.command, &answer.instance});
  return std::nullopt;
}

Wrong put_right(Claim& claim) {
  cut_labels({&claim.by});
  return std::nullopt;
}

Wrong put_right(NodeHealth& health) {
  cut_texts({&health.trouble});
  cut_labels({&health.version, &health.boot_id, &health.instance});
  for (Measure& measure : health.measures) {
    cut_labels({&measure.value, &measure.change});
    if (auto wrong = wrong_name(measure.name, &is_id, "name of a measure")) return wrong;
  }
  const auto wrong_count = [](std::int64_t count, std::string_view what) {
    return wrong_number(count, 0, record_ms_max, what);
  };
  return first_of({wrong_name(health.run, &is_command_id, "run"),
                   wrong_count(health.sequence, "sequence"), wrong_count(health.before, "before"),
                   wrong_count(health.ends, "ends"), wrong_count(health.unhealthy, "unhealthy"),
                   wrong_count(health.fallbacks, "fallbacks"),
                   too_many(health.measures.size(), measures_max, "measures")});
}

Wrong put_right(ControlWatch& watch) {
  cut_labels({&watch.by});
  return first_of(
      {wrong_name(watch.run, &is_command_id, "run"), wrong_time(watch.soak_ms, "soak_ms")});
}

Wrong put_right(CertificateRequest&) {
  return std::nullopt;
}

Wrong put_right(NodeCertificate& certificate) {
  cut_texts({&certificate.error});
  return std::nullopt;
}

// ---- the rules for the records of a cell

Wrong put_right(Release& release) {
  cut_labels({&release.channel, &release.published});
  return too_many(release.manifests.size(), record_entries_max, "manifests");
}

Wrong put_right(Desired& desired) {
  cut_texts({&desired.why, &desired.refused, &desired.previous_refused});
  cut_labels({&desired.digest, &desired.who, &desired.trace, &desired.previous});
  return wrong_version(desired.version);
}

Wrong put_right(DriverRecord& driver) {
  cut_labels({&driver.controller});
  return std::nullopt;
}

Wrong put_right(Window& window) {
  cut_labels({&window.start, &window.time_zone, &window.who});
  for (std::string& day : window.days)
    cut_labels({&day});
  return too_many(window.days.size(), record_entries_max, "days");
}

Wrong put_right(Stop& stop) {
  cut_texts({&stop.why});
  cut_labels({&stop.who, &stop.since});
  return std::nullopt;
}

Wrong put_right(Epoch& epoch) {
  cut_texts({&epoch.why});
  return std::nullopt;
}

Wrong put_right(Settings& settings) {
  cut_labels({&settings.who});
  return std::nullopt;
}

Wrong put_right(FleetEvent& event) {
  cut_texts({&event.text, &event.subject});
  cut_labels({&event.time, &event.kind, &event.trace});
  cut_labels({&event.who});
  return std::nullopt;
}

Wrong put_right(PastRun& run) {
  cut_texts({&run.reason, &run.subject});
  cut_labels({&run.what, &run.state, &run.who, &run.began, &run.ended, &run.trace});
  return std::nullopt;
}

Wrong put_right(Notified& notified) {
  return wrong_number(notified.event, 0, static_cast<std::int64_t>(event_number_max), "event");
}

Wrong put_right(Identity& identity) {
  cut_labels({&identity.since, &identity.revoked, &identity.shut_out});
  cut_labels(identity.labels);
  return first_of({too_many(identity.certificates.size(), record_entries_max, "certificates"),
                   too_many(identity.labels.size(), record_entries_max, "labels")});
}

Wrong put_right(BudgetPlace& place) {
  cut_labels({&place.by, &place.value});
  return wrong_name(place.node, &is_id, "node");
}

// ---- the rules for the records of machines that join, and of signers and controllers at work

Wrong put_right(Token& token) {
  cut_labels({&token.created, &token.who, &token.revoked});
  cut_labels(token.labels);
  return first_of({wrong_number(token.uses, 1, token_uses_max, "uses"),
                   wrong_number(token.used, 0, token_uses_max, "used"),
                   too_many(token.labels.size(), record_entries_max, "labels"),
                   too_many(token.release_keys.size(), release_keys_max, "release_keys")});
}

Wrong put_right(JoinRequest& request) {
  cut_texts({&request.refused});
  cut_labels({&request.token});
  return first_of({wrong_name(request.node, &is_id, "node"),
                   too_many(request.pem.size(), pem_bytes_max, "bytes of the request"),
                   too_many(request.certificate.size(), pem_bytes_max, "bytes of a certificate")});
}

Wrong put_right(Approval& approval) {
  cut_labels({&approval.who, &approval.time});
  return wrong_name(approval.node, &is_id, "node");
}

Wrong put_right(SignerAtWork& signer) {
  cut_texts({&signer.trouble});
  cut_labels({&signer.version, &signer.since});
  return std::nullopt;
}

Wrong put_right(ControllerAtWork& controller) {
  cut_labels({&controller.version, &controller.since});
  return std::nullopt;
}

Wrong put_right(TokenText& token) {
  return first_of({too_many(token.controllers.size(), record_entries_max, "controllers"),
                   too_many(token.store.size(), record_entries_max, "store"),
                   too_many(token.release_keys.size(), release_keys_max, "release_keys")});
}

Wrong put_right(JoinAnswer& answer) {
  cut_texts({&answer.words});
  return too_many(answer.release_keys.size(), release_keys_max, "release_keys");
}

// ---- the rules for the records of a rollout

Wrong put_right(Rollout& rollout) {
  RolloutTerms& terms = rollout.terms;
  for (std::string& apart : terms.apart)
    cut_labels({&apart});
  for (GateStand& gate : rollout.gates)
    cut_labels({&gate.name, &gate.words});
  cut_texts({&rollout.reason, &rollout.waits_for});
  cut_labels({&terms.digest, &rollout.driver, &rollout.who, &rollout.ordered_by, &rollout.trace,
              &rollout.created});
  keep_some(rollout.unconfirmed, rollout.unconfirmed_count);
  keep_some(rollout.excluded, rollout.excluded_count);
  keep_some(rollout.not_covered, rollout.not_covered_count);
  if (!is_component(terms.component)) return quoted(terms.component) + " is no component";
  if (!is_version_name(terms.version)) return quoted(terms.version) + " is no version";
  // The name of a gate may be the name of a program in a directory of the controller, so it must
  // not contain a slash.
  for (const std::string& gate : terms.gates)
    if (!is_id(gate)) return "gate " + quoted(gate) + " is no id";
  if (auto wrong = wrong_judging(terms)) return wrong;
  if (rollout.batches < 0 || rollout.batch < 0 || rollout.batch > rollout.batches) {
    return "batch " + std::to_string(rollout.batch) + " of " + std::to_string(rollout.batches);
  }
  return first_of({too_many(terms.target.size(), target_bytes_max, "bytes of the target"),
                   too_many(terms.batches.size(), label_bytes_max, "bytes of batches"),
                   too_many(terms.seed.size(), seed_bytes_max, "bytes of the seed"),
                   too_many(terms.apart.size(), aparts_max, "labels kept apart"),
                   too_many(terms.gates.size(), gates_max, "gates"),
                   too_many(rollout.gates.size(), gates_max, "answers of gates"),
                   wrong_time(terms.soak_ms, "soak_ms"), wrong_time(terms.pause_ms, "pause_ms"),
                   wrong_time(terms.confirm_ms, "confirm_ms"),
                   wrong_time(terms.judge_timeout_ms, "judge_timeout_ms"),
                   wrong_time(terms.bake_ms, "bake_ms"), wrong_time(rollout.baked_ms, "baked_ms"),
                   wrong_number(rollout.again, 0, again_max, "again"),
                   wrong_number(rollout.batches, 0, batches_max, "batches"),
                   // -1 stands for the default spread, which depends on the batch's size.
                   wrong_number(terms.spread_ms, -1, record_ms_max, "spread_ms")});
}

Wrong put_right(RolloutBatch& batch) {
  return wrong_ids(batch.nodes, "node");
}

Wrong put_right(RolloutJudge& judge) {
  cut_texts({&judge.words});
  cut_labels({&judge.verdict});
  // In a large cell, the sums and the list of failed nodes may become larger than a record allows.
  // They are cut and not refused: if the record were refused, no driver could read it any more.
  constexpr std::int64_t sum_max = batch_nodes_max * record_ms_max;
  for (std::int64_t* const sum : {&judge.seen_ms, &judge.control_ms, &judge.bake_ms})
    *sum = std::min(*sum, sum_max);
  judge.failed.resize(std::min(judge.failed.size(), judge_failed_max));
  for (JudgedMeasure& measure : judge.measures) {
    cut_labels({&measure.words});
    if (auto wrong = wrong_name(measure.name, &is_id, "name of a measure")) return wrong;
    if (auto wrong = wrong_number(measure.judged, 0, again_max, "judged")) return wrong;
  }
  return first_of({too_many(judge.measures.size(), measures_max, "measures"),
                   wrong_number(judge.seen_ms, 0, sum_max, "seen_ms"),
                   wrong_number(judge.control_ms, 0, sum_max, "control_ms"),
                   wrong_number(judge.bake_ms, 0, sum_max, "bake_ms"),
                   wrong_number(judge.bake_failed, 0, record_ms_max, "bake_failed"),
                   too_many(judge.logs.size(), record_entries_max, "logs")});
}

Wrong put_right(RolloutNode& node) {
  cut_evidence(node.evidence);
  cut_texts({&node.error});
  cut_labels({&node.command, &node.before});
  if (auto wrong = wrong_number(node.again, 0, again_max, "again")) return wrong;
  if (node.desired_before.size() > 1) return "it has two wishes of before";
  return node.desired_before.empty() ? std::nullopt : put_right(node.desired_before.front());
}

// ---- the rules for the records of a plan

Wrong put_right(Plan& plan) {
  cut_texts({&plan.error, &plan.waits_for});
  cut_labels({&plan.digest, &plan.agent_digest, &plan.previous_digest, &plan.who, &plan.driver});
  for (const PlanStep& step : plan.steps) {
    if (!is_id(step.name)) return "step " + quoted(step.name) + " is no id";
    // A hook is a file in the node's directory hooks.d, so its name must not contain a slash.
    if (!is_id(step.hook)) return "hook " + quoted(step.hook) + " is no id";
    if (auto wrong = wrong_number(step.timeout_ms, 0, plan_timeout_ms_max, "timeout_ms")) {
      return wrong;
    }
  }
  if (plan.desired_before.size() > 1) return "it has two wishes of before";
  if (!plan.desired_before.empty()) {
    if (auto wrong = put_right(plan.desired_before.front())) return wrong;
  }
  if (plan.step < 0 || plan.step > static_cast<std::int64_t>(plan.steps.size())) {
    return "step " + std::to_string(plan.step) + " of " + std::to_string(plan.steps.size());
  }
  return first_of({too_many(plan.steps.size(), plan_steps_max, "steps"),
                   too_many(plan.target.size(), target_bytes_max, "bytes of the target"),
                   wrong_name(plan.component, &is_component, "component"),
                   wrong_version(plan.version), wrong_version(plan.agent),
                   wrong_version(plan.previous), wrong_name(plan.lock, &is_id, "node"),
                   wrong_name(plan.trace, &is_id, "trace"), wrong_time(plan.soak_ms, "soak_ms")});
}

Wrong put_right(PlanPlace&) {
  return std::nullopt;
}

Wrong put_right(PlanMember& member) {
  cut_texts({&member.message});
  cut_labels({&member.version, &member.boot});
  return std::nullopt;
}

Wrong put_right(Once& once) {
  cut_texts({&once.message});
  cut_labels({&once.version, &once.member});
  return std::nullopt;
}

}  // namespace fleet
