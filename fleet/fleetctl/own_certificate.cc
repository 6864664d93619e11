#include "fleet/fleetctl/own_certificate.h"

#include <utility>

#include "fleet/common/certificate.h"
#include "fleet/common/identity.h"
#include "fleet/common/text_file.h"

namespace fleetctl {

using fleet::content_of_file;
using fleet::time_text_of;

std::string why_not_let_in(const fleet::Certificates& files, fleet::UnixSeconds now) {
  if (files.own.empty()) return "";
  const std::pair<const char*, std::string> all[] = {
      {"your certificate: ", files.own}, {"your key: ", files.key}, {"--ca: ", files.authority}};
  for (const auto& [what, file] : all) {
    const std::string why = file.empty() ? "" : fleet::why_unread(file);
    if (!why.empty()) return what + why;
  }
  const std::string own = content_of_file(files.own);
  const std::string whose = "your certificate " + files.own;
  const auto validity = fleet::validity_of(own);
  if (!validity) return whose + " is none in PEM";
  const std::string key = content_of_file(files.key);
  if (!files.key.empty() &&
      !fleet::why_not_usable(own, fleet::name_in(own).value_or(""), key).empty())
    return "your key " + files.key + " is not that of " + whose;
  const std::string clock = "; this machine's clock shows " + time_text_of(now);
  if (now < validity->from) return whose + " begins at " + time_text_of(validity->from) + clock;
  if (now >= validity->until) return whose + " ended at " + time_text_of(validity->until) + clock;
  const std::string authority = content_of_file(files.authority);
  if (authority.empty() || fleet::is_signed_by(own, authority)) return "";
  return whose + " is not signed by the authority of " + files.authority;
}

std::string why_denied(const fleet::Certificates& files, const std::string& deed,
                       const std::string& reason) {
  if (reason.find("permission denied") == std::string::npos) return reason;
  const auto name = files.own.empty() ? std::nullopt : fleet::name_in(content_of_file(files.own));
  return "the store does not let " + name.value_or("anybody without a certificate") + " " + deed +
         ": its role does not allow that, or it was revoked (" + reason + ")";
}

}  // namespace fleetctl
