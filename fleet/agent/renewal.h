// Renews the machine's certificate. Also keeps a time on disk, since the machine's clock may be
// slow, for example if the clock has no battery. The machine uses the later of two times to check
// whether a certificate is valid: the time of the clock, and the last time that was written to
// disk. So a machine with a slow clock refuses a certificate that expired before the written time.
// Such a machine also accepts a store's certificate that was valid at the written time, but is not
// valid yet by the clock.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "fleet/agent/component.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/store/http2.h"

namespace fleet {

struct CertificateTime {
  UnixSeconds clock = 0;    // the time that this machine's clock shows
  UnixSeconds durable = 0;  // the last time written to disk; 0: never written
};

[[nodiscard]] UnixSeconds judging_time(const CertificateTime& time);
// Returns the time from judging_time() as a text for people. The text says whether this is the time
// of the machine's clock or the last time that was written to disk.
[[nodiscard]] std::string judging_words(const CertificateTime& time);

// Returns why no connection to the store may be tried now, or an empty string if it may be tried.
// No connection is tried if the machine's own certificate is not valid yet, since the clock is
// certainly wrong then.
[[nodiscard]] std::string why_too_early(const CertificateTime& time, const Validity& own);

// Returns the time to write to disk now, or no value if nothing needs to be written. Called when
// the store has answered. A time is written once an hour, and immediately if `at_once` is true,
// which is the case after a new certificate was stored. The clock's time is not written if it lies
// outside the validity of the machine's own certificate. The written time never decreases.
[[nodiscard]] std::optional<UnixSeconds> durable_from(const CertificateTime& time,
                                                      const std::optional<Validity>& own,
                                                      bool at_once);

// Converts the last time that was written to disk (CertificateTime::durable) to the content of its
// file (durable_text()), and back (durable_of()). The content is one line with the seconds since
// 1970. For any other text, durable_of() returns 0.
[[nodiscard]] std::string durable_text(UnixSeconds time);
[[nodiscard]] UnixSeconds durable_of(const std::string& text);

// Returns the path of the file that keeps the machine's next certificate until that certificate is
// valid. The file lies beside the file `own`, the machine's own certificate.
[[nodiscard]] std::string next_beside(const std::string& own);

// Tells the time at which a certificate must be valid to be accepted by this machine. For this,
// reads the machine's clock, and keeps the latest known time in a file, which fleet-agent reads at
// its next start.
class CertificateClock {
 public:
  CertificateClock(std::string file, Certificates certificates);

  [[nodiscard]] CertificateTime time() const;
  // Keeps a new certificate that is not valid yet in the file next_beside(). Returns an empty
  // string on success, or else the reason for the failure.
  [[nodiscard]] std::string keep_next(const std::string& pem) const;
  // Returns the validity of the certificate that keep_next() has kept. Returns no value if there is
  // no such certificate, or if it does not belong to the machine's key.
  [[nodiscard]] std::optional<Validity> next() const;
  // Replaces the machine's certificate by the one that keep_next() has kept, if the kept one is
  // valid by now.
  void use_next() const;
  // Returns the time with which to check the certificates of a new connection. First calls
  // use_next(): if the node's own certificate has expired, the node can connect only with the
  // certificate that keep_next() has kept.
  [[nodiscard]] JudgingTime judge() const;

  // Writes the clock's time to the file, but at most once an hour. Called when the store has
  // answered. Returns an empty string on success, or else the reason for the failure.
  std::string look() { return keep(false); }
  // Writes the clock's time to the file, even if the last write was less than an hour ago. Called
  // after a new certificate was stored.
  std::string certificate_stored() { return keep(true); }

 private:
  std::string keep(bool at_once);

  std::string file_;
  Certificates certificates_;
  UnixSeconds durable_;
};

// Renews the certificate. When two thirds of the certificate's life are over, writes a request for
// a new certificate into the store. When fleet-signer has answered, writes the new certificate to
// its file. The private key never leaves the machine, and is not renewed. Also makes
// CertificateClock write the current time to disk.
class Renewal {
 public:
  Renewal(NodeDesk& desk, Certificates files, CertificateClock& clock);

  // Looks in the local copy of the records for the answer to a request, and checks whether a new
  // request is due. Called only while this process is the node's active fleet-agent.
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
