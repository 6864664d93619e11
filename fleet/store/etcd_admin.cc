#include "fleet/store/etcd_admin.h"

#include <utility>

#include "fleet/store/etcd_messages.h"

namespace fleet {
namespace {

const std::string auth = "/etcdserverpb.Auth/";

// contained in etcd's error if a user, role or permission exists already
constexpr std::string_view is_there = "already";
// contained in etcd's error if a user or role does not exist
constexpr std::string_view is_gone = "not found";

}  // namespace

// Steps to carry out one after the other. Each step is one call to etcd.
struct EtcdAdmin::Steps {
  std::vector<Step> steps;
  std::size_t at = 0;
  std::function<void(const std::optional<Trouble>&)> then;
};

void EtcdAdmin::ask(EtcdCall::Question question, std::function<void(EtcdCall::Ended)> then) {
  const std::uint64_t number = next_++;
  calls_[number] = std::make_unique<EtcdCall>(
      line_, std::move(question), number,
      [this, number, then = std::move(then)](EtcdCall::Ended ended) {
        const auto ending = std::move(calls_.at(number));  // keeps the EtcdCall alive during then()
        calls_.erase(number);
        then(std::move(ended));
      });
}

void EtcdAdmin::status(std::function<void(const Reply<MemberStatus>&)> then) {
  ask({.path = "/etcdserverpb.Maintenance/Status", .body = ""},
      [then = std::move(then)](const EtcdCall::Ended& ended) {
        then(answer_from<MemberStatus>(ended, etcd_messages::member_status));
      });
}

void EtcdAdmin::members(std::function<void(const Reply<std::vector<StoreMember>>&)> then) {
  ask({.path = "/etcdserverpb.Cluster/MemberList", .body = ""},
      [then = std::move(then)](const EtcdCall::Ended& ended) {
        then(answer_from<std::vector<StoreMember>>(ended, etcd_messages::members));
      });
}

std::vector<EtcdAdmin::Step> EtcdAdmin::steps(const Permissions& permissions) {
  const std::string role = permissions.all ? "root" : permissions.user;
  std::vector<Step> steps{{auth + "RoleAdd", etcd_messages::add_role(role), is_there}};
  if (!permissions.all) {
    for (const Keys& keys : permissions.writes) {
      steps.push_back({auth + "RoleGrantPermission",
                       etcd_messages::permit(role, keys, /*writes=*/true), is_there});
    }
    for (const Keys& keys : permissions.reads) {
      steps.push_back({auth + "RoleGrantPermission",
                       etcd_messages::permit(role, keys, /*writes=*/false), is_there});
    }
  }
  steps.push_back({auth + "UserAdd", etcd_messages::add_user(permissions.user), is_there});
  steps.push_back(
      {auth + "UserGrantRole", etcd_messages::grant_role(permissions.user, role), is_there});
  return steps;
}

void EtcdAdmin::grant(const Permissions& permissions,
                      std::function<void(const std::optional<Trouble>&)> then) {
  go_on(std::make_shared<Steps>(Steps{steps(permissions), 0, std::move(then)}));
}

void EtcdAdmin::revoke(const std::string& user,
                       std::function<void(const std::optional<Trouble>&)> then) {
  go_on(std::make_shared<Steps>(
      Steps{{{auth + "UserDelete", etcd_messages::delete_user(user), is_gone},
             {auth + "RoleDelete", etcd_messages::delete_role(user), is_gone}},
            0,
            std::move(then)}));
}

void EtcdAdmin::enable_users(std::function<void(const std::optional<Trouble>&)> then) {
  const Step enable{auth + "AuthEnable", "", is_there};
  go_on(std::make_shared<Steps>(Steps{{enable}, 0, std::move(then)}));
}

void EtcdAdmin::go_on(const std::shared_ptr<Steps>& all) {
  if (all->at == all->steps.size()) return all->then(std::nullopt);
  const Step& step = all->steps[all->at++];
  ask({.path = step.path, .body = step.body},
      [this, all, if_done = step.if_done](const EtcdCall::Ended& ended) {
        const auto* failure = std::get_if<CallFailure>(&ended);
        if (failure == nullptr || failure->reason.find(if_done) != std::string::npos)
          return go_on(all);
        all->then(trouble_of(*failure));
      });
}

// ---- snapshots

namespace {

// The time limit for the copy of the whole store: long enough for some GiB over a slow connection.
constexpr std::chrono::minutes longest{20};

}  // namespace

EtcdSnapshot::EtcdSnapshot(EtcdLine& line, Observer observer)
    : Rider(line), observer_(std::move(observer)) {
  call_ = call("/etcdserverpb.Maintenance/Snapshot", grpc_framed(""), longest,
               {.message = [this](const std::string& message) { take(message); },
                .ended = [this](const Http2::Ending& ending) { take_ending(ending); }});
}

void EtcdSnapshot::take(const std::string& message) {
  line().heard(connection());
  const auto bytes = etcd_messages::snapshot_part(message);
  is_damaged_ = is_damaged_ || !bytes;
  if (bytes) observer_.part(*bytes);
}

void EtcdSnapshot::take_ending(const Http2::Ending& ending) {
  const auto code = ending.status.code();
  std::optional<Trouble> trouble;
  if (code != grpc_ok) {
    const CallFailure failure{.code = code.value_or(-1),
                              .reason = code ? ending.status.message() : ending.error};
    trouble = trouble_of(failure);
    if (trouble->kind != Trouble::Kind::denied)
      line().ended(connection(), line().timers().now(), ending);
  } else if (is_damaged_) {
    trouble = {Trouble::Kind::unreachable, "an answer that is none"};
  }
  const auto ended = std::move(observer_.ended);
  ended(trouble);
}

}  // namespace fleet
