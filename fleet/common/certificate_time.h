// Decides by which time a machine checks whether certificates have expired: that of its clock, or
// the last time that was written to disk, whichever is later. So if the clock is wrong and behind,
// an expired certificate is still refused, and the machine still reaches a store that it has
// reached before, whose certificates were valid at the written time. Only CertificateClock reads
// clock and file; all else is pure.
#pragma once

#include <optional>
#include <string>

#include "fleet/model/identities.h"
#include "fleet/store/http2.h"

namespace fleet {

struct CertificateTime {
  UnixSeconds clock = 0;    // the time that this machine's clock shows
  UnixSeconds durable = 0;  // the last time written to disk; 0 if none was
};

[[nodiscard]] UnixSeconds judging_time(const CertificateTime& time);
// Returns a text for people with the time that judging_time() returns, and whether this is the time
// of the clock.
[[nodiscard]] std::string judging_words(const CertificateTime& time);

// Returns why no connection to the store may be tried now, or an empty text if one may. If the
// machine's own certificate is not valid yet, the clock is certainly wrong.
[[nodiscard]] std::string why_too_early(const CertificateTime& time, const Validity& own);

// Called when the store has answered. Returns the time to write to disk now, or no value if no
// write is needed. A time is written once an hour, and at once after a new certificate. If the
// clock contradicts the machine's own certificate, its time is not written. The written time never
// goes back.
[[nodiscard]] std::optional<UnixSeconds> durable_from(const CertificateTime& time,
                                                      const std::optional<Validity>& own,
                                                      bool at_once);

// Returns the time as it is in the file: one line with the seconds since 1970. durable_of() returns
// 0 for any other text.
[[nodiscard]] std::string durable_text(UnixSeconds time);
[[nodiscard]] UnixSeconds durable_of(const std::string& text);

// Keeps the time by which this machine checks whether certificates have expired, and the file with
// the latest known time, which fleet-agent reads at its next start.
class CertificateClock {
 public:
  CertificateClock(std::string file, Certificates certificates);

  [[nodiscard]] CertificateTime time() const;
  // Returns the time for checking the certificates of a new connection.
  [[nodiscard]] JudgingTime judge() const;

  // Writes the time to the file, but at most once an hour. Called when the store has answered.
  // Returns the reason for a failure, or an empty text.
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
