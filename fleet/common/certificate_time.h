// Decides by which time a machine checks whether certificates have expired: that of its clock, or
// the last time that was written to disk, whichever is later. So if the clock is wrong and behind,
// an expired certificate is still refused, and the machine still reaches a store that it has
// reached before, whose certificates were valid at the written time. Pure: CertificateClock reads
// clock and file.
#pragma once

#include <optional>
#include <string>

#include "fleet/model/identities.h"

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

}  // namespace fleet
