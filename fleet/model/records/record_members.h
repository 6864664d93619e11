// The JSON member names of all records: one function `serialize` for each structure, which works
// with any cereal archive. A name that was once used never gets a different meaning. New names may
// be added: if an older program has written the record, the new member is absent, and keeps its
// default.
#pragma once

#include <cereal/cereal.hpp>

#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/node_records.h"
#include "fleet/model/records/plan_records.h"
#include "fleet/model/records/record_members_rollouts.h"

namespace fleet {

template <class Archive>
void serialize(Archive& archive, NodeInfo& node_info) {
  using cereal::make_nvp;
  archive(make_nvp("facts", node_info.facts), make_nvp("labels", node_info.labels),
          make_nvp("protocol", node_info.protocol),
          make_nvp("upgrader_protocol", node_info.upgrader_protocol),
          make_nvp("library_protocol", node_info.library_protocol),
          make_nvp("on_disk", node_info.on_disk), make_nvp("time_zone", node_info.time_zone));
}

template <class Archive>
void serialize(Archive& archive, Instance& instance) {
  using cereal::make_nvp;
  archive(make_nvp("version", instance.version), make_nvp("phase", instance.phase),
          make_nvp("boot_id", instance.boot_id), make_nvp("since", instance.since),
          make_nvp("last_command", instance.last_command), make_nvp("ready", instance.ready),
          make_nvp("degraded", instance.degraded), make_nvp("generation", instance.generation),
          make_nvp("machine", instance.machine));
}

template <class Archive>
void serialize(Archive& archive, Active& active) {
  using cereal::make_nvp;
  archive(make_nvp("instance", active.instance), make_nvp("boot_id", active.boot_id),
          make_nvp("generation", active.generation));
}

template <class Archive>
void serialize(Archive& archive, Upgrade& upgrade) {
  using cereal::make_nvp;
  archive(make_nvp("phase", upgrade.phase), make_nvp("attempt", upgrade.attempt),
          make_nvp("error", upgrade.error), make_nvp("from", upgrade.from),
          make_nvp("to", upgrade.to), make_nvp("began", upgrade.began),
          make_nvp("changed", upgrade.changed), make_nvp("evidence", upgrade.evidence));
}

template <class Archive>
void serialize(Archive& archive, Command& command) {
  using cereal::make_nvp;
  archive(make_nvp("id", command.id), make_nvp("action", command.action),
          make_nvp("version", command.version), make_nvp("digest", command.digest),
          make_nvp("instance", command.instance), make_nvp("not_after_ms", command.not_after_ms),
          make_nvp("soak_ms", command.soak_ms), make_nvp("confirm_ms", command.confirm_ms),
          make_nvp("deadline_ms", command.deadline_ms), make_nvp("delay_ms", command.delay_ms),
          make_nvp("reason", command.reason), make_nvp("downgrade", command.downgrade),
          make_nvp("undo", command.undo), make_nvp("trace", command.trace),
          make_nvp("judged", command.judged));
}

template <class Archive>
void serialize(Archive& archive, Answer& answer) {
  using cereal::make_nvp;
  archive(make_nvp("command", answer.command), make_nvp("result", answer.result),
          make_nvp("instance", answer.instance), make_nvp("evidence", answer.evidence));
}

template <class Archive>
void serialize(Archive& archive, Measure& measure) {
  using cereal::make_nvp;
  archive(make_nvp("name", measure.name), make_nvp("type", measure.type),
          make_nvp("worse", measure.worse), make_nvp("value", measure.value),
          make_nvp("change", measure.change));
}

template <class Archive>
void serialize(Archive& archive, NodeHealth& health) {
  using cereal::make_nvp;
  archive(make_nvp("run", health.run), make_nvp("version", health.version),
          make_nvp("boot_id", health.boot_id), make_nvp("instance", health.instance),
          make_nvp("sequence", health.sequence), make_nvp("before", health.before),
          make_nvp("ends", health.ends), make_nvp("unhealthy", health.unhealthy),
          make_nvp("fallbacks", health.fallbacks), make_nvp("over", health.over),
          make_nvp("trouble", health.trouble), make_nvp("measures", health.measures));
}

template <class Archive>
void serialize(Archive& archive, ControlWatch& watch) {
  using cereal::make_nvp;
  archive(make_nvp("by", watch.by), make_nvp("run", watch.run), make_nvp("soak_ms", watch.soak_ms));
}

template <class Archive>
void serialize(Archive& archive, Claim& claim) {
  using cereal::make_nvp;
  archive(make_nvp("by", claim.by));
}

template <class Archive>
void serialize(Archive& archive, CertificateRequest& certificate_request) {
  using cereal::make_nvp;
  archive(make_nvp("pem", certificate_request.pem),
          make_nvp("certificate", certificate_request.certificate));
}

template <class Archive>
void serialize(Archive& archive, NodeCertificate& certificate) {
  using cereal::make_nvp;
  archive(make_nvp("pem", certificate.pem), make_nvp("error", certificate.error));
}

template <class Archive>
void serialize(Archive& archive, IssuedCertificate& certificate) {
  using cereal::make_nvp;
  archive(make_nvp("serial", certificate.serial), make_nvp("issued", certificate.issued),
          make_nvp("expires", certificate.expires), make_nvp("revoked", certificate.revoked),
          make_nvp("key", certificate.key));
}

template <class Archive>
void serialize(Archive& archive, Identity& identity) {
  using cereal::make_nvp;
  archive(make_nvp("certificates", identity.certificates), make_nvp("since", identity.since),
          make_nvp("revoked", identity.revoked), make_nvp("shut_out", identity.shut_out),
          make_nvp("labels", identity.labels));
}

template <class Archive>
void serialize(Archive& archive, BudgetPlace& place) {
  using cereal::make_nvp;
  archive(make_nvp("node", place.node), make_nvp("by", place.by), make_nvp("value", place.value));
}

template <class Archive>
void serialize(Archive& archive, ReleaseManifest& release_manifest) {
  using cereal::make_nvp;
  archive(make_nvp("arch", release_manifest.arch), make_nvp("manifest", release_manifest.manifest),
          make_nvp("signature", release_manifest.signature), make_nvp("url", release_manifest.url));
}

template <class Archive>
void serialize(Archive& archive, Release& release) {
  using cereal::make_nvp;
  archive(make_nvp("manifests", release.manifests), make_nvp("digest", release.digest),
          make_nvp("channel", release.channel), make_nvp("prerelease", release.prerelease),
          make_nvp("min_protocol", release.min_protocol), make_nvp("published", release.published));
}

template <class Archive>
void serialize(Archive& archive, Desired& desired) {
  using cereal::make_nvp;
  archive(make_nvp("version", desired.version), make_nvp("digest", desired.digest),
          make_nvp("why", desired.why), make_nvp("pending", desired.pending),
          make_nvp("pinned", desired.pinned), make_nvp("downgrade", desired.downgrade),
          make_nvp("ignore_window", desired.ignore_window), make_nvp("who", desired.who),
          make_nvp("trace", desired.trace), make_nvp("refused", desired.refused),
          make_nvp("previous", desired.previous),
          make_nvp("previous_refused", desired.previous_refused));
}

template <class Archive>
void serialize(Archive& archive, DriverRecord& driver) {
  using cereal::make_nvp;
  archive(make_nvp("controller", driver.controller));
}

template <class Archive>
void serialize(Archive& archive, Window& window) {
  using cereal::make_nvp;
  archive(make_nvp("days", window.days), make_nvp("start", window.start),
          make_nvp("duration_s", window.duration_s), make_nvp("time_zone", window.time_zone),
          make_nvp("who", window.who));
}

template <class Archive>
void serialize(Archive& archive, Stop& stop) {
  using cereal::make_nvp;
  archive(make_nvp("who", stop.who), make_nvp("why", stop.why), make_nvp("since", stop.since));
}

template <class Archive>
void serialize(Archive& archive, Epoch& epoch) {
  using cereal::make_nvp;
  archive(make_nvp("number", epoch.number), make_nvp("why", epoch.why),
          make_nvp("accepted", epoch.accepted), make_nvp("begins", epoch.begins));
}

template <class Archive>
void serialize(Archive& archive, FleetEvent& fleet_event) {
  using cereal::make_nvp;
  archive(make_nvp("time", fleet_event.time), make_nvp("class", fleet_event.kind),
          make_nvp("subject", fleet_event.subject), make_nvp("text", fleet_event.text),
          make_nvp("trace", fleet_event.trace), make_nvp("revision", fleet_event.revision),
          make_nvp("who", fleet_event.who), make_nvp("proved", fleet_event.proved));
}

template <class Archive>
void serialize(Archive& archive, PastRun& past_run) {
  using cereal::make_nvp;
  archive(make_nvp("subject", past_run.subject), make_nvp("what", past_run.what),
          make_nvp("state", past_run.state), make_nvp("reason", past_run.reason),
          make_nvp("who", past_run.who), make_nvp("began", past_run.began),
          make_nvp("ended", past_run.ended), make_nvp("trace", past_run.trace));
}

template <class Archive>
void serialize(Archive& archive, Notified& notified) {
  using cereal::make_nvp;
  archive(make_nvp("event", notified.event), make_nvp("webhook", notified.webhook));
}

template <class Archive>
void serialize(Archive& archive, PlanStep& step) {
  using cereal::make_nvp;
  archive(make_nvp("name", step.name), make_nvp("class", step.kind), make_nvp("hook", step.hook),
          make_nvp("timeout_ms", step.timeout_ms), make_nvp("migrate", step.migrate));
}

template <class Archive>
void serialize(Archive& archive, Plan& plan) {
  using cereal::make_nvp;
  archive(make_nvp("version", plan.version), make_nvp("component", plan.component),
          make_nvp("digest", plan.digest), make_nvp("agent", plan.agent),
          make_nvp("agent_digest", plan.agent_digest), make_nvp("soak_ms", plan.soak_ms),
          make_nvp("steps", plan.steps), make_nvp("target", plan.target),
          make_nvp("enlisted", plan.enlisted), make_nvp("state", plan.state),
          make_nvp("previous", plan.previous), make_nvp("previous_digest", plan.previous_digest),
          make_nvp("desired_before", plan.desired_before), make_nvp("step", plan.step),
          make_nvp("acting", plan.acting), make_nvp("back", plan.back), make_nvp("lock", plan.lock),
          make_nvp("error", plan.error), make_nvp("ignore_window", plan.ignore_window),
          make_nvp("over_budget", plan.over_budget), make_nvp("waits_for", plan.waits_for),
          make_nvp("who", plan.who), make_nvp("trace", plan.trace),
          make_nvp("driver", plan.driver));
}

template <class Archive>
void serialize(Archive& /*archive*/, PlanPlace& /*plan_place*/) {}

template <class Archive>
void serialize(Archive& archive, PlanMember& plan_member) {
  using cereal::make_nvp;
  archive(make_nvp("version", plan_member.version), make_nvp("step", plan_member.step),
          make_nvp("phase", plan_member.phase), make_nvp("finished", plan_member.finished),
          make_nvp("error", plan_member.error), make_nvp("exit_status", plan_member.exit_status),
          make_nvp("boot", plan_member.boot), make_nvp("message", plan_member.message));
}

template <class Archive>
void serialize(Archive& archive, Once& once) {
  using cereal::make_nvp;
  archive(make_nvp("version", once.version), make_nvp("success", once.success),
          make_nvp("member", once.member), make_nvp("message", once.message));
}

template <class Archive>
void serialize(Archive& archive, Token& token) {
  using cereal::make_nvp;
  archive(make_nvp("hash", token.hash), make_nvp("nodes", token.nodes),
          make_nvp("labels", token.labels), make_nvp("uses", token.uses),
          make_nvp("used", token.used), make_nvp("expires", token.expires),
          make_nvp("created", token.created), make_nvp("who", token.who),
          make_nvp("revoked", token.revoked), make_nvp("release_keys", token.release_keys));
}

template <class Archive>
void serialize(Archive& archive, JoinRequest& join_request) {
  using cereal::make_nvp;
  archive(make_nvp("node", join_request.node), make_nvp("pem", join_request.pem),
          make_nvp("token", join_request.token), make_nvp("asked", join_request.asked),
          make_nvp("waits", join_request.waits), make_nvp("refused", join_request.refused),
          make_nvp("certificate", join_request.certificate));
}

template <class Archive>
void serialize(Archive& archive, Approval& approval) {
  using cereal::make_nvp;
  archive(make_nvp("node", approval.node), make_nvp("who", approval.who),
          make_nvp("time", approval.time));
}

template <class Archive>
void serialize(Archive& archive, SignerAtWork& signer) {
  using cereal::make_nvp;
  archive(
      make_nvp("version", signer.version), make_nvp("since", signer.since),
      make_nvp("takes_snapshots", signer.takes_snapshots), make_nvp("snapshot", signer.snapshot),
      make_nvp("certificate_ends", signer.certificate_ends), make_nvp("trouble", signer.trouble));
}

template <class Archive>
void serialize(Archive& archive, ControllerAtWork& controller) {
  using cereal::make_nvp;
  archive(make_nvp("version", controller.version), make_nvp("since", controller.since));
}

template <class Archive>
void serialize(Archive& archive, TokenText& token) {
  using cereal::make_nvp;
  archive(make_nvp("controllers", token.controllers), make_nvp("store", token.store),
          make_nvp("authority", token.authority), make_nvp("release_keys", token.release_keys),
          make_nvp("secret", token.secret));
}

template <class Archive>
void serialize(Archive& archive, JoinQuestion& question) {
  using cereal::make_nvp;
  archive(make_nvp("node", question.node), make_nvp("secret", question.secret),
          make_nvp("request", question.request));
}

template <class Archive>
void serialize(Archive& archive, JoinAnswer& answer) {
  using cereal::make_nvp;
  archive(make_nvp("state", answer.state), make_nvp("words", answer.words),
          make_nvp("certificate", answer.certificate),
          make_nvp("release_keys", answer.release_keys));
}

}  // namespace fleet
