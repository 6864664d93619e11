// Makes the headers of a notice about an event, which is a request to a webhook. The headers
// describe the event as a CloudEvent 1.0 in HTTP's binary mode, and have a signature in the format
// of Standard Webhooks. The signature proves that a controller of this cell has sent the notice.
// This file does no input or output.
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
// The most secrets in a file of secrets. While a secret is being replaced, the file has both the
// old and the new secret.
inline constexpr std::size_t webhook_secrets_max = 4;

// Parses the content of a file of secrets. Each line is `whsec_` followed by one secret in base64.
// Returns the bytes of each secret. If a line is wrong, returns a Refusal that does not quote the
// line, so that no secret gets into the log.
[[nodiscard]] agent_protocol::Result<std::vector<std::string>> webhook_secrets(
    std::string_view content);

// Returns the id of the notice about this event. If the notice is sent twice, the id is the same.
// The id contains the event's number and time: after a restore of the store, another event may have
// the same number, but not the same time.
[[nodiscard]] std::string webhook_id(std::int64_t number, const FleetEvent& event);

// Returns the headers `ce-...`, each as `NAME: VALUE`. Bytes that are not visible ASCII are
// percent-encoded, so that a line break in a record cannot begin another header.
[[nodiscard]] std::vector<std::string> cloud_event_headers(std::int64_t number,
                                                           const FleetEvent& event);

// Returns the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` for a request with
// this body that is sent at the time `now`. `webhook-signature` has one signature for each secret.
[[nodiscard]] std::vector<std::string> signature_headers(const std::vector<std::string>& secrets,
                                                         const std::string& id, std::int64_t now,
                                                         const std::string& body);

}  // namespace fleet
