// Makes the headers of a request to a webhook: the event as a CloudEvent of version 1.0 in HTTP's
// binary mode, and a signature as in Standard Webhooks, by which the receiver knows that a
// controller of this cell has sent it. No I/O.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/cell_records.h"

namespace fleet {

// A secret has 24 to 64 bytes, as Standard Webhooks demands.
inline constexpr std::size_t webhook_secret_bytes_min = 24;
inline constexpr std::size_t webhook_secret_bytes_max = 64;
// While a secret is exchanged for another, the file has both.
inline constexpr std::size_t webhook_secrets_max = 4;

// Reads the secrets in a file: each line is `whsec_` and the secret in base64. Returns the bytes of
// each secret, or a Refusal, which never has a part of the file in it.
[[nodiscard]] agent_protocol::Result<std::vector<std::string>> webhook_secrets(
    std::string_view content);

// Returns the event's id. It stays the same whenever the event is sent again, and no other event of
// the cell has it, even after the store was restored and gives a number anew.
[[nodiscard]] std::string webhook_id(std::int64_t number, const FleetEvent& event);

// Returns the headers `ce-...`, each as `NAME: VALUE`. All other bytes than visible ASCII are
// percent-encoded, so no text in a record makes a header of its own.
[[nodiscard]] std::vector<std::string> cloud_event_headers(std::int64_t number,
                                                           const FleetEvent& event);

// Returns the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` of this body, which
// is sent at the time `now`, with one signature for each secret.
[[nodiscard]] std::vector<std::string> signature_headers(const std::vector<std::string>& secrets,
                                                         const std::string& id, std::int64_t now,
                                                         const std::string& body);

}  // namespace fleet
