#include "fleet/fleetctl/release_found.h"

#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleetctl {

int find_release(Asker& asker, const std::string& component, const std::string& version,
                 ReleaseFound& found) {
  const std::string key = fleet::key_of(fleet::KeyKind::release, {component, version});
  const auto reply = asker.read({key});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const fleet::KeyValue* there = std::get<fleet::Reading>(reply).find(key);
  if (there == nullptr) {
    complain(component + " " + version +
             " is not published: fleetctl release publish makes it known");
    return exit_refused;
  }
  const auto release = fleet::read_record<fleet::Release>(there->value);
  if (!release) {
    complain("the release " + release.reason());
    return exit_refused;
  }
  found = {release.value().digest, there->modified};
  return exit_done;
}

}  // namespace fleetctl
