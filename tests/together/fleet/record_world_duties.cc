// Runs the duties of controllers and of fleet-signer on the random records of a RecordWorld:
// notices to a webhook, sources of releases, renewal of certificates, and machines that join. Also
// checks that each written record can be read again.
#include <array>

#include "fleet/model/chronicle.h"
#include "fleet/model/identities.h"
#include "fleet/model/joining.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"
#include "fleet/model/record_tree.h"
#include "tests/together/fleet/record_world.h"

namespace fleet_test {
namespace {

using namespace fleet;

constexpr int steps_max = 200;

template <class Record>
std::string refusal_of(const std::string& value) {
  const auto read = read_record<Record>(value);
  return read ? "" : read.reason();
}

using Reader = std::string (*)(const std::string&);
// For each kind of record, the function that reads it, in the order of KeyKind.
constexpr auto readers = std::to_array<Reader>({
    &refusal_of<NodeInfo>,
    &refusal_of<Versions>,
    &refusal_of<Instance>,
    &refusal_of<Active>,
    &refusal_of<Upgrade>,
    &refusal_of<Desired>,
    &refusal_of<Command>,
    &refusal_of<Answer>,
    &refusal_of<Claim>,
    &refusal_of<CertificateRequest>,
    &refusal_of<NodeCertificate>,
    &refusal_of<PlanMember>,
    &refusal_of<NodeHealth>,
    &refusal_of<ControlWatch>,
    &refusal_of<Desired>,
    &refusal_of<Release>,
    &refusal_of<Rollout>,
    &refusal_of<RolloutBatch>,
    &refusal_of<RolloutNode>,
    &refusal_of<RolloutJudge>,
    &refusal_of<Plan>,
    &refusal_of<PlanPlace>,
    &refusal_of<Once>,
    &refusal_of<DriverRecord>,
    &refusal_of<Window>,
    &refusal_of<Stop>,
    &refusal_of<Epoch>,
    &refusal_of<Settings>,
    &refusal_of<FleetEvent>,
    &refusal_of<FleetEvent>,
    &refusal_of<PastRun>,
    &refusal_of<Notified>,
    &refusal_of<Identity>,
    &refusal_of<Token>,
    &refusal_of<JoinRequest>,
    &refusal_of<Approval>,
    &refusal_of<SignerAtWork>,
    &refusal_of<BudgetPlace>,
    &refusal_of<ControllerAtWork>,
    &refusal_of<ControllerAtWork>,
});
static_assert(readers.size() == static_cast<std::size_t>(KeyKind::controller_life) + 1);

}  // namespace

std::string why_unreadable(const std::string& key, const std::string& value) {
  const auto parsed = parse_key(key);
  if (!parsed) return "which is no key of a record";
  return readers[static_cast<std::size_t>(parsed->kind)](value);
}

void RecordWorld::tell_people() {
  for (int i = 0; i < steps_max; ++i) {
    const auto step = notices_.next(records(), true, now_);
    if (std::holds_alternative<Notices::Rest>(step)) return;
    if (const auto* post = std::get_if<Notices::Post>(&step)) {
      if (const std::string wrong = wrong_json(post->body); !wrong.empty()) {
        is_wrong("a notice " + wrong);
      }
      notices_.posted(maker_.below(4) > 0, now_);
    } else {
      static_cast<void>(commit(std::get<Transaction>(step), "the notices"));
      notices_.written();
    }
  }
  is_wrong("notices never rest");
}

void RecordWorld::watch_releases() {
  const std::string driver = key_of(KeyKind::driver, {events_id});
  store_.put(driver, "{}");
  const Revision fence = store_.find(driver)->created;
  for (int i = 0; i < steps_max; ++i) {
    const auto step =
        watcher_.next(records(), {.fence = fence, .now = now_, .time = "now", .trace = "w"});
    if (std::holds_alternative<ReleaseWatcher::Rest>(step)) break;
    if (std::holds_alternative<ReleaseWatcher::AskSource>(step)) {
      JsonTree entry{.kind = JsonTree::Kind::object};
      entry.members["tag"] = json_text(maker_.below(2) == 0 ? "r-2.0.0" : maker_.odd_text());
      entry.members["manifests"] = json_texts({maker_.odd_text() + "m"});
      JsonTree index{.kind = JsonTree::Kind::object};
      index.members["releases"] = {.kind = JsonTree::Kind::array, .elements = {entry}};
      static_cast<void>(watcher_.source_said(records(), write_tree(index)));
    } else if (std::holds_alternative<ReleaseWatcher::AskManifests>(step)) {
      const Release release{.manifests = {{"amd64", maker_.odd_text(), "s", maker_.odd_text()}},
                            .digest = "digest"};
      static_cast<void>(watcher_.manifests_came(release));
    } else {
      static_cast<void>(
          commit(std::get<ReleaseWatcher::Order>(step).transaction, "the release watch"));
      watcher_.written();
    }
  }
  store_.erase(driver);
}

void RecordWorld::renew_certificates() {
  for (const PendingRenewal& pending : pending_renewals(records())) {
    const UnixSeconds now = now_ / 1'000;
    const std::string why = why_not_renewed(pending, now);
    const RenewalAnswer answer =
        why.empty() ? RenewalAnswer{.pem = "-----BEGIN", .issued = {"0B", now, now + 1}}
                    : RenewalAnswer{.error = why + maker_.odd_text()};
    static_cast<void>(commit(answer_renewal(pending, answer, now), std::string(signer)));
  }
}

void RecordWorld::let_machines_join() {
  const UnixSeconds now = now_ / 1'000;
  const std::string who(signer);
  for (int i = 0; const auto one = next_join(records(), now); ++i) {
    if (i == steps_max) return is_wrong("machines never cease to join");
    const JoinDecision decision = decide_join(*one, now);
    const auto* to_sign = std::get_if<JoinSigned>(&decision);
    if (to_sign == nullptr) {
      static_cast<void>(commit(answer_join(*one, decision), who));
      continue;
    }
    const IssuedCertificate issued{"0C", now, now + 1, false, one->fingerprint};
    const Outcome recorded =
        commit(record_join(*one, *to_sign, "-----BEGIN", issued, "now", now), who);
    const auto* committed = std::get_if<Committed>(&recorded);
    if (committed == nullptr) return is_wrong("a join is not recorded");
    const Outcome published = commit(publish_join(*one, "-----BEGIN", committed->revision), who);
    if (!std::holds_alternative<Committed>(published)) return is_wrong("a join is not published");
  }
  static_cast<void>(commit(forget_joins(records(), now), who));
}

}  // namespace fleet_test
