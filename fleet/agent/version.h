// The version of this fleet-agent. Tests build it with other versions.
#pragma once

namespace fleet {

extern const char* const agent_version;

}  // namespace fleet
