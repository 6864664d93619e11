// Removes releases that are not needed: one certain release (`remove`), all except the newest
// releases (`prune`), or the oldest releases until few enough are left (`make_room`).
#include "tools/agent-releases/shell/remove.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "agent-releases/releases.h"
#include "base/escape.h"
#include "base/status_path.h"
#include "base/utf8.h"
#include "tools/agent-releases/core/choice.h"
#include "tools/agent-releases/core/json_object.h"
#include "tools/agent-releases/core/names.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/ledger_file.h"
#include "tools/agent-releases/shell/store.h"

namespace agent_releases {
namespace {

constexpr const char* processes_path = "/proc";
constexpr const char* upgraders_path = "/run/upgrader";
constexpr const char* status_name = "status.json";
constexpr std::size_t status_bytes_max = 65'536;
// An upgrader cuts a path in its status to at most `executable_bytes_max` bytes, counted in the
// escaped form. It cuts between characters, so a path that was cut is shorter than this limit by
// fewer than `cut_bytes_max` bytes.
constexpr std::size_t cut_bytes_max = 16;
constexpr std::string_view deleted_ending = " (deleted)";

bool is_number(const std::string& name) {
  return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

Outcome add_uses_of(const std::string& control, std::vector<Use>& uses) {
  const auto directory = Directory::open(control);
  if (!directory) return directory.refusal();
  const auto text = directory.value().read(status_name, status_bytes_max);
  if (!text) return text.refusal();
  // a control directory without a status file has never been used by an upgrader
  if (!text.value()) return std::monostate{};
  const auto found = uses_of_status(*text.value(), control);
  if (!found) return Refusal{directory.value().path_of(status_name) + ": " + found.reason()};
  uses.insert(uses.end(), found.value().begin(), found.value().end());
  return std::monostate{};
}

// Returns the files that processes execute, as far as /proc shows them to the caller. Refuses if
// /proc cannot be read.
Result<std::vector<Use>> used_by_processes() {
  std::vector<Use> uses;
  const auto processes = Directory::open(processes_path);
  if (!processes) return processes.refusal();
  const auto names = processes.value().names();
  if (!names) return names.refusal();
  for (const std::string& name : names.value()) {
    if (!is_number(name)) continue;
    auto target = processes.value().link_target(name + "/exe");
    if (!target) continue;
    if (target->ends_with(deleted_ending)) target->resize(target->size() - deleted_ending.size());
    uses.push_back({.executable = *target, .by = "process " + name});
  }
  return uses;
}

// Adds the files that are run by the upgraders whose control directories are in `base`. Refuses if
// a control directory cannot be read, because it is then unknown which release its upgrader runs.
Outcome add_uses_below(const std::string& base, std::vector<Use>& uses) {
  const auto running = Directory::open(base);
  if (!running && running.refusal().trouble != Trouble::absent) return running.refusal();
  const auto names = running ? running.value().names() : Result(std::vector<std::string>{});
  if (!names) return names.refusal();
  for (const std::string& name : names.value()) {
    const auto status = running.value().status(name);
    if (!status) return status.refusal();
    if (!status.value() || !S_ISDIR(status.value()->st_mode)) continue;
    const Outcome added = add_uses_of(running.value().path_of(name), uses);
    if (!added) return added.refusal();
  }
  return std::monostate{};
}

// Returns the files that upgraders run, are about to run, or would run at a boot. Reads all control
// directories in /run/upgrader and, as upgraderctl does, in $XDG_RUNTIME_DIR/upgrader, and the
// control directories in `controls`.
Result<std::vector<Use>> used_by_upgraders(const std::vector<std::string>& controls) {
  std::vector<Use> uses;
  if (const Outcome added = add_uses_below(upgraders_path, uses); !added) return added.refusal();
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') {
    const Outcome added = add_uses_below(std::string(runtime) + "/upgrader", uses);
    if (!added) return added.refusal();
  }
  for (const std::string& control : controls) {
    if (const Outcome added = add_uses_of(control, uses); !added) return added.refusal();
  }
  return uses;
}

// The reasons why releases are still needed and must not be removed. One object of this class knows
// the reasons for every release of a directory.
class Needs {
 public:
  [[nodiscard]] static Result<Needs> look(const Store& store);

  // Returns the reason why the release is needed, or nothing if it is not needed.
  [[nodiscard]] std::optional<std::string> of(const Release& release) const;

 private:
  std::vector<std::pair<Version, std::string>> versions_;
  std::vector<Use> uses_;
};

Result<Needs> Needs::look(const Store& store) {
  Needs needs;
  for (const std::string_view link : {current_name, previous_name}) {
    const auto version = store.version_of_link(link);
    if (!version) return version.refusal();
    if (version.value()) {
      needs.versions_.emplace_back(*version.value(), std::string(link) + " names it");
    }
  }
  const auto wish = store.wish();
  if (wish && !wish->version) {
    return Refusal{"the file `desired` names no version, so nothing is removed"};
  }
  if (wish) needs.versions_.emplace_back(*wish->version, "it is desired");
  const auto ledger = read_ledger(store.directory());
  if (!ledger) return ledger.refusal();
  std::set<std::string> seen;
  for (auto entry = ledger.value().rbegin(); entry != ledger.value().rend(); ++entry) {
    if (!seen.insert(entry->version.text()).second || entry->ending != Ending::trying) continue;
    needs.versions_.emplace_back(entry->version, "an upgrade to it is under way, or was cut short");
    // Older entries do not matter. Only one upgrade can be under way, so an older upgrade is over
    // even if its outcome is not recorded.
    break;
  }
  auto upgraders = used_by_upgraders(store.controls());
  if (!upgraders) {
    return Refusal{"what an upgrader runs cannot be read, so nothing is removed: " +
                   upgraders.reason()};
  }
  auto processes = used_by_processes();
  if (!processes) {
    return Refusal{
        "what processes run cannot be read, so nothing is removed: " + processes.reason(),
        processes.refusal().trouble};
  }
  needs.uses_ = std::move(processes.value());
  for (Use& use : upgraders.value())
    needs.uses_.push_back(std::move(use));
  return needs;
}

bool is_used(const std::string& path, const Use& use) {
  return use.executable == path || use.executable.starts_with(path + "/");
}

std::optional<std::string> Needs::of(const Release& release) const {
  for (const auto& [version, why] : versions_) {
    if (version == release.version) return why;
  }
  // status.json has U+FFFD in place of each byte of a path that is not valid UTF-8
  const std::string shown = agent_protocol::fit_text(release.path);
  for (const Use& use : uses_) {
    if (is_used(release.path, use) || is_used(shown, use)) return use.by + " runs it";
  }
  return std::nullopt;
}

// Returns the file to which the link of --previous leads, or nothing if it leads to no file. `link`
// is the link's path in the status of the upgrader `pid`. It may have U+FFFD in place of bytes that
// are not UTF-8. An older upgrader may give a relative path, which can be followed only while that
// upgrader runs. If a path with U+FFFD or a relative path leads to no file, refuses: the link may
// be elsewhere.
Result<std::optional<std::string>> target_of_previous(const std::string& link,
                                                      std::optional<std::int64_t> pid) {
  if (link.empty()) return std::optional<std::string>();
  const std::optional<std::string> path = upgrader::path_for_others(link, pid);
  const bool may_be_elsewhere = path != link || upgrader::is_mangled(link);
  auto target = path ? real_path(*path) : std::nullopt;
  if (!target && may_be_elsewhere) {
    return Refusal{"the link of --previous cannot be found by the path " + link};
  }
  return target;
}

// Removes a release: first the program or directory, then the manifest, the signature and the list
// of files. After a crash in between, the next command removes the remaining files.
//
// A directory in the lower layer of an overlay, such as a container's image or a router's flash,
// can be removed but not moved (EXDEV). A crash during this removal leaves a damaged release, which
// a later command can remove.
Outcome remove_release(const Store& store, const Directory& staging, const Version& version) {
  const Directory& directory = store.directory();
  const std::string name = store.name_of(version);
  if (store.is_claimed(staging, version)) {
    return Refusal{"another process is adding version " + version.text()};
  }
  if (const Outcome moved = directory.rename(name, staging, name); !moved) {
    if (moved.refusal().error_number != EXDEV) return moved;
    if (const Outcome gone = directory.remove(name); !gone) return gone;
  }
  if (const Outcome synced = directory.sync(); !synced) {
    static_cast<void>(staging.rename(name, directory, name, Directory::Existing::keep));
    return synced;
  }
  return store.clean(staging, std::string(no_partial));
}

// Removes the releases whose versions `choose` returns, and returns these versions. `choose` gets
// all releases of the directory, each with the reason why it is still needed. The caller needs the
// releases whose versions are in `spared`.
Result<std::vector<Version>> remove_chosen(const Releases& releases,
                                           const std::vector<Version>& spared, const auto& choose) {
  const Store& store = releases.store();
  const Result<Writing> writing = store.begin_writing(std::string(no_partial));
  if (!writing) return writing.refusal();
  const Result<Needs> needs = Needs::look(store);
  if (!needs) return needs.refusal();
  const Result<std::vector<Release>> all = releases.list();
  if (!all) return all.refusal();
  std::vector<Holding> holdings;
  for (const Release& release : all.value()) {
    const bool is_spared = std::ranges::find(spared, release.version) != spared.end();
    holdings.push_back({.version = release.version,
                        .added = release.added,
                        .needed = is_spared ? "the caller needs it" : needs.value().of(release)});
  }
  std::vector<Version> chosen = choose(std::move(holdings));
  for (const Version& version : chosen) {
    const Outcome gone = remove_release(store, writing.value().staging, version);
    if (!gone) return gone.refusal();
  }
  return chosen;
}

}  // namespace

Result<std::vector<Use>> uses_of_status(const std::string& text, const std::string& control) {
  auto parsed = JsonReader::parse(text);
  if (!parsed) return parsed.refusal();
  std::vector<Use> uses;
  for (const char* role : {"active", "candidate", "standby", "upgrade"}) {
    auto agent = parsed.value().object(role);
    if (!agent) continue;
    const auto executable = agent->text("executable", executable_bytes_max);
    const bool is_cut = agent->truth("cut", false);
    if (agent->refusal()) return Refusal{*agent->refusal()};
    if (!executable) continue;
    const std::string part = role;
    const std::size_t bytes = agent_protocol::escaped_bytes(*executable);
    // The member `cut` is true if any text about the agent was cut. The path itself can have been
    // cut only if its length almost reaches the limit.
    if (is_cut && bytes > executable_bytes_max - cut_bytes_max) {
      return Refusal{"the path of the executable, " + part + ", is cut"};
    }
    uses.push_back({.executable = *executable, .by = "the upgrader of " + control + ", " + part});
  }
  // The program to which the link of --previous leads is needed at a boot if the first agent fails.
  // The link may lie outside of the directory of releases.
  if (auto boot = parsed.value().object("boot")) {
    const auto link = boot->text("previous", executable_bytes_max);
    const bool is_cut = boot->truth("cut", false);
    if (boot->refusal()) return Refusal{*boot->refusal()};
    if (is_cut) return Refusal{"the path of the link of --previous is cut"};
    auto upgrader = parsed.value().object("upgrader");
    const auto pid = upgrader ? upgrader->number("pid") : std::nullopt;
    const auto target = target_of_previous(link.value_or(""), pid);
    if (!target) return target.refusal();
    const std::string by = "the upgrader of " + control + ", if its agent fails at a boot,";
    if (target.value()) uses.push_back({.executable = *target.value(), .by = by});
  }
  if (parsed.value().refusal()) return Refusal{*parsed.value().refusal()};
  return uses;
}

Result<std::optional<std::string>> Releases::needed_for(const Version& version) const {
  const Result<Release> release = find(version);
  if (!release) return release.refusal();
  const Result<Needs> needs = Needs::look(*store_);
  if (!needs) return needs.refusal();
  return needs.value().of(release.value());
}

Outcome Releases::remove(const Version& version) {
  const Result<Release> there = find(version);
  if (!there) return there.refusal();
  const Result<Writing> writing = store_->begin_writing(std::string(no_partial));
  if (!writing) return writing.refusal();
  const auto needed = needed_for(version);
  if (!needed) return needed.refusal();
  if (needed.value()) {
    return Refusal{"version " + version.text() + " is not removed: " + *needed.value()};
  }
  return remove_release(*store_, writing.value().staging, version);
}

Result<std::vector<Version>> Releases::prune(std::size_t keep, std::optional<std::int64_t> before) {
  return remove_chosen(*this, {}, [&](std::vector<Holding> holdings) {
    return choose_to_prune(std::move(holdings), {keep, before});
  });
}

Result<std::vector<Version>> Releases::make_room(std::size_t most,
                                                 const std::vector<Version>& spared) {
  return remove_chosen(*this, spared, [most](std::vector<Holding> holdings) {
    return choose_to_make_room(std::move(holdings), most);
  });
}

}  // namespace agent_releases
