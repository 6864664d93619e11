// Renews the machine's certificate. Also keeps a time on disk, since the machine's clock may be
// slow, for example without a battery. The machine checks certificates with the later of two times:
// the clock's and the one on disk. So even with a slow clock, it refuses a certificate that had
// expired at the time on disk, and accepts a store's certificate that was valid at that time.
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
// Returns the time from judging_time() as a text for people, which also says whether it is from the
// clock or from the disk.
[[nodiscard]] std::string judging_words(const CertificateTime& time);

// Returns why no connection to the store may be tried now, or an empty string. The reason is a
// certificate of this machine that is not valid yet, which shows that the clock is wrong.
[[nodiscard]] std::string why_too_early(const CertificateTime& time, const Validity& own);

// Returns the time to write to disk, or no value if there is nothing to write. Called when the
// store has answered. Writes are due once an hour, or immediately if `at_once` is true, after a new
// certificate was stored. A time outside of the own certificate's validity is not written, and the
// written time never decreases.
[[nodiscard]] std::optional<UnixSeconds> durable_from(const CertificateTime& time,
                                                      const std::optional<Validity>& own,
                                                      bool at_once);

// These functions convert CertificateTime::durable to the content of its file (one line with the
// seconds since 1970), and back. durable_of() returns 0 for any other text.
[[nodiscard]] std::string durable_text(UnixSeconds time);
[[nodiscard]] UnixSeconds durable_of(const std::string& text);

// Returns the path of the file in which the machine's next certificate waits until it is valid. It
// lies beside the current certificate's file `own`.
[[nodiscard]] std::string next_beside(const std::string& own);

// Tells the time with which this machine checks certificates: the clock's, or a later one that is
// kept in a file across restarts.
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
  // Replaces the machine's certificate by the one that keep_next() has stored, if that one is
  // already valid.
  void use_next() const;
  // Returns the time with which to check the certificates of a new connection. Calls use_next()
  // before, since the own certificate may have expired meanwhile.
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

// Renews the certificate. When two thirds of its life are over, writes a request for a new one into
// the store. fleet-signer answers, and the new certificate is written to its file. The private key
// stays the same, and never leaves the machine. Also makes CertificateClock write the time to disk.
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
