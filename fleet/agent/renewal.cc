#include "fleet/agent/renewal.h"

#include <ctime>
#include <utility>

#include "fleet/agent/certificate.h"
#include "fleet/agent/text_file.h"

namespace fleet {
namespace {

// Between two looks at the certificate; also behind a request that was refused.
constexpr std::chrono::hours look_interval{1};

}  // namespace

Renewal::Renewal(NodeDesk& desk, Certificates files) : desk_(desk), files_(std::move(files)) {}

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
  if (asked_) return;
  const auto validity = validity_of(content_of_file(files_.own));
  if (validity && is_renewal_due(*validity, std::time(nullptr))) ask(content_of_file(files_.key));
}

void Renewal::ask(const std::string& key_text) {
  const std::string request = request_for(certificate_name(node_kind, desk_.node), key_text);
  if (request.empty()) return desk_.log(files_.key + ": no request can be made with it");
  desk_.log("two thirds of the certificate's life are over: asks for the next");
  asked_ = true;
  desk_.records.want(key(KeyKind::node_csr), write_record(CertificateRequest{.pem = request}));
}

// An answer that this process has not asked for may be one of before: it counts if it is better.
void Renewal::take(const NodeCertificate& answer) {
  desk_.records.forget(key(KeyKind::node_csr));
  const bool is_ours = std::exchange(asked_, false);
  if (answer.error.empty()) return put_in_place(answer.pem);
  if (is_ours) desk_.log("the certificate is not renewed: " + answer.error);
}

// The next connection is made with it.
void Renewal::put_in_place(const std::string& pem) {
  const auto before = validity_of(content_of_file(files_.own));
  const auto fresh = validity_of(pem);
  if (before && fresh && fresh->until <= before->until) return;
  const std::string name = certificate_name(node_kind, desk_.node);
  std::string why = why_not_usable(pem, name, content_of_file(files_.key));
  if (why.empty()) why = replace_file(files_.own, pem);
  desk_.log(why.empty() ? "the certificate is renewed" : "the certificate is not renewed: " + why);
}

}  // namespace fleet
