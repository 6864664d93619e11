// Makes the headers of a request to a webhook. They describe the event as a CloudEvent 1.0 in
// HTTP's binary mode, and contain a signature as Standard Webhooks defines it. The signature proves
// to the receiver that a controller of this cell has sent the event. Does no input or output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/cell_records.h"

namespace fleet {

// The minimum and the maximum number of bytes of a secret, as Standard Webhooks demands.
inline constexpr std::size_t webhook_secret_bytes_min = 24;
inline constexpr std::size_t webhook_secret_bytes_max = 64;
// The maximum number of secrets in the file. While a secret is being replaced, the file contains
// both the old and the new secret.
inline constexpr std::size_t webhook_secrets_max = 4;

// Parses the content of a file with secrets. Each line is `whsec_` and one secret in base64.
// Returns the bytes of each secret. If a line is wrong, returns a Refusal, whose text never quotes
// the file.
[[nodiscard]] agent_protocol::Result<std::vector<std::string>> webhook_secrets(
    std::string_view content);

// Returns an id for the event, made of its number and its time. If an event is sent twice, both
// notices have the same id. No other event of the cell has this id: after the store was restored, a
// number may be used again, but the time differs.
[[nodiscard]] std::string webhook_id(std::int64_t number, const FleetEvent& event);

// Returns the headers `ce-...`, each as `NAME: VALUE`. Bytes that are not visible ASCII are
// percent-encoded, so that a text from a record cannot add a header of its own.
[[nodiscard]] std::vector<std::string> cloud_event_headers(std::int64_t number,
                                                           const FleetEvent& event);

// Returns the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` for this body.
// `now` is the time at which it is sent. The last header has one signature for each secret.
[[nodiscard]] std::vector<std::string> signature_headers(const std::vector<std::string>& secrets,
                                                         const std::string& id, std::int64_t now,
                                                         const std::string& body);

}  // namespace fleet
