// The version of this fleet-agent. For tests of upgrades, fleet-agent is built several times with
// different versions.
#pragma once

namespace fleet {

extern const char* const agent_version;

}  // namespace fleet
