#include "fleet/signer/fleet_signer.h"

#include <csignal>
#include <ctime>
#include <utility>

#include "base/check.h"
#include "fleet/common/identity.h"
#include "fleet/common/log_line.h"
#include "fleet/common/renewal_answer.h"
#include "fleet/common/roles.h"
#include "fleet/common/text_file.h"
#include "fleet/model/keys.h"

namespace fleet {
namespace {

// The pause after a write with an unknown outcome, and after a failed question.
constexpr std::chrono::milliseconds pause_time{500};
// The time between two searches for requests and tokens that are too old.
constexpr std::chrono::minutes sweep_time{1};

void log(const std::string& line) {
  log_line("fleet-signer", line);
}

}  // namespace

FleetSigner::FleetSigner(uv_loop_t& loop, SignerOptions options)
    : loop_(loop),
      options_(std::move(options)),
      timers_(loop),
      store_(loop,
             {.endpoints = options_.store.endpoints, .certificates = options_.store.certificates}),
      admin_(store_.line()),
      mirror_(std::make_unique<Mirror>(
          store_, timers_, Keys{std::string(key_root), true},
          Mirror::Observer{
              .changed = [this](const Changes& changes) { take_changes(changes); },
              .troubled = [](const Trouble& trouble) { log("the store: " + trouble.reason); }},
          0)) {
  signals_.push_back(end_at(SIGTERM));
  signals_.push_back(end_at(SIGINT));
  sweep();
}

int FleetSigner::run() {
  uv_run(&loop_, UV_RUN_DEFAULT);
  return 0;
}

upgrader::UvHandle<uv_signal_t> FleetSigner::end_at(int signal) {
  auto handle = upgrader::make_handle<uv_signal_t>(
      [this](uv_signal_t* fresh) { return uv_signal_init(&loop_, fresh); });
  UPGRADER_CHECK(handle != nullptr);
  handle->data = this;
  const auto caught = [](uv_signal_t* which, int) {
    uv_stop(&static_cast<FleetSigner*>(which->data)->loop_);
  };
  UPGRADER_CHECK(uv_signal_start(handle.get(), caught, signal) == 0);
  return handle;
}

void FleetSigner::take_changes(const Changes& changes) {
  for (const Change& change : changes.changes) {
    change.erased ? renewals_.take_absent(change.now.key) : renewals_.take(change.now.key);
  }
  look();
}

void FleetSigner::look() {
  if (busy_ || mirror_ == nullptr || mirror_->revision() < awaited_) return;
  if (const auto one = next_join(mirror_->records(), std::time(nullptr))) return join(*one);
  if (const auto pending = renewals_.first(mirror_->records())) return renew(*pending);
}

Signer FleetSigner::authority() const {
  return {content_of_file(options_.signer), content_of_file(options_.signer_key)};
}

// ---- machines that join

void FleetSigner::join(const JoinCase& one) {
  busy_ = true;
  const UnixSeconds now = std::time(nullptr);
  const std::string who = one.request.node + " (" + one.fingerprint + ")";
  const JoinDecision decision = decide_join(one, now);
  if (const auto* waits = std::get_if<JoinWaits>(&decision)) {
    if (waits->shuts_out) shut_out(one);
    return write(answer_join(one, decision), who + ": waits for approval");
  }
  if (const auto* refused = std::get_if<JoinRefused>(&decision))
    return write(answer_join(one, decision), who + ": refused: " + refused->why);
  const Signed made = sign({.request = one.request.pem,
                            .signer = authority(),
                            .name = certificate_name(node_kind, one.request.node),
                            .days = options_.days});
  if (made.error.empty() && made.issued.key == one.fingerprint) {
    const Transaction record =
        record_join(one, std::get<JoinSigned>(decision), made.issued, time_text(), now);
    return store_.commit(record, [this, one, made](const Outcome& outcome) {
      const auto* committed = std::get_if<Committed>(&outcome);
      committed == nullptr ? go_on_later() : admit(one, made, committed->revision);
    });
  }
  const std::string why = made.error.empty() ? "the request is for another key" : made.error;
  write(answer_join(one, JoinRefused{why}), who + ": refused: " + why);
}

// Makes the machine's user and role in the store. If this process ends here, the request stays in
// the store. The next process then signs again for the same key, which counts as the same use of
// the token.
void FleetSigner::admit(const JoinCase& one, const Signed& made, Revision recorded) {
  admin_.grant(permissions_of(std::string(node_kind), one.request.node),
               [this, one, made, recorded](const std::optional<Trouble>& trouble) {
                 if (!trouble) return publish(one, made.certificate, recorded);
                 log(one.request.node + ": the store does not make its user: " + trouble->reason);
                 go_on_later();
               });
}

// Gives the certificate to the machine, unless somebody has revoked its name by now.
void FleetSigner::publish(const JoinCase& one, const std::string& pem, Revision recorded) {
  write(publish_join(one, pem, recorded),
        one.request.node + " (" + one.fingerprint + "): has joined");
}

// Removes the store's user with the name that the request asks for.
void FleetSigner::shut_out(const JoinCase& one) {
  admin_.revoke(certificate_name(node_kind, one.request.node),
                [](const std::optional<Trouble>& trouble) {
                  if (trouble) log("the store does not remove a user: " + trouble->reason);
                });
}

// ---- certificates that are renewed

void FleetSigner::renew(const PendingRenewal& pending) {
  busy_ = true;
  const UnixSeconds now = std::time(nullptr);
  const RenewalAnswer answer = answer_of(pending, authority(), options_.days, now);
  write(answer_renewal(pending, answer, now),
        pending.node + (answer.error.empty() ? ": its certificate is renewed"
                                             : ": not renewed: " + answer.error));
}

// ---- care for the records

void FleetSigner::sweep() {
  sweep_ = timers_.after(sweep_time, [this] { sweep(); });
  if (busy_ || mirror_->revision() < awaited_) return;
  const Transaction transaction = forget_joins(mirror_->records(), std::time(nullptr));
  if (transaction.erases.empty()) return;
  busy_ = true;
  write(transaction,
        std::to_string(transaction.erases.size()) + " old requests and tokens removed");
}

void FleetSigner::write(const Transaction& transaction, const std::string& news) {
  store_.commit(transaction, [this, news](const Outcome& outcome) {
    const auto* committed = std::get_if<Committed>(&outcome);
    if (committed == nullptr) return go_on_later();
    log(news);
    go_on_at(committed->revision);
  });
}

void FleetSigner::go_on_at(Revision revision) {
  awaited_ = revision;
  busy_ = false;
  look();
}

void FleetSigner::go_on_later() {
  later_ = timers_.after(pause_time, [this] {
    busy_ = false;
    look();
  });
}

}  // namespace fleet
