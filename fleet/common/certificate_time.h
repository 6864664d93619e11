// By which time a machine judges certificates: the later of its clock and the last time that was
// made durable. So a clock that has lost the time lets nothing in that has ended meanwhile, and
// does not keep the machine away from a store that it has reached before. Pure: who reads clocks
// and files is CertificateClock.
#pragma once

#include <optional>
#include <string>

#include "fleet/model/identities.h"

namespace fleet {

struct CertificateTime {
  UnixSeconds clock = 0;    // what this machine's clock shows
  UnixSeconds durable = 0;  // the last time that was made durable; 0: none was yet
};

[[nodiscard]] UnixSeconds judging_time(const CertificateTime& time);
// Which time that is, for people.
[[nodiscard]] std::string judging_words(const CertificateTime& time);

// Why the store is not asked at all: the machine's own certificate begins later, so that the clock
// is wrong for certain. An empty text: it may be asked.
[[nodiscard]] std::string why_too_early(const CertificateTime& time, const Validity& own);

// The time to be made durable now that the store has been reached; no value if none is. Once an
// hour, or, when a certificate has just been stored, at once. A clock that the machine's own
// certificate does not agree with is not believed: what is durable never goes back.
[[nodiscard]] std::optional<UnixSeconds> durable_from(const CertificateTime& time,
                                                      const std::optional<Validity>& own,
                                                      bool at_once);

// As a file has it: one line, seconds since 1970. Any other text reads as 0.
[[nodiscard]] std::string durable_text(UnixSeconds time);
[[nodiscard]] UnixSeconds durable_of(const std::string& text);

}  // namespace fleet
