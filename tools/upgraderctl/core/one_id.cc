#include "tools/upgraderctl/core/one_id.h"

#include "base/shown.h"

namespace upgraderctl {
namespace {

constexpr const char* replacement = "\xEF\xBF\xBD";

// Returns the executable of the upgrade `id`, or an empty text if it is not in the status.
std::string executable_of(const std::string& id, const Status& status) {
  if (const Ending* ending = find_ending(status, id)) return ending->to.executable;
  if (!is_under_way(status, id)) return {};
  if (status.candidate && status.candidate->role == "candidate")
    return status.candidate->executable;
  if (status.phase == "trial" && status.active) return status.active->executable;
  return {};
}

}  // namespace

std::optional<std::string> other_executable(const Executable& asked, const std::string& id,
                                            const Status& status) {
  const std::string known = executable_of(id, status);
  if (known.empty() || known.find(replacement) != std::string::npos) return std::nullopt;
  if (known == asked.named || known == asked.resolved) return std::nullopt;
  return "the id " + shown(id) + " belongs to an upgrade to " + shown(known) + ", not to " +
         shown(asked.named);
}

}  // namespace upgraderctl
