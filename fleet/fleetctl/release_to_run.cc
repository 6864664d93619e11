#include "fleet/fleetctl/release_to_run.h"

#include "fleet/fleetctl/commands.h"
#include "fleet/model/keys.h"

namespace fleetctl {

int find_release(Asker& asker, const std::string& component, const std::string& version,
                 ReleaseFound& found) {
  OneRecord<fleet::Release> one;
  const int status =
      read_one(asker, fleet::key_of(fleet::KeyKind::release, {component, version}), one);
  if (status != exit_done) return status;
  if (one.revision == 0) {
    complain(component + " " + version +
             " is not published: fleetctl release publish makes it known");
    return exit_refused;
  }
  if (!one.record) {
    complain("the release " + one.damage);
    return exit_refused;
  }
  found = {*one.record, one.revision};
  return exit_done;
}

int look_for_newer(const std::vector<fleet::NodeView>& nodes, const std::string& component,
                   const std::string& version) {
  const std::string newer = fleet::who_runs_newer(nodes, component, version);
  if (newer.empty()) return exit_done;
  complain(component + " " + version + " is older than what runs on " + newer +
           "; if that is meant, say --downgrade");
  return exit_refused;
}

}  // namespace fleetctl
