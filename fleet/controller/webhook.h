// Makes the headers of a request to a webhook: the event as a CloudEvent of version 1.0 in HTTP's
// binary mode, and a signature as in Standard Webhooks. The signature shows the receiver that a
// controller of this cell has sent the event. No I/O.
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
// The most secrets in the file. While a secret is being replaced, the file has the old one and the
// new one.
inline constexpr std::size_t webhook_secrets_max = 4;

// Reads the secrets from the content of a file: each line is `whsec_` and one secret in base64.
// Returns the bytes of each secret. If a line is wrong, returns a Refusal, which never quotes the
// file.
[[nodiscard]] agent_protocol::Result<std::vector<std::string>> webhook_secrets(
    std::string_view content);

// Returns the event's id, made of its number and its time. The event has the same id whenever it is
// sent, and no other event of the cell has it: if the store was restored and a number is used
// again, the time differs.
[[nodiscard]] std::string webhook_id(std::int64_t number, const FleetEvent& event);

// Returns the headers `ce-...`, each as `NAME: VALUE`. Bytes that are not visible ASCII are
// percent-encoded, so that a text from a record cannot add a header of its own.
[[nodiscard]] std::vector<std::string> cloud_event_headers(std::int64_t number,
                                                           const FleetEvent& event);

// Returns the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` for this body,
// which is sent at the time `now`. The last header has one signature for each secret.
[[nodiscard]] std::vector<std::string> signature_headers(const std::vector<std::string>& secrets,
                                                         const std::string& id, std::int64_t now,
                                                         const std::string& body);

}  // namespace fleet
