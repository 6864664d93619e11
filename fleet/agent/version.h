// The version of this fleet-agent. Tests build fleet-agent with other versions.
#pragma once

namespace fleet {

extern const char* const agent_version;

}  // namespace fleet
