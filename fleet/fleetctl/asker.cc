#include "fleet/fleetctl/asker.h"

#include <signal.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/check.h"
#include "fleet/common/certificate.h"
#include "fleet/common/identity.h"
#include "fleet/common/text_file.h"
#include "fleet/model/records/keys.h"
#include "fleet/store/uv_timers.h"

namespace fleetctl {
namespace {

constexpr std::chrono::milliseconds deadline{5'000};
// The time limit for a member's answer about its own state. Requests that any member may answer
// have the longer limit `deadline`.
constexpr std::chrono::milliseconds member_deadline{2'000};
constexpr std::chrono::milliseconds rest_time{500};

// Returns the key without the prefix that all keys have, for messages to people.
std::string name_in_words(const std::string& key) {
  const std::string name =
      key.starts_with(fleet::key_root) ? key.substr(fleet::key_root.size()) : key;
  return name.empty() ? "the records of the cell" : name;
}

// Returns what a transaction does, for an error message. Names only its first record.
std::string deed_of(const fleet::Transaction& transaction) {
  if (!transaction.puts.empty()) return "write " + name_in_words(transaction.puts.front().key);
  if (!transaction.erases.empty()) return "erase " + name_in_words(transaction.erases.front().key);
  return "write";
}

}  // namespace

Asker::Asker(const Options& options) : options_(options) {
  UPGRADER_CHECK(loop_.error() == 0);
  etcd_ = open(options_.store.endpoints, deadline);
  store_ = etcd_.get();
}

Asker::Asker(const Options& options, const OpenStore& open_store) : options_(options) {
  UPGRADER_CHECK(loop_.error() == 0);
  other_ = open_store(*loop_.get());
  store_ = other_.get();
}

std::unique_ptr<fleet::EtcdStore> Asker::open(std::vector<std::string> endpoints,
                                              std::chrono::milliseconds limit) {
  return std::make_unique<fleet::EtcdStore>(
      *loop_.get(), fleet::EtcdStore::Settings{.endpoints = std::move(endpoints),
                                               .certificates = options_.store.certificates,
                                               .deadline = limit});
}

template <class Value, class Ask>
Value Asker::answer_to(const Ask& ask) {
  std::optional<Value> answer;
  ask([&answer](Value value) { answer = std::move(value); });
  while (!answer) {
    UPGRADER_CHECK(uv_run(loop_.get(), UV_RUN_ONCE) != 0 || answer);
  }
  return *std::move(answer);
}

fleet::Trouble Asker::explained(fleet::Trouble trouble, const std::string& deed) const {
  const fleet::Certificates& own = options_.store.certificates;
  if (trouble.kind == fleet::Trouble::Kind::denied) {
    trouble.reason = why_denied(own, deed, trouble.reason);
    return trouble;
  }
  std::string why = why_not_asked(options_.store.endpoints, own);
  if (why.empty()) why = why_not_let_in(own, std::time(nullptr));
  if (!why.empty()) trouble.reason = why + " (" + trouble.reason + ")";
  return trouble;
}

template <class Value>
fleet::Reply<Value> Asker::explained(fleet::Reply<Value> reply, const std::string& deed) const {
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return explained(*trouble, deed);
  return reply;
}

std::optional<fleet::Trouble> Asker::explained(const std::optional<fleet::Trouble>& trouble,
                                               const std::string& deed) const {
  if (trouble) return explained(*trouble, deed);
  return std::nullopt;
}

fleet::Reply<fleet::Reading> Asker::read(const fleet::Keys& keys) {
  return explained(
      answer_to<fleet::Reply<fleet::Reading>>([&](auto then) { store_->read(keys, then); }),
      "read " + name_in_words(keys.key));
}

fleet::Outcome Asker::commit(const fleet::Transaction& transaction) {
  auto outcome = answer_to<fleet::Outcome>([&](auto then) { store_->commit(transaction, then); });
  if (auto* unknown = std::get_if<fleet::Unknown>(&outcome)) {
    unknown->reason =
        explained(fleet::Trouble{fleet::Trouble::Kind::unreachable, unknown->reason}, "").reason;
  }
  if (auto* denied = std::get_if<fleet::Denied>(&outcome))
    denied->reason = why_denied(options_.store.certificates, deed_of(transaction), denied->reason);
  return outcome;
}

fleet::Reply<fleet::MemberStatus> Asker::status(const std::string& endpoint) {
  const auto member = open({endpoint}, member_deadline);
  fleet::EtcdAdmin admin(member->line());
  return answer_to<fleet::Reply<fleet::MemberStatus>>([&](auto then) { admin.status(then); });
}

fleet::Reply<std::vector<fleet::StoreMember>> Asker::members() {
  fleet::EtcdAdmin admin(etcd_->line());
  return explained(answer_to<fleet::Reply<std::vector<fleet::StoreMember>>>(
                       [&](auto then) { admin.members(then); }),
                   "list the members of the store");
}

fleet::Reply<fleet::Lease> Asker::lease(std::chrono::seconds ttl) {
  return explained(
      answer_to<fleet::Reply<fleet::Lease>>([&](auto then) { store_->grant(ttl, then); }),
      "make a lease");
}

std::optional<fleet::Trouble> Asker::end_lease(fleet::LeaseId lease) {
  const auto reply = explained(
      answer_to<fleet::Reply<fleet::LeaseState>>([&](auto then) { store_->revoke(lease, then); }),
      "end a lease");
  const auto* trouble = std::get_if<fleet::Trouble>(&reply);
  return trouble == nullptr ? std::nullopt : std::optional(*trouble);
}

void Asker::rest() {
  fleet::UvTimers timers(*loop_.get());
  bool is_over = false;
  const auto end = timers.after(rest_time, [&is_over] { is_over = true; });
  while (!is_over && stop_ == 0) {
    uv_run(loop_.get(), UV_RUN_ONCE);
  }
}

void Asker::hold_stops() {
  const auto note = [this](int signal) { stop_ = stop_ == 0 ? signal : stop_; };
  UPGRADER_CHECK(stops_.begin(loop_.get(), {SIGINT, SIGTERM, SIGHUP}, note));
}

std::optional<fleet::Trouble> Asker::grant(const fleet::Permissions& permissions) {
  fleet::EtcdAdmin admin(etcd_->line());
  return explained(
      answer_to<std::optional<fleet::Trouble>>([&](auto then) { admin.grant(permissions, then); }),
      "make the user " + permissions.user);
}

std::optional<fleet::Trouble> Asker::enable_users() {
  fleet::EtcdAdmin admin(etcd_->line());
  return explained(
      answer_to<std::optional<fleet::Trouble>>([&](auto then) { admin.enable_users(then); }),
      "let only users in");
}

std::optional<fleet::Trouble> Asker::revoke(const std::string& user) {
  fleet::EtcdAdmin admin(etcd_->line());
  return explained(
      answer_to<std::optional<fleet::Trouble>>([&](auto then) { admin.revoke(user, then); }),
      "remove the user " + user);
}

// ---- the user's own certificate

using fleet::content_of_file;
using fleet::time_text_of;

std::string why_not_asked(const std::vector<std::string>& endpoints,
                          const fleet::Certificates& files) {
  const auto is_plain = [](const std::string& url) { return !url.starts_with("https://"); };
  const auto plain = std::ranges::find_if(endpoints, is_plain);
  if (plain != endpoints.end()) {
    if (files.own.empty()) return "";
    return "--endpoint: " + *plain + " does not begin with https://, so no certificate is used";
  }
  if (files.authority.empty()) return "--ca, or FLEET_CA, is missing";
  if (files.own.empty()) return "--cert, or FLEET_CERT, is missing";
  return files.key.empty() ? "--key, or FLEET_KEY, is missing" : "";
}

std::string why_not_let_in(const fleet::Certificates& files, fleet::UnixSeconds now) {
  if (files.own.empty()) return "";
  const std::pair<const char*, std::string> all[] = {
      {"your certificate: ", files.own}, {"your key: ", files.key}, {"--ca: ", files.authority}};
  for (const auto& [what, file] : all) {
    const std::string why = file.empty() ? "" : fleet::why_unread(file);
    if (!why.empty()) return what + why;
  }
  const std::string own = content_of_file(files.own);
  const std::string whose = "your certificate " + files.own;
  const auto validity = fleet::validity_of(own);
  if (!validity) return whose + " is none in PEM";
  const std::string key = content_of_file(files.key);
  if (!files.key.empty() &&
      !fleet::why_not_usable(own, fleet::name_in(own).value_or(""), key).empty())
    return "your key " + files.key + " is not that of " + whose;
  const std::string clock = "; this machine's clock shows " + time_text_of(now);
  if (now < validity->from) return whose + " begins at " + time_text_of(validity->from) + clock;
  if (now >= validity->until) return whose + " ended at " + time_text_of(validity->until) + clock;
  const std::string authority = content_of_file(files.authority);
  if (authority.empty() || fleet::is_signed_by(own, authority)) return "";
  return whose + " is not signed by the authority of " + files.authority;
}

std::string why_denied(const fleet::Certificates& files, const std::string& deed,
                       const std::string& reason) {
  if (reason.find("permission denied") == std::string::npos) return reason;
  const auto name = files.own.empty() ? std::nullopt : fleet::name_in(content_of_file(files.own));
  return "the store does not let " + name.value_or("anybody without a certificate") + " " + deed +
         ": its role does not allow that, or it was revoked (" + reason + ")";
}

}  // namespace fleetctl
