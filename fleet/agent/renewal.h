// Keeps the machine's certificate good: asks for the next one when two thirds of its life are over,
// by a request below the node's own records, and puts in place what came of that. The key stays the
// machine's, and the same. And keeps the time by which certificates are judged.
#pragma once

#include <memory>
#include <string>

#include "fleet/agent/component.h"
#include "fleet/common/certificate_clock.h"
#include "fleet/store/http2.h"

namespace fleet {

class Renewal {
 public:
  Renewal(NodeDesk& desk, Certificates files, CertificateClock& clock);

  // The mirror has changed, and this node acts.
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
  Revision answered_ = 0;  // the last answer that was looked at
  std::unique_ptr<Timer> later_;
};

}  // namespace fleet
