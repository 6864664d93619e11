#include "fleet/fleetctl/release_found.h"

#include "fleet/fleetctl/one_record.h"
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

}  // namespace fleetctl
