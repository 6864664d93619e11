// The version of this fleet-agent. Tests build fleet-agent several times with different values.
#pragma once

namespace fleet {

extern const char* const agent_version;

}  // namespace fleet
