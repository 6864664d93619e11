// Makes the headers of a notice (an HTTP request to a webhook about an event). They describe the
// event as a CloudEvent 1.0 in HTTP's binary mode. A signature in the format of Standard Webhooks
// proves that a controller of this cell has sent the notice. Does no input or output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/records/cell_records.h"

namespace fleet {

// The fewest and the most bytes of a secret, as Standard Webhooks demands.
inline constexpr std::size_t webhook_secret_bytes_min = 24;
inline constexpr std::size_t webhook_secret_bytes_max = 64;
// The maximum number of secrets in a file: while a secret is being replaced, the file has both.
inline constexpr std::size_t webhook_secrets_max = 4;

// Parses a file of secrets. Each line is `whsec_` followed by a secret in base64. Returns the bytes
// of each secret, or a Refusal that does not quote the wrong line, so that no secret gets into the
// log.
[[nodiscard]] agent_protocol::Result<std::vector<std::string>> webhook_secrets(
    std::string_view content);

// Returns the id of the notice about this event, which is the same if the notice is sent twice. It
// contains the event's number and time, since a restored store may give the same number to another
// event.
[[nodiscard]] std::string webhook_id(std::int64_t number, const FleetEvent& event);

// Returns the headers `ce-...`, each as `NAME: VALUE`. Percent-encodes bytes that are not visible
// ASCII, so that a line break in a record cannot begin another header.
[[nodiscard]] std::vector<std::string> cloud_event_headers(std::int64_t number,
                                                           const FleetEvent& event);

// Returns the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` for a request with
// this body at the time `now`. There is one signature for each secret.
[[nodiscard]] std::vector<std::string> signature_headers(const std::vector<std::string>& secrets,
                                                         const std::string& id, std::int64_t now,
                                                         const std::string& body);

}  // namespace fleet
