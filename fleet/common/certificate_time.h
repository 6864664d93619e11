// The time by which a machine judges certificates: the later of its clock and the last time that
// was made durable. So a clock that is behind does not let in a certificate that has ended, and
// does not keep the machine away from a store that it has reached before. Pure: CertificateClock
// reads clock and file.
#pragma once

#include <optional>
#include <string>

#include "fleet/model/identities.h"

namespace fleet {

struct CertificateTime {
  UnixSeconds clock = 0;    // what this machine's clock shows
  UnixSeconds durable = 0;  // the last time that was made durable; 0 if none was yet
};

[[nodiscard]] UnixSeconds judging_time(const CertificateTime& time);
// Returns for people the time by which certificates are judged, and where it comes from.
[[nodiscard]] std::string judging_words(const CertificateTime& time);

// Returns why the store is not asked at all, or an empty text if it may be asked: if the machine's
// own certificate begins later, the clock is certainly wrong.
[[nodiscard]] std::string why_too_early(const CertificateTime& time, const Validity& own);

// Called when the store has been reached. Returns the time that is to be written to the file now,
// or no value if nothing is to be written. A time is written once an hour, and at once when a
// certificate has been stored. A clock that contradicts the machine's own certificate is not
// believed, and the durable time never goes back.
[[nodiscard]] std::optional<UnixSeconds> durable_from(const CertificateTime& time,
                                                      const std::optional<Validity>& own,
                                                      bool at_once);

// Returns the time as a file has it: one line, seconds since 1970. durable_of() reads any other
// text as 0.
[[nodiscard]] std::string durable_text(UnixSeconds time);
[[nodiscard]] UnixSeconds durable_of(const std::string& text);

}  // namespace fleet
