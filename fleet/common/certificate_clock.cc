#include "fleet/common/certificate_clock.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "fleet/common/certificate.h"
#include "fleet/common/text_file.h"

namespace fleet {

CertificateClock::CertificateClock(std::string file, Certificates certificates)
    : file_(std::move(file)),
      certificates_(std::move(certificates)),
      durable_(durable_of(content_of_file(file_))) {}

CertificateTime CertificateClock::time() const {
  return {.clock = std::time(nullptr), .durable = durable_};
}

JudgingTime CertificateClock::judge() const {
  const CertificateTime now = time();
  const auto own = validity_of(content_of_file(certificates_.own));
  return {.seconds = judging_time(now),
          .words = judging_words(now),
          .wait = own ? why_too_early(now, *own) : ""};
}

// Writes the time to the file. Reads the file first, since during an upgrade of fleet-agent the
// older process may have written a later time there.
std::string CertificateClock::keep(bool at_once) {
  durable_ = std::max(durable_, durable_of(content_of_file(file_)));
  const auto fresh = durable_from(time(), validity_of(content_of_file(certificates_.own)), at_once);
  if (!fresh) return "";
  if (const std::string why = replace_file(file_, durable_text(*fresh), 0600); !why.empty())
    return why;
  durable_ = *fresh;
  return "";
}

}  // namespace fleet
