// Which version of fleet-agent this is. Tests build others.
#pragma once

namespace fleet {

extern const char* const agent_version;

}  // namespace fleet
