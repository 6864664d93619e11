// The time by which this machine judges certificates, with a file in which the last that was made
// durable stands.
#pragma once

#include <string>

#include "fleet/common/certificate_time.h"
#include "fleet/store/http2.h"

namespace fleet {

class CertificateClock {
 public:
  CertificateClock(std::string file, Certificates certificates);

  [[nodiscard]] CertificateTime time() const;
  // For a connection that is about to be made.
  [[nodiscard]] JudgingTime judge() const;

  // The store is reached: makes the time durable where that is due. Why it is not; empty: all is
  // well.
  std::string look() { return keep(false); }
  // A certificate has been stored.
  std::string certificate_stored() { return keep(true); }

 private:
  std::string keep(bool at_once);

  std::string file_;
  Certificates certificates_;
  UnixSeconds durable_;
};

}  // namespace fleet
