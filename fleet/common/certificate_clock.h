// Keeps the time by which this machine checks whether certificates have expired
// (certificate_time.h), and the file with the latest known time, which fleet-agent reads at its
// next start.
#pragma once

#include <string>

#include "fleet/common/certificate_time.h"
#include "fleet/store/http2.h"

namespace fleet {

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
