#include "fleet/signer/fleet_signer.h"

#include <csignal>
#include <ctime>
#include <utility>

#include "base/check.h"
#include "base/version.h"
#include "fleet/common/authority.h"
#include "fleet/common/certificate.h"
#include "fleet/common/identity.h"
#include "fleet/common/log_line.h"
#include "fleet/common/roles.h"
#include "fleet/common/text_file.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// The time between two searches for expired requests and tokens.
constexpr std::chrono::minutes sweep_time{1};
// Before this process exits, it waits at most this long until the store has erased its record.
constexpr std::chrono::milliseconds leave_time{2'000};

void log(const std::string& line) {
  log_line("fleet-signer", line);
}

// Returns whether the request already contains a valid certificate that this authority has signed
// for the machine. Then an earlier try to answer the request was interrupted before it published
// the certificate.
bool is_made(const JoinCase& one, const Signer& authority, UnixSeconds now) {
  const std::string& pem = one.request.certificate;
  if (pem.empty()) return false;
  const auto issued = issued_of(pem);
  return issued && was_signed(one, *issued, now) &&
         name_in(pem) == certificate_name(node_kind, one.request.node) &&
         is_signed_by(pem, authority.certificate);
}

}  // namespace

Result<Signer> authority_in(const SignerOptions& options) {
  for (const std::string& file : {options.signer, options.signer_key})
    if (const std::string why = why_unread(file); !why.empty()) return Refusal{why};
  Signer authority{content_of_file(options.signer), content_of_file(options.signer_key)};
  if (const std::string why = why_cannot_sign(authority); !why.empty()) return Refusal{why};
  const std::string other = why_other_authority(options.store.certificates, options.signer);
  if (!other.empty()) return Refusal{other};
  return authority;
}

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
          0)),
      since_(time_text()),
      own_key_(key_of(KeyKind::signer, {options_.name})),
      presence_(store_, timers_, own_key_, std::hash<std::string>()(options_.name)) {
  if (!options_.snapshots.empty()) {
    snapshots_ = std::make_unique<Snapshots>(
        timers_, store_.line(),
        Snapshots::Settings{.directory = options_.snapshots, .kept = options_.snapshots_kept},
        [this] { show(); });
  }
  show();
  UPGRADER_CHECK(signals_.begin(&loop_, {SIGTERM, SIGINT}, [this](int) { leave(); }));
  sweep();
}

int FleetSigner::run() {
  uv_run(&loop_, UV_RUN_DEFAULT);
  return 0;
}

void FleetSigner::take_changes(const Changes& changes) {
  pace_.copied(changes.revision);
  for (const Change& change : changes.changes) {
    change.erased ? queue_.take_absent(change.now.key) : queue_.take(change.now.key);
    if (leaving_ && change.erased && change.now.key == own_key_) return uv_stop(&loop_);
  }
  look();
}

void FleetSigner::show() {
  SignerAtWork state{.version = upgrader::upgrader_version, .since = since_};
  const auto validity = validity_of(content_of_file(options_.store.certificates.own));
  if (validity) state.certificate_ends = validity->until;
  if (snapshots_ != nullptr) {
    state.takes_snapshots = true;
    state.snapshot = snapshots_->taken();
    state.trouble = snapshots_->trouble();
  }
  presence_.show(write_record(state));
}

// Makes the store erase the record of this process, and then ends the process. Otherwise a stopped
// fleet-signer would seem to be at work until the lease of its record ends.
void FleetSigner::leave() {
  if (std::exchange(leaving_, true)) return;
  presence_.end();
  left_ = timers_.after(leave_time, [this] { uv_stop(&loop_); });
}

void FleetSigner::look() {
  if (leaving_ || busy_ || later_ != nullptr) return;
  if (mirror_ == nullptr || pace_.waits(mirror_->revision())) return;
  const auto request = queue_.next(mirror_->records(), std::time(nullptr));
  if (std::holds_alternative<std::monostate>(request)) return;
  // If this process cannot sign now, leave the request in the store: another fleet-signer may be
  // able to sign, or this one after a repair. A refusal would be final.
  const auto authority = authority_in(options_);
  if (!authority) return go_on_after(pace_.stuck("cannot sign: " + authority.reason()));
  if (const auto* one = std::get_if<JoinCase>(&request)) join(*one, authority.value());
  if (const auto* pending = std::get_if<PendingRenewal>(&request))
    renew(*pending, authority.value());
}

// ---- machines that join

void FleetSigner::join(const JoinCase& one, const Signer& authority) {
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
  if (is_made(one, authority, now))
    return admit(one, one.request.certificate, one.identity_revision);
  const JoinSigned& is_signed = std::get<JoinSigned>(decision);
  if (const std::string why = why_no_more(one, is_signed, now); !why.empty())
    return write(answer_join(one, JoinRefused{why}), who + ": refused: " + why);
  const Signed made = sign({.request = one.request.pem,
                            .signer = authority,
                            .name = certificate_name(node_kind, one.request.node),
                            .days = options_.days});
  if (made.error.empty() && made.issued.key == one.fingerprint) {
    const Transaction record =
        record_join(one, is_signed, made.certificate, made.issued, time_text(), now);
    return store_.commit(record, [this, one, pem = made.certificate](const Outcome& outcome) {
      const auto* committed = std::get_if<Committed>(&outcome);
      committed == nullptr ? go_on_later(outcome) : admit(one, pem, committed->revision);
    });
  }
  const std::string why = made.error.empty() ? "the request is for another key" : made.error;
  write(answer_join(one, JoinRefused{why}), who + ": refused: " + why);
}

// Makes the machine's user and role in the store, and then publishes the certificate. If this
// process is killed meanwhile, another process of fleet-signer continues, since the request and the
// certificate are in the store.
void FleetSigner::admit(const JoinCase& one, const std::string& pem, Revision recorded) {
  admin_.grant(permissions_of(std::string(node_kind), one.request.node),
               [this, one, pem, recorded](const std::optional<Trouble>& trouble) {
                 if (!trouble) return publish(one, pem, recorded);
                 const std::string why = "the user of " + one.request.node + ": " + trouble->reason;
                 const bool is_denied = trouble->kind == Trouble::Kind::denied;
                 go_on_later(is_denied ? Outcome{Denied{why}} : Outcome{Unknown{why}});
               });
}

// Publishes the certificate for the machine, by a record in the store, unless a person has revoked
// the machine's name meanwhile.
void FleetSigner::publish(const JoinCase& one, const std::string& pem, Revision recorded) {
  write(publish_join(one, pem, recorded),
        one.request.node + " (" + one.fingerprint + "): has joined");
}

void FleetSigner::shut_out(const JoinCase& one) {
  admin_.revoke(certificate_name(node_kind, one.request.node),
                [](const std::optional<Trouble>& trouble) {
                  if (trouble) log("the store does not remove a user: " + trouble->reason);
                });
}

// ---- renewal of nodes' certificates

void FleetSigner::renew(const PendingRenewal& pending, const Signer& authority) {
  busy_ = true;
  const UnixSeconds now = std::time(nullptr);
  const RenewalAnswer answer = answer_of(pending, authority, options_.days, now);
  write(answer_renewal(pending, answer, now),
        pending.node + (answer.error.empty() ? ": its certificate is renewed"
                                             : ": not renewed: " + answer.error));
}

// ---- removal of old requests, approvals and tokens

void FleetSigner::sweep() {
  sweep_ = timers_.after(sweep_time, [this] { sweep(); });
  // Old records are erased even in the pause after a denied write: a full store denies other
  // writes, but not erasures.
  if (busy_ || pace_.waits(mirror_->revision())) return;
  const Transaction transaction = forget_joins(mirror_->records(), std::time(nullptr));
  if (transaction.erases.empty()) return;
  busy_ = true;
  write(transaction,
        std::to_string(transaction.erases.size()) + " old requests and tokens removed");
}

void FleetSigner::write(const Transaction& transaction, const std::string& news) {
  store_.commit(transaction, [this, news](const Outcome& outcome) {
    const auto* committed = std::get_if<Committed>(&outcome);
    if (committed == nullptr) return go_on_later(outcome);
    log(news);
    go_on_at(committed->revision);
  });
}

void FleetSigner::go_on_at(Revision revision) {
  pace_.committed(revision);
  busy_ = false;
  look();
}

void FleetSigner::go_on_later(const Outcome& outcome) {
  queue_.failed();
  busy_ = false;
  go_on_after(pace_.failed(outcome));
}

void FleetSigner::go_on_after(const WritePace::Rest& rest) {
  if (!rest.line.empty()) log(rest.line);
  later_ = timers_.after(std::chrono::milliseconds(rest.pause), [this] {
    later_ = nullptr;
    look();
  });
}

}  // namespace fleet
