#include "fleet/agent/version.h"

#include "base/version.h"

#ifndef FLEET_AGENT_VERSION
#define FLEET_AGENT_VERSION upgrader::upgrader_version
#endif

namespace fleet {

const char* const agent_version = FLEET_AGENT_VERSION;

}  // namespace fleet
