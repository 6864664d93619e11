#include "tools/agent-releases/shell/use.h"

#include <fcntl.h>

#include <algorithm>
#include <optional>

#include "tools/agent-releases/core/json_object.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {
namespace {

constexpr const char* processes_path = "/proc";
constexpr const char* upgraders_path = "/run/upgrader";
constexpr const char* status_name = "status.json";
constexpr std::size_t status_bytes_max = 65'536;
constexpr std::size_t executable_bytes_max = 4'095;
constexpr std::string_view deleted_ending = " (deleted)";

bool is_number(const std::string& name) {
  return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

Outcome add_uses_of(const std::string& control, std::vector<Use>& uses) {
  const auto directory = Directory::open(control);
  if (!directory) return directory.refusal();
  const auto text = directory.value().read(status_name, status_bytes_max);
  if (!text) return text.refusal();
  // without a status, no upgrader has ever used this control directory
  if (!text.value()) return std::monostate{};
  const auto found = uses_of_status(*text.value(), control);
  if (!found) return Refusal{directory.value().path_of(status_name) + ": " + found.reason()};
  uses.insert(uses.end(), found.value().begin(), found.value().end());
  return std::monostate{};
}

}  // namespace

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

Result<std::vector<Use>> uses_of_status(const std::string& text, const std::string& control) {
  auto parsed = JsonReader::parse(text);
  if (!parsed) return parsed.refusal();
  std::vector<Use> uses;
  for (const char* role : {"active", "candidate", "standby", "upgrade"}) {
    auto agent = parsed.value().object(role);
    if (!agent) continue;
    const auto executable = agent->text("executable", executable_bytes_max);
    if (agent->refusal()) return Refusal{*agent->refusal()};
    if (!executable) continue;
    const std::string part = role;
    uses.push_back({.executable = *executable, .by = "the upgrader of " + control + ", " + part});
  }
  if (parsed.value().refusal()) return Refusal{*parsed.value().refusal()};
  return uses;
}

Result<std::vector<Use>> used_by_upgraders(const std::vector<std::string>& controls) {
  std::vector<Use> uses;
  const auto running = Directory::open(upgraders_path);
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
  for (const std::string& control : controls) {
    if (const Outcome added = add_uses_of(control, uses); !added) return added.refusal();
  }
  return uses;
}

}  // namespace agent_releases
