#include "tools/agent-releases/core/ledger.h"

#include <algorithm>
#include <array>

#include "agent-releases/manifest.h"
#include "base/utf8.h"
#include "tools/agent-releases/core/json_object.h"

namespace agent_releases {
namespace {

constexpr std::array<std::string_view, 4> ending_names{"trying", "committed", "failed",
                                                       "forgotten"};
constexpr std::size_t short_bytes_max = 128;
constexpr std::size_t id_bytes_max = 64;  // the limit of agent-protocol(7) for an upgrade's id

std::optional<Ending> ending_of(std::string_view name) {
  const auto* found = std::ranges::find(ending_names, name);
  if (found == ending_names.end()) return std::nullopt;
  return static_cast<Ending>(found - ending_names.begin());
}

std::optional<Entry> parse_entry(std::string_view line) {
  auto parsed = JsonReader::parse(line);
  if (!parsed) return std::nullopt;
  JsonReader& json = parsed.value();
  const auto when = parse_moment(json.required_text("when", short_bytes_max));
  const auto version = Version::parse(json.required_text("version", version_bytes_max));
  const auto ending = ending_of(json.required_text("ending", short_bytes_max));
  Entry entry;
  entry.sha256 = json.text("sha256", short_bytes_max).value_or("");
  entry.id = json.text("id", short_bytes_max).value_or("");
  entry.stage = json.text("stage", short_bytes_max).value_or("");
  entry.reason = json.text("reason", ledger_reason_bytes_max).value_or("");
  entry.errno_name = json.text("errno", short_bytes_max).value_or("");
  entry.wish = json.text("wish", short_bytes_max).value_or("");
  if (json.refusal() || !when || !version || !ending) return std::nullopt;
  entry.when = *when;
  entry.version = *version;
  entry.ending = *ending;
  return entry;
}

// Adds a member with the string `text`, unless `text` is empty. Cuts a longer string to the length
// that parse_entry() accepts.
void add_if_any(JsonWriter& json, std::string_view name, std::string_view text,
                std::size_t bytes_max = short_bytes_max) {
  if (!text.empty()) json.add(name, agent_protocol::fit_text(text, bytes_max));
}

}  // namespace

std::string_view name_of(Ending ending) {
  return ending_names[static_cast<std::size_t>(ending)];
}

std::string to_line(const Entry& entry) {
  JsonWriter json;
  json.add("when", to_text(entry.when)).add("version", entry.version.text());
  add_if_any(json, "sha256", entry.sha256);
  json.add("ending", name_of(entry.ending));
  add_if_any(json, "id", entry.id);
  add_if_any(json, "stage", entry.stage);
  add_if_any(json, "reason", entry.reason, ledger_reason_bytes_max);
  add_if_any(json, "errno", entry.errno_name);
  add_if_any(json, "wish", entry.wish);
  return json.line() + "\n";
}

std::vector<Entry> parse_ledger(std::string_view text, std::size_t* sound_bytes) {
  std::vector<Entry> entries;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string_view::npos;
       begin = end + 1) {
    if (auto entry = parse_entry(text.substr(begin, end - begin))) {
      entries.push_back(std::move(*entry));
    }
  }
  if (sound_bytes != nullptr) *sound_bytes = begin;
  return entries;
}

bool blames_release(std::string_view stage, std::string_view errno_name) {
  if (stage == "start" || stage == "trial" || stage == "self-test") return true;
  if (stage != "spawn" && stage != "request") return false;
  return errno_name == "ENOEXEC" || errno_name == "ENOENT";
}

const Entry* last_of(const std::vector<Entry>& ledger, const Version& version,
                     std::string_view sha256) {
  const auto is_of_it = [&](const Entry& entry) {
    return entry.version == version && (entry.sha256.empty() || entry.sha256 == sha256);
  };
  const auto found = std::find_if(ledger.rbegin(), ledger.rend(), is_of_it);
  return found == ledger.rend() ? nullptr : &*found;
}

bool has_failed(const std::vector<Entry>& ledger, const Version& version, std::string_view sha256,
                const std::optional<Version>& running, const std::optional<std::string>& wish) {
  const Entry* last = last_of(ledger, version, sha256);
  if (last == nullptr) return false;
  if (wish && *wish != last->wish) return false;
  switch (last->ending) {
    case Ending::trying:
      return running && *running != version;
    case Ending::failed:
      return blames_release(last->stage, last->errno_name);
    case Ending::committed:
    case Ending::forgotten:
      return false;
  }
  return false;
}

std::string upgrade_id(const Version& version, std::int64_t process, std::int64_t number) {
  const std::string ending = "/" + std::to_string(process) + "/" + std::to_string(number);
  return version.text().substr(0, id_bytes_max - ending.size()) + ending;
}

std::optional<Entry> commitment_of(const std::vector<Entry>& ledger, const Version& running,
                                   Moment when) {
  const auto is_of_it = [&](const Entry& entry) { return entry.version == running; };
  const auto last = std::find_if(ledger.rbegin(), ledger.rend(), is_of_it);
  if (last == ledger.rend() || last->ending != Ending::trying) return std::nullopt;
  Entry committed = *last;
  committed.when = when;
  committed.ending = Ending::committed;
  return committed;
}

Entry failure_of(const Entry& tried, const Failure& failure, Moment when) {
  Entry failed = tried;
  failed.when = when;
  failed.ending = Ending::failed;
  failed.stage = failure.stage;
  failed.reason = failure.reason;
  failed.errno_name = failure.errno_name;
  return failed;
}

const Entry* upgrade_of(const std::vector<Entry>& ledger, std::string_view id) {
  const auto is_it = [&](const Entry& entry) { return entry.id == id; };
  const auto found = std::find_if(ledger.rbegin(), ledger.rend(), is_it);
  return id.empty() || found == ledger.rend() ? nullptr : &*found;
}

std::vector<Entry> shortened(const std::vector<Entry>& ledger) {
  std::vector<Entry> kept;
  for (auto entry = ledger.rbegin(); entry != ledger.rend(); ++entry) {
    if (kept.size() >= ledger_entries_kept) break;
    const bool known = std::ranges::any_of(kept, [&](const Entry& later) {
      return later.version == entry->version &&
             (later.sha256.empty() || later.sha256 == entry->sha256);
    });
    if (!known) kept.push_back(*entry);
  }
  std::ranges::reverse(kept);
  return kept;
}

}  // namespace agent_releases
