// The JSON member names of the records about rollouts and about a node's failures. record_members.h
// has the names for all other records.
#pragma once

#include <cereal/cereal.hpp>

#include "fleet/model/records/node_records.h"
#include "fleet/model/records/rollout_records.h"

namespace fleet {

template <class Archive>
void serialize(Archive& archive, Capsule& capsule) {
  using cereal::make_nvp;
  archive(make_nvp("stage", capsule.stage), make_nvp("reason", capsule.reason),
          make_nvp("exit_status", capsule.exit_status), make_nvp("signal", capsule.signal),
          make_nvp("lived_ms", capsule.lived_ms), make_nvp("peak_kib", capsule.peak_kib),
          make_nvp("cpu_ms", capsule.cpu_ms), make_nvp("lines", capsule.lines),
          make_nvp("differs", capsule.differs));
}

template <class Archive>
void serialize(Archive& archive, RolloutTerms& rollout_terms) {
  using cereal::make_nvp;
  archive(make_nvp("component", rollout_terms.component),
          make_nvp("version", rollout_terms.version), make_nvp("digest", rollout_terms.digest),
          make_nvp("target", rollout_terms.target), make_nvp("batch", rollout_terms.batch),
          make_nvp("batch_percent", rollout_terms.batch_percent),
          make_nvp("canary", rollout_terms.canary), make_nvp("soak_ms", rollout_terms.soak_ms),
          make_nvp("pause_ms", rollout_terms.pause_ms),
          make_nvp("max_failed", rollout_terms.max_failed),
          make_nvp("confirm_ms", rollout_terms.confirm_ms),
          make_nvp("min_protocol", rollout_terms.min_protocol),
          make_nvp("ignore_window", rollout_terms.ignore_window),
          make_nvp("downgrade", rollout_terms.downgrade),
          make_nvp("batches", rollout_terms.batches), make_nvp("order", rollout_terms.order),
          make_nvp("seed", rollout_terms.seed), make_nvp("apart", rollout_terms.apart),
          make_nvp("spread_ms", rollout_terms.spread_ms),
          make_nvp("max_failed_unsaid", rollout_terms.max_failed_unsaid),
          make_nvp("undo", rollout_terms.undo), make_nvp("no_undo", rollout_terms.no_undo),
          make_nvp("judge_timeout_ms", rollout_terms.judge_timeout_ms),
          make_nvp("gates", rollout_terms.gates), make_nvp("bake_ms", rollout_terms.bake_ms),
          make_nvp("alpha_millionths", rollout_terms.alpha_millionths),
          make_nvp("tolerate_millionths", rollout_terms.tolerate_millionths));
}

template <class Archive>
void serialize(Archive& archive, GateStand& gate) {
  using cereal::make_nvp;
  archive(make_nvp("name", gate.name), make_nvp("says", gate.says), make_nvp("words", gate.words));
}

template <class Archive>
void serialize(Archive& archive, Rollout& rollout) {
  using cereal::make_nvp;
  archive(make_nvp("terms", rollout.terms), make_nvp("state", rollout.state),
          make_nvp("order", rollout.order), make_nvp("ordered_by", rollout.ordered_by),
          make_nvp("reason", rollout.reason), make_nvp("batch", rollout.batch),
          make_nvp("batches", rollout.batches), make_nvp("phase", rollout.phase),
          make_nvp("failed", rollout.failed), make_nvp("unconfirmed", rollout.unconfirmed),
          make_nvp("unconfirmed_count", rollout.unconfirmed_count),
          make_nvp("excluded", rollout.excluded),
          make_nvp("excluded_count", rollout.excluded_count),
          make_nvp("not_covered", rollout.not_covered),
          make_nvp("not_covered_count", rollout.not_covered_count), make_nvp("undo", rollout.undo),
          make_nvp("undo_now", rollout.undo_now), make_nvp("wish_refused", rollout.wish_refused),
          make_nvp("kept", rollout.kept), make_nvp("gates", rollout.gates),
          make_nvp("again", rollout.again), make_nvp("baked_ms", rollout.baked_ms),
          make_nvp("waits_for", rollout.waits_for), make_nvp("driver", rollout.driver),
          make_nvp("who", rollout.who), make_nvp("trace", rollout.trace),
          make_nvp("created", rollout.created));
}

template <class Archive>
void serialize(Archive& archive, RolloutBatch& rollout_batch) {
  using cereal::make_nvp;
  archive(make_nvp("nodes", rollout_batch.nodes));
}

template <class Archive>
void serialize(Archive& archive, JudgedMeasure& measure) {
  using cereal::make_nvp;
  archive(make_nvp("name", measure.name), make_nvp("type", measure.type),
          make_nvp("worse", measure.worse), make_nvp("log", measure.log),
          make_nvp("judged", measure.judged), make_nvp("batch", measure.batch),
          make_nvp("fresh", measure.fresh), make_nvp("fresh_worse", measure.fresh_worse),
          make_nvp("control", measure.control), make_nvp("words", measure.words));
}

template <class Archive>
void serialize(Archive& archive, RolloutJudge& judge) {
  using cereal::make_nvp;
  archive(make_nvp("logs", judge.logs), make_nvp("fresh", judge.fresh),
          make_nvp("fresh_failed", judge.fresh_failed), make_nvp("control", judge.control),
          make_nvp("control_failed", judge.control_failed), make_nvp("failed", judge.failed),
          make_nvp("batch", judge.batch), make_nvp("seen_ms", judge.seen_ms),
          make_nvp("control_ms", judge.control_ms), make_nvp("bake_failed", judge.bake_failed),
          make_nvp("bake_ms", judge.bake_ms), make_nvp("verdict", judge.verdict),
          make_nvp("words", judge.words), make_nvp("measures", judge.measures));
}

template <class Archive>
void serialize(Archive& archive, RolloutNode& rollout_node) {
  using cereal::make_nvp;
  archive(make_nvp("stage", rollout_node.stage), make_nvp("command", rollout_node.command),
          make_nvp("attempt", rollout_node.attempt), make_nvp("error", rollout_node.error),
          make_nvp("applied", rollout_node.applied), make_nvp("before", rollout_node.before),
          make_nvp("desired_before", rollout_node.desired_before),
          make_nvp("undo", rollout_node.undo), make_nvp("again", rollout_node.again),
          make_nvp("evidence", rollout_node.evidence));
}

}  // namespace fleet
