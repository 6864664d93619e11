// Decides with which time a machine checks whether certificates have expired: the time of its
// clock, or the last time that was written to disk, whichever is later. This helps if the clock is
// wrong and behind. An expired certificate is still refused. And the machine still reaches a store
// that it has reached before, since the store's certificates were valid at the written time. Only
// the class CertificateClock reads the clock and the file.
#pragma once

#include <optional>
#include <string>

#include "fleet/model/identities.h"
#include "fleet/store/http2.h"

namespace fleet {

struct CertificateTime {
  UnixSeconds clock = 0;    // the time that this machine's clock shows
  UnixSeconds durable = 0;  // the last time written to disk; 0: never written
};

[[nodiscard]] UnixSeconds judging_time(const CertificateTime& time);
// Returns a text for people: the time that judging_time() returns, and whether it is the clock's
// time.
[[nodiscard]] std::string judging_words(const CertificateTime& time);

// Returns why no connection to the store may be tried now, or an empty text if it may be tried. If
// the machine's own certificate is not valid yet, the clock is certainly wrong, and no connection
// is tried.
[[nodiscard]] std::string why_too_early(const CertificateTime& time, const Validity& own);

// Returns the time to write to disk now, or no value if nothing needs to be written. Called when
// the store has answered. A time is written once an hour, and at once after a new certificate. The
// clock's time is not written if the machine's own certificate proves it wrong. The written time
// never decreases.
[[nodiscard]] std::optional<UnixSeconds> durable_from(const CertificateTime& time,
                                                      const std::optional<Validity>& own,
                                                      bool at_once);

// Converts the time to the content of the file, one line with the seconds since 1970, and back. For
// any other text, durable_of() returns 0.
[[nodiscard]] std::string durable_text(UnixSeconds time);
[[nodiscard]] UnixSeconds durable_of(const std::string& text);

// Keeps two times: the one with which this machine checks whether certificates have expired, and
// the latest known one in a file, which fleet-agent reads at its next start.
class CertificateClock {
 public:
  CertificateClock(std::string file, Certificates certificates);

  [[nodiscard]] CertificateTime time() const;
  // Returns the time with which to check the certificates of a new connection.
  [[nodiscard]] JudgingTime judge() const;

  // Writes the time to the file, but at most once an hour. Called when the store has answered.
  // Returns an empty text on success, or else the reason for the failure.
  std::string look() { return keep(false); }
  // Writes the time to the file at once. Called when the machine has got a new certificate.
  std::string certificate_stored() { return keep(true); }

 private:
  std::string keep(bool at_once);

  std::string file_;
  Certificates certificates_;
  UnixSeconds durable_;
};

}  // namespace fleet
