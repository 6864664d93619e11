// Keeps the machine's certificate valid. When two thirds of the certificate's life are over, writes
// a request for a new certificate into the store, and later the new certificate to its file. The
// key never leaves the machine, and stays the same. Also makes CertificateClock write the present
// time to disk. If the machine's clock is wrong later, the machine uses that time to check
// certificates.
#pragma once

#include <memory>
#include <string>

#include "fleet/agent/component.h"
#include "fleet/common/certificate_time.h"
#include "fleet/store/http2.h"

namespace fleet {

class Renewal {
 public:
  Renewal(NodeDesk& desk, Certificates files, CertificateClock& clock);

  // Looks in the local copy of the records for the answer to a request, and checks whether a new
  // request is due. Called only while the node is active.
  void look();

 private:
  void examine();
  void tell(const std::string& trouble) const;
  void ask(const std::string& key);
  void take(const NodeCertificate& answer);
  void put_in_place(const std::string& pem);
  [[nodiscard]] std::string key(KeyKind kind) const { return key_of(kind, {desk_.node}); }

  NodeDesk& desk_;
  Certificates files_;
  CertificateClock& clock_;
  bool asked_ = false;
  Revision answered_ = 0;  // the revision of the last answer that was handled
  std::unique_ptr<Timer> later_;
};

}  // namespace fleet
