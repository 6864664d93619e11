#include "fleet/model/record_text.h"

#include <algorithm>
#include <optional>

#include "fleet/model/ids.h"
#include "fleet/model/record_archive.h"
#include "fleet/model/record_members.h"
#include "fleet/model/transaction.h"

namespace fleet {
namespace {

using Wrong = std::optional<std::string>;

// How deep the text nests, as far as its brackets say; those in texts do not count.
std::size_t nesting(std::string_view text) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if ((c == '}' || c == ']') && depth > 0) --depth;
  }
  return deepest;
}

template <class Record>
void archive_record(RecordReader& archive, Record& record) {
  archive(record);
}
void archive_record(RecordReader& archive, Versions& versions) {
  archive.read_texts(versions.running);
}
void archive_record(RecordReader& archive, Settings& settings) {
  archive.read_texts(settings.values);
}

template <class Record>
void archive_record(RecordWriter& archive, const Record& record) {
  archive(record);
}
void archive_record(RecordWriter& archive, const Versions& versions) {
  archive.write_texts(versions.running);
}
void archive_record(RecordWriter& archive, const Settings& settings) {
  archive.write_texts(settings.values);
}

template <class Record>
void archive_record(RecordNames& archive, const Record& record) {
  archive(record);
}
void archive_record(RecordNames&, const Versions&) {}
void archive_record(RecordNames&, const Settings&) {}

Wrong wrong_ids(const std::vector<std::string>& ids, std::string_view what) {
  for (const std::string& id : ids) {
    if (!is_id(id)) return std::string(what) + " \"" + id + "\" is no id";
  }
  if (!std::is_sorted(ids.begin(), ids.end())) return std::string(what) + "s are not sorted";
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) {
    return std::string(what) + " is there twice";
  }
  return std::nullopt;
}

// Names that were read from a record come to stand in keys, so each is looked at here.
template <class Record>
Wrong wrong_names(const Record&) {
  return std::nullopt;
}

Wrong wrong_names(const RolloutBatch& batch) {
  return wrong_ids(batch.nodes, "node");
}

Wrong wrong_names(const Rollout& rollout) {
  if (!is_component(rollout.terms.component)) {
    return "\"" + rollout.terms.component + "\" is no component";
  }
  if (!is_version_name(rollout.terms.version)) {
    return "\"" + rollout.terms.version + "\" is no version";
  }
  if (rollout.batches < 0 || rollout.batch < 0 || rollout.batch > rollout.batches) {
    return "batch " + std::to_string(rollout.batch) + " of " + std::to_string(rollout.batches);
  }
  return std::nullopt;
}

Wrong wrong_names(const Command& command) {
  if (!is_command_id(command.id)) return "\"" + command.id + "\" is no id of a command";
  return std::nullopt;
}

Wrong wrong_names(const Plan& plan) {
  for (const PlanStep& step : plan.steps) {
    if (!is_id(step.name)) return "step \"" + step.name + "\" is no id";
    // A hook is a file of the node's hooks.d, and no way out of it.
    if (!is_id(step.hook)) return "hook \"" + step.hook + "\" is no id";
  }
  if (plan.step < 0 || plan.step > static_cast<std::int64_t>(plan.steps.size()) + 1) {
    return "step " + std::to_string(plan.step) + " of " + std::to_string(plan.steps.size());
  }
  return std::nullopt;
}

}  // namespace

template <class Record>
Result<Record> read_record(std::string_view text) {
  if (text.size() > value_bytes_max) {
    return Refusal{"a record of " + std::to_string(text.size()) + " bytes; at most " +
                   std::to_string(value_bytes_max)};
  }
  if (nesting(text) > record_nesting_max) {
    return Refusal{"nests deeper than " + std::to_string(record_nesting_max)};
  }
  const auto line = agent_protocol::JsonLine::parse(text);
  if (!line) return Refusal{"is damaged: " + line.reason()};
  RecordReader archive(line.value());
  std::int64_t version = records_version;
  archive(cereal::make_nvp("v", version));
  if (!archive.refusal() && version > records_version) {
    return Refusal{"is of version " + std::to_string(version) + " of the records; this program " +
                   "knows " + std::to_string(records_version)};
  }
  Record record;
  archive_record(archive, record);
  if (archive.refusal()) return Refusal{"is damaged: " + *archive.refusal()};
  if (const Wrong wrong = wrong_names(record)) return Refusal{"is damaged: " + *wrong};
  return record;
}

template <class Record>
std::string write_record(const Record& record) {
  RecordWriter archive;
  archive.write_member("v", std::int64_t{records_version});
  archive_record(archive, record);
  return "{" + archive.members() + "}";
}

template <class Record>
std::vector<std::string> member_names() {
  RecordNames archive;
  archive.names.emplace_back("v");
  const Record record;
  archive_record(archive, record);
  return archive.names;
}

#define FLEET_RECORD(Record)                                     \
  template Result<Record> read_record<Record>(std::string_view); \
  template std::string write_record<Record>(const Record&);      \
  template std::vector<std::string> member_names<Record>();

template std::vector<std::string> member_names<RolloutTerms>();

FLEET_RECORD(NodeInfo)
FLEET_RECORD(Versions)
FLEET_RECORD(Instance)
FLEET_RECORD(Active)
FLEET_RECORD(Upgrade)
FLEET_RECORD(Command)
FLEET_RECORD(Answer)
FLEET_RECORD(Claim)
FLEET_RECORD(CertificateRequest)
FLEET_RECORD(NodeCertificate)
FLEET_RECORD(Release)
FLEET_RECORD(Desired)
FLEET_RECORD(DriverRecord)
FLEET_RECORD(Window)
FLEET_RECORD(Stop)
FLEET_RECORD(Epoch)
FLEET_RECORD(Settings)
FLEET_RECORD(FleetEvent)
FLEET_RECORD(Notified)
FLEET_RECORD(Identity)
FLEET_RECORD(Rollout)
FLEET_RECORD(RolloutBatch)
FLEET_RECORD(RolloutNode)
FLEET_RECORD(Plan)
FLEET_RECORD(PlanPlace)
FLEET_RECORD(PlanMember)
FLEET_RECORD(Once)

}  // namespace fleet
