#include "fleet/model/records/record_text.h"

#include <algorithm>
#include <utility>

#include "base/escape.h"
#include "base/utf8.h"
#include "fleet/model/records/effort.h"
#include "fleet/model/records/record_archive.h"
#include "fleet/model/records/record_members.h"
#include "fleet/model/records/record_rules.h"
#include "fleet/model/records/transaction.h"

namespace fleet {
namespace {

constexpr std::string_view more = "...";

// The name of the JSON member that names the person who has written the settings. No setting may
// have this name.
constexpr std::string_view settings_who = "who";

// Returns how deep the brackets of the text nest. Brackets inside quoted strings do not count.
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
  auto who = settings.values.extract(std::string(settings_who));
  settings.who = who.empty() ? "" : std::move(who.mapped());
}

template <class Record>
void archive_record(RecordWriter& archive, const Record& record) {
  archive(record);
}
void archive_record(RecordWriter& archive, const Versions& versions) {
  archive.write_texts(versions.running);
}
void archive_record(RecordWriter& archive, const Settings& settings) {
  auto texts = settings.values;
  if (!settings.who.empty()) texts[std::string(settings_who)] = settings.who;
  archive.write_texts(texts);
}

template <class Record>
void archive_record(RecordNames& archive, const Record& record) {
  archive(record);
}
void archive_record(RecordNames&, const Versions&) {}
void archive_record(RecordNames&, const Settings&) {}

}  // namespace

std::string brief(std::string_view text, std::size_t bytes_max) {
  const bool is_text = agent_protocol::is_utf8(text) && text.find('\0') == text.npos;
  if (is_text && agent_protocol::escaped_bytes(text) <= bytes_max) return std::string(text);
  std::string kept;
  std::size_t spelled = 0;  // the length of `kept` in JSON
  std::size_t fits = 0;     // how many bytes of `kept` to keep if "..." must be appended
  while (!text.empty()) {
    const std::size_t bytes = agent_protocol::utf8_character_bytes(text);
    const bool is_bad = bytes == 0 || text.front() == '\0';
    const std::string_view character = is_bad ? "?" : text.substr(0, bytes);
    spelled += agent_protocol::escaped_bytes(character);
    if (spelled > bytes_max) return kept.substr(0, fits) + std::string(more);
    kept += character;
    if (spelled + more.size() <= bytes_max) fits = kept.size();
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return kept;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t shown = std::min(names.size(), names_kept);
  for (std::size_t i = 0; i < shown; ++i) {
    text += (text.empty() ? "" : ", ") + brief(names[i], label_bytes_max);
  }
  if (shown < names.size()) text += ", and " + std::to_string(names.size() - shown) + " more";
  return text;
}

void keep_some(std::vector<std::string>& names, std::int64_t& count) {
  count = std::max(count, static_cast<std::int64_t>(names.size()));
  if (names.size() > names_kept) names.resize(names_kept);
  for (std::string& name : names)
    name = brief(name, label_bytes_max);
}

template <class Record>
Result<Record> read_record(std::string_view text) {
  ++effort.records;
  if (text.size() > value_bytes_max) {
    return Refusal{"has " + std::to_string(text.size()) + " bytes; at most " +
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
  if (const auto wrong = put_right(record)) return Refusal{"is damaged: " + *wrong};
  return record;
}

template <class Record>
std::string write_record(const Record& record) {
  Record written = record;
  // put_right() cuts strings and lists that are too long. A fault that it returns is ignored, since
  // names were checked before.
  static_cast<void>(put_right(written));
  RecordWriter archive;
  archive.write_member("v", std::int64_t{records_version});
  archive_record(archive, std::as_const(written));
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
template std::vector<std::string> member_names<PlanStep>();

FLEET_RECORD(NodeInfo)
FLEET_RECORD(Versions)
FLEET_RECORD(Instance)
FLEET_RECORD(Active)
FLEET_RECORD(Upgrade)
FLEET_RECORD(Command)
FLEET_RECORD(Answer)
FLEET_RECORD(Claim)
FLEET_RECORD(NodeHealth)
FLEET_RECORD(ControlWatch)
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
FLEET_RECORD(PastRun)
FLEET_RECORD(Notified)
FLEET_RECORD(Identity)
FLEET_RECORD(BudgetPlace)
FLEET_RECORD(Token)
FLEET_RECORD(JoinRequest)
FLEET_RECORD(Approval)
FLEET_RECORD(SignerAtWork)
FLEET_RECORD(ControllerAtWork)
FLEET_RECORD(TokenText)
FLEET_RECORD(JoinQuestion)
FLEET_RECORD(JoinAnswer)
FLEET_RECORD(Rollout)
FLEET_RECORD(RolloutBatch)
FLEET_RECORD(RolloutJudge)
FLEET_RECORD(RolloutNode)
FLEET_RECORD(Plan)
FLEET_RECORD(PlanPlace)
FLEET_RECORD(PlanMember)
FLEET_RECORD(Once)

}  // namespace fleet
