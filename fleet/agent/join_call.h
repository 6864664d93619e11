// One request of a machine that joins to one controller, by HTTPS. The machine knows the authority
// by the digest of its public key alone, and learns its certificate from the controller.
#pragma once

#include <string>

#include "fleet/agent/join_talk.h"

namespace fleet {

// Sends the question. Nothing of it is sent to a server that the authority has not signed. On
// success, `authority` is the authority's certificate. Blocks for some seconds at most.
[[nodiscard]] JoinReply ask_to_join(const std::string& controller,
                                    const std::string& authority_digest,
                                    const std::string& question, std::string& authority);

}  // namespace fleet
