// The time by which this machine judges certificates, and the file that keeps the last durable
// time.
#pragma once

#include <string>

#include "fleet/common/certificate_time.h"
#include "fleet/store/http2.h"

namespace fleet {

class CertificateClock {
 public:
  CertificateClock(std::string file, Certificates certificates);

  [[nodiscard]] CertificateTime time() const;
  // Returns the time for a connection that is about to be made.
  [[nodiscard]] JudgingTime judge() const;

  // Makes the time durable if it is due. Called when the store has been reached. Returns what
  // failed, or an empty text if all is well.
  std::string look() { return keep(false); }
  // Makes the time durable at once. Called when a certificate has been stored.
  std::string certificate_stored() { return keep(true); }

 private:
  std::string keep(bool at_once);

  std::string file_;
  Certificates certificates_;
  UnixSeconds durable_;
};

}  // namespace fleet
