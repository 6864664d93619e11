#include "fleet/agent/renewal.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <utility>

#include "fleet/common/certificate.h"
#include "fleet/common/identity.h"
#include "fleet/common/text_file.h"

namespace fleet {
namespace {

constexpr UnixSeconds between_writes = 3'600;

// The certificate is not secret, so everybody may read its file.
constexpr unsigned int certificate_mode = 0644;

// Returns the time in the file, or 0 if the file is absent or cannot be read.
UnixSeconds kept_in(const std::string& file) {
  const auto text = content_of_regular_file(file);
  return text ? durable_of(text.value().value_or("")) : 0;
}

}  // namespace

UnixSeconds judging_time(const CertificateTime& time) {
  return std::max(time.clock, time.durable);
}

std::string judging_words(const CertificateTime& time) {
  return time_text_of(judging_time(time)) + (time.durable > time.clock
                                                 ? ", the last time that was kept here"
                                                 : ", which this machine's clock shows");
}

std::string why_too_early(const CertificateTime& time, const Validity& own) {
  if (own.from <= judging_time(time)) return "";
  return "this machine's certificate begins at " + time_text_of(own.from) + ", after " +
         judging_words(time) + ": waits until the clock is set";
}

std::optional<UnixSeconds> durable_from(const CertificateTime& time,
                                        const std::optional<Validity>& own, bool at_once) {
  const UnixSeconds now = time.clock;
  if (!own || now < own->from || now >= own->until) return std::nullopt;
  if (now < time.durable + (at_once ? 1 : between_writes)) return std::nullopt;
  return now;
}

std::string durable_text(UnixSeconds time) {
  return std::to_string(time) + "\n";
}

UnixSeconds durable_of(const std::string& text) {
  UnixSeconds time = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, time);
  const bool is_whole = read.ec == std::errc() && read.ptr + 1 == end && *read.ptr == '\n';
  return is_whole ? std::max<UnixSeconds>(time, 0) : 0;
}

CertificateClock::CertificateClock(std::string file, Certificates certificates)
    : file_(std::move(file)), certificates_(std::move(certificates)), durable_(kept_in(file_)) {}

CertificateTime CertificateClock::time() const {
  return {.clock = std::time(nullptr), .durable = durable_};
}

std::optional<Validity> CertificateClock::next() const {
  if (certificates_.own.empty()) return std::nullopt;
  const std::string pem = content_of_file(next_beside(certificates_.own));
  if (pem.empty()) return std::nullopt;
  const std::string name = name_in(pem).value_or("");
  const bool is_usable = why_not_usable(pem, name, content_of_file(certificates_.key)).empty();
  return is_usable ? validity_of(pem) : std::nullopt;
}

std::string CertificateClock::keep_next(const std::string& pem) const {
  return replace_file(next_beside(certificates_.own), pem, certificate_mode);
}

// Replaces the machine's certificate by the next one, which keep_next() has stored in a file, if
// the next one is already valid. If the next one would expire no later than the current one,
// removes the next one instead.
void CertificateClock::use_next() const {
  const auto coming = next();
  if (!coming || !why_too_early(time(), *coming).empty()) return;
  const std::string file = next_beside(certificates_.own);
  const auto own = validity_of(content_of_file(certificates_.own));
  const bool is_needed = !own || own->until < coming->until;
  is_needed ? std::rename(file.c_str(), certificates_.own.c_str()) : ::unlink(file.c_str());
}

JudgingTime CertificateClock::judge() const {
  use_next();
  const CertificateTime now = time();
  const auto own = validity_of(content_of_file(certificates_.own));
  return {.seconds = judging_time(now),
          .words = judging_words(now),
          .wait = own ? why_too_early(now, *own) : ""};
}

// Writes the time to the file. Reads the file first: during an upgrade, another process of
// fleet-agent may have written a later time.
std::string CertificateClock::keep(bool at_once) {
  durable_ = std::max(durable_, kept_in(file_));
  const auto fresh = durable_from(time(), validity_of(content_of_file(certificates_.own)), at_once);
  if (!fresh) return "";
  if (const std::string why = replace_file(file_, durable_text(*fresh), 0600); !why.empty())
    return why;
  durable_ = *fresh;
  return "";
}

std::string next_beside(const std::string& own) {
  return own + ".next";
}

// ---- the renewal of the certificate

namespace {

// How often to check whether the certificate must be renewed. After a refusal, the next check makes
// a new request.
constexpr std::chrono::hours look_interval{1};

}  // namespace

Renewal::Renewal(NodeDesk& desk, Certificates files, CertificateClock& clock)
    : desk_(desk), files_(std::move(files)), clock_(clock) {}

void Renewal::look() {
  if (files_.own.empty()) return;
  const KeyValue* answer = desk_.mirror.find(key(KeyKind::node_certificate));
  if (answer != nullptr && answer->modified != answered_) {
    answered_ = answer->modified;
    if (const auto read = desk_.find<NodeCertificate>(answer->key)) take(*read);
  }
  if (later_ == nullptr) examine();
}

void Renewal::examine() {
  later_ = desk_.timers.after(look_interval, [this] {
    later_ = nullptr;
    if (desk_.active == 0) return;
    look();
    desk_.records.look();
  });
  // If the store answers, the clock is about right: otherwise this machine would have refused the
  // store's certificate. So write the clock's time to disk only then.
  if (desk_.mirror.follows()) tell(clock_.look());
  clock_.use_next();
  if (asked_) return;
  const auto validity = validity_of(content_of_file(files_.own));
  if (!validity || !is_renewal_due(*validity, judging_time(clock_.time()))) return;
  // Make no request if the node already has its next certificate, and the next one becomes valid
  // before the current one expires.
  const auto next = clock_.next();
  if (!next || next->from >= validity->until) ask(content_of_file(files_.key));
}

void Renewal::tell(const std::string& trouble) const {
  if (!trouble.empty()) desk_.log(trouble);
}

void Renewal::ask(const std::string& key_text) {
  const std::string request = request_for(certificate_name(node_kind, desk_.node), key_text);
  if (request.empty()) return desk_.log(files_.key + ": no request can be made with it");
  desk_.log("two thirds of the certificate's life are over: asks for the next");
  asked_ = true;
  desk_.records.want(
      key(KeyKind::node_csr),
      write_record(CertificateRequest{.pem = request, .certificate = content_of_file(files_.own)}));
}

// Handles the answer to a request for a new certificate. Logs a refusal only if this process has
// made the request: otherwise an earlier process may have logged the refusal already.
void Renewal::take(const NodeCertificate& answer) {
  desk_.records.forget(key(KeyKind::node_csr));
  const bool is_ours = std::exchange(asked_, false);
  if (answer.error.empty()) return put_in_place(answer.pem);
  if (is_ours) desk_.log("the certificate is not renewed: " + answer.error);
}

// Stores a new certificate for the next connection to the store. If the clock of this node or of
// the signer is wrong, the new certificate may not be valid yet, and the node could not connect
// with it. The certificate then waits in a file of its own (next_beside()). Ignores a certificate
// that expires no later than the current one.
void Renewal::put_in_place(const std::string& pem) {
  const auto before = validity_of(content_of_file(files_.own));
  const auto fresh = validity_of(pem);
  if (before && fresh && fresh->until <= before->until) return;
  const std::string name = certificate_name(node_kind, desk_.node);
  std::string why = why_not_usable(pem, name, content_of_file(files_.key));
  const std::string early = why.empty() && fresh ? why_too_early(clock_.time(), *fresh) : "";
  if (!early.empty()) {
    why = clock_.keep_next(pem);
    return desk_.log("the certificate is renewed later: " + (why.empty() ? early : why));
  }
  if (why.empty()) why = replace_file(files_.own, pem, certificate_mode);
  desk_.log(why.empty() ? "the certificate is renewed" : "the certificate is not renewed: " + why);
  if (!why.empty()) return;
  tell(clock_.certificate_stored());
}

}  // namespace fleet
