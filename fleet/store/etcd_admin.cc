#include "fleet/store/etcd_admin.h"

#include <utility>

#include "fleet/store/etcd_messages.h"

namespace fleet {
namespace {

const std::string auth = "/etcdserverpb.Auth/";

// Parts of etcd's error messages after which a step counts as done. They say that the user, role or
// permission exists already, or does not exist any more.
constexpr std::string_view is_there = "already";
constexpr std::string_view is_gone = "not found";

}  // namespace

// A list of steps, which are carried out one after the other. Each step is one call to etcd.
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
      [this, all, if_so = step.if_so](const EtcdCall::Ended& ended) {
        const auto* failure = std::get_if<CallFailure>(&ended);
        if (failure == nullptr || failure->reason.find(if_so) != std::string::npos)
          return go_on(all);
        all->then(trouble_of(*failure));
      });
}

}  // namespace fleet
