// Sends one request of a machine that wants to join a cell to one controller, by HTTPS. At first
// the machine has only the digest of the authority's public key, from the token. It gets the
// authority's certificate from the controller, and checks that the digest of its key is the one in
// the token.
#pragma once

#include <string>

#include "fleet/agent/join_talk.h"

namespace fleet {

// Sends the question to the controller, but only if the authority has signed the server's
// certificate. On success, `authority` is the authority's certificate. Blocks for some seconds at
// most.
[[nodiscard]] JoinReply ask_to_join(const std::string& controller,
                                    const std::string& authority_digest,
                                    const std::string& question, std::string& authority);

}  // namespace fleet
