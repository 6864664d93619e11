#include "fleet/agent/state_files.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "fleet/common/text_file.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// The last line of a complete ledger file. A ledger file without this line is incomplete.
constexpr const char* end_mark = "end";

template <class Record>
std::optional<std::string> take_record(const std::string& text, Record& record) {
  auto read = read_record<Record>(text);
  if (!read) return read.reason();
  record = std::move(read.value());
  return std::nullopt;
}

// Parses `text`, the value in one line of the ledger, into the member called `name`. Returns an
// error if the text cannot be parsed.
std::optional<std::string> take_line(const std::string& name, const std::string& text,
                                     NodeLedger& ledger) {
  if (name == "begun") return take_record(text, ledger.begun);
  if (name == "upgrade") return take_record(text, ledger.upgrade);
  if (name == "progress") return take_record(text, ledger.progress);
  if (name == "answer") return take_record(text, ledger.answers.emplace_back());
  if (name == "prepared") ledger.prepared = text;
  if (name == "boot") ledger.boot_id = text;
  if (name == "reboot") ledger.reboot_wanted = text == "wanted";
  if (name == "late") ledger.late = text;
  if (name == "committed") ledger.committed = text;
  if (name == "leaves") ledger.leaves = text;
  if (name == "came-from") ledger.came_from = text;
  if (name == "came-to") ledger.came_to = text;
  return std::nullopt;  // a newer fleet-agent has written an unknown member: ignore it
}

}  // namespace

std::string ledger_text(const NodeLedger& ledger) {
  std::string text;
  // The component's own program chooses the version's name, which may contain newlines. Replace
  // them: a further line would be unreadable, or could look like the end of the file.
  const auto add = [&text](const std::string& name, std::string value) {
    std::replace(value.begin(), value.end(), '\n', ' ');
    text += name + " " + value + "\n";
  };
  if (!ledger.begun.id.empty()) add("begun", write_record(ledger.begun));
  if (!ledger.upgrade.id.empty()) add("upgrade", write_record(ledger.upgrade));
  add("progress", write_record(ledger.progress));
  add("prepared", ledger.prepared);
  add("boot", ledger.boot_id);
  add("reboot", ledger.reboot_wanted ? "wanted" : "no");
  add("late", ledger.late);
  add("committed", ledger.committed);
  add("leaves", ledger.leaves);
  add("came-from", ledger.came_from);
  add("came-to", ledger.came_to);
  for (const Answer& answer : ledger.answers) {
    add("answer", write_record(answer));
  }
  return text + end_mark + "\n";
}

agent_protocol::Result<NodeLedger> ledger_from(const std::string& text) {
  NodeLedger ledger;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    if (line == end_mark) return ledger;
    const std::size_t blank = line.find(' ');
    if (blank == line.npos) return agent_protocol::Refusal{"a line without a blank"};
    const std::string name = line.substr(0, blank);
    if (const auto wrong = take_line(name, line.substr(blank + 1), ledger))
      return agent_protocol::Refusal{name + " " + *wrong};
  }
  return agent_protocol::Refusal{"its end is missing"};
}

agent_protocol::Result<NodeLedger> LedgerFile::read() const {
  const auto text = content_of_regular_file(path_);
  if (!text) return text.refusal();
  if (!text.value()) return NodeLedger();
  auto ledger = ledger_from(*text.value());
  if (!ledger) return agent_protocol::Refusal{path_ + ": " + ledger.reason()};
  return ledger;
}

std::string LedgerFile::write(const NodeLedger& ledger) const {
  return replace_file(path_, ledger_text(ledger), 0600);
}

// ---- the file by which a node recognizes its store
agent_protocol::Result<KnownStore> read_known_store(const std::string& path) {
  const auto text = content_of_regular_file(path);
  if (!text) return text.refusal();
  if (!text.value()) return KnownStore();
  std::istringstream words(*text.value());
  KnownStore known;
  std::string rest;
  if (words >> known.epoch >> known.revision && !(words >> rest)) return known;
  return agent_protocol::Refusal{path + ": is not an epoch and a revision"};
}

// Replaces the file, and syncs it to disk. The file may contain an older revision than the last one
// that the node has seen, since it is written only at intervals. That is harmless: if the
// epoch is the same, a node refuses the store only for a lower revision than that in the file.
std::string write_known_store(const std::string& path, const KnownStore& known) {
  return replace_file(path,
                      std::to_string(known.epoch) + " " + std::to_string(known.revision) + "\n");
}

}  // namespace fleet
