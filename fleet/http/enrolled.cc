#include "fleet/http/enrolled.h"

#include <algorithm>

#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

// Returns a refusal with status 401. Its reason begins with the name in the certificate.
Response refuse(const Visitor& visitor, const std::string& why) {
  return problem(401, visitor.name + why);
}

}  // namespace

std::optional<std::string> identity_key(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string key = prefix_of(KeyKind::identity);
  key.append(name.substr(0, colon)).append("/").append(name.substr(colon + 1));
  const auto parsed = parse_key(key);
  if (!parsed || parsed->kind != KeyKind::identity) return std::nullopt;
  return key;
}

std::optional<Response> why_not_enrolled(const Visitor& visitor, const KeyValue* record,
                                         bool were_read) {
  if (record == nullptr) {
    if (!were_read) return problem(503, "the store has not been read yet");
    return refuse(visitor, " is not enrolled: fleetctl enrol gives certificates that are let in");
  }
  const auto identity = read_record<Identity>(record->value);
  if (!identity) return refuse(visitor, ": the record of this name " + identity.reason());
  if (!identity.value().revoked.empty()) return refuse(visitor, " is revoked");
  const auto& all = identity.value().certificates;
  const auto one = std::find_if(all.begin(), all.end(), [&](const IssuedCertificate& listed) {
    return listed.serial == visitor.serial;
  });
  const std::string which = ": the certificate " + visitor.serial;
  if (one == all.end()) return refuse(visitor, which + " is not one that was given to this name");
  if (one->revoked) return refuse(visitor, which + " is revoked");
  return std::nullopt;
}

}  // namespace fleet
