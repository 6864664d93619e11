// Closes descriptors that a forked process should not have.
#pragma once

#include <vector>

namespace agentify {

// Closes all descriptors from 3 on except those in `kept`; numbers below 3 in it are ignored.
void close_others(std::vector<int> kept);

}  // namespace agentify
