// The names of the members of status.json: one function `serialize` for each structure, for any
// cereal archive.
#pragma once

#include <cereal/cereal.hpp>

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// Adds "..." to `text` if the upgrader has cut it, so that nobody takes the beginning of a path for
// the whole path. The upgrader marks an object with a cut text by the member `cut`; `text` is the
// only long text of the object.
template <class Archive>
void serialize_cut(Archive& archive, std::string& text) {
  bool cut = false;
  archive(cereal::make_nvp("cut", cut));
  if (cut) text += "...";
}

template <class Archive>
void serialize(Archive& archive, Life& life) {
  using cereal::make_nvp;
  archive(make_nvp("pid", life.pid), make_nvp("version", life.version),
          make_nvp("started", life.started), make_nvp("started", life.since),
          make_nvp("protocol", life.protocol));
}

template <class Archive>
void serialize(Archive& archive, AgentStatus& agent) {
  using cereal::make_nvp;
  archive(make_nvp("generation", agent.generation), make_nvp("role", agent.role),
          make_nvp("pid", agent.pid), make_nvp("version", agent.version),
          make_nvp("executable", agent.executable), make_nvp("args", agent.args),
          make_nvp("args_omitted", agent.args_omitted), make_nvp("started", agent.started),
          make_nvp("activated", agent.activated), make_nvp("status", agent.status),
          make_nvp("silent", agent.silent));
  serialize_cut(archive, agent.executable);
}

template <class Archive>
void serialize(Archive& archive, UpgradeStatus& upgrade) {
  using cereal::make_nvp;
  archive(make_nvp("id", upgrade.id), make_nvp("origin", upgrade.origin),
          make_nvp("executable", upgrade.executable), make_nvp("mode", upgrade.mode),
          make_nvp("gate", upgrade.gate), make_nvp("commit", upgrade.commit),
          make_nvp("trial_ms", upgrade.trial_ms), make_nvp("accepted", upgrade.accepted),
          make_nvp("ready", upgrade.ready), make_nvp("stop_sent", upgrade.stop_sent),
          make_nvp("stopped", upgrade.stopped), make_nvp("activated", upgrade.activated));
}

template <class Archive>
void serialize(Archive& archive, Side& side) {
  using cereal::make_nvp;
  archive(make_nvp("version", side.version), make_nvp("executable", side.executable));
  serialize_cut(archive, side.executable);
}

template <class Archive>
void serialize(Archive& archive, Ending& ending) {
  using cereal::make_nvp;
  archive(make_nvp("id", ending.id), make_nvp("origin", ending.origin),
          make_nvp("outcome", ending.outcome), make_nvp("stage", ending.stage),
          make_nvp("reason", ending.reason), make_nvp("exit_status", ending.exit_status),
          make_nvp("signal", ending.signal), make_nvp("errno", ending.error),
          make_nvp("from", ending.from), make_nvp("to", ending.to),
          make_nvp("accepted", ending.accepted), make_nvp("ended", ending.ended),
          make_nvp("start_ms", ending.start_ms), make_nvp("stop_ms", ending.stop_ms),
          make_nvp("gap_us", ending.gap_us));
  serialize_cut(archive, ending.reason);
}

template <class Archive>
void serialize(Archive& archive, Answer& answer) {
  using cereal::make_nvp;
  archive(make_nvp("request", answer.request), make_nvp("type", answer.type),
          make_nvp("ok", answer.ok), make_nvp("reason", answer.reason));
  serialize_cut(archive, answer.reason);
}

template <class Archive>
void serialize(Archive& archive, Ended& ended) {
  using cereal::make_nvp;
  archive(make_nvp("exit_status", ended.exit_status), make_nvp("reason", ended.reason),
          make_nvp("at", ended.at));
  serialize_cut(archive, ended.reason);
}

template <class Archive>
void serialize(Archive& archive, Boot& boot) {
  using cereal::make_nvp;
  archive(make_nvp("attempts", boot.attempts), make_nvp("previous", boot.previous));
  serialize_cut(archive, boot.previous);
}

template <class Archive>
void serialize(Archive& archive, Status& status) {
  using cereal::make_nvp;
  archive(make_nvp("upgrader", status.upgrader), make_nvp("phase", status.phase),
          make_nvp("since", status.since), make_nvp("deadline", status.deadline),
          make_nvp("active", status.active), make_nvp("candidate", status.candidate),
          make_nvp("standby", status.standby), make_nvp("upgrade", status.upgrade),
          make_nvp("endings", status.endings), make_nvp("requests", status.requests),
          make_nvp("ended", status.ended), make_nvp("boot", status.boot));
}

}  // namespace upgraderctl
