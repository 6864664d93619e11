// Makes the calls to etcd that are not about records: asks for the state of a member, and sets the
// rights of users.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/store/etcd_call.h"
#include "fleet/store/member_status.h"
#include "fleet/store/store.h"

namespace fleet {

// The rights of a user of the store, whose certificate has the user's name.
struct Permissions {
  std::string user = {};
  // If true, the user has etcd's role `root`, with all rights, and `writes` and `reads` do not
  // matter.
  bool all = false;
  std::vector<Keys> writes = {};  // keys that the user may write and read
  std::vector<Keys> reads = {};
};

class EtcdAdmin {
 public:
  explicit EtcdAdmin(EtcdLine& line) : line_(line) {}

  // Asks one member for its state: the member that `line` would ask next.
  void status(std::function<void(const Reply<MemberStatus>&)> then);
  // Makes a user and a role of the same name. Leaves a user, a role or a right that exists already
  // as it is. Then calls `then` with the trouble that prevented a step, or with no value.
  void grant(const Permissions& permissions,
             std::function<void(const std::optional<Trouble>&)> then);
  // Removes the user and the role of this name, if they exist.
  void revoke(const std::string& user, std::function<void(const std::optional<Trouble>&)> then);
  // Turns on users in the store: from now on each client has the rights of the name in its
  // certificate, and a client without rights is refused. The user `root`, with all rights, must
  // exist. A second call changes nothing.
  void enable_users(std::function<void(const std::optional<Trouble>&)> then);

 private:
  struct Step {
    std::string path;
    std::string body;
    // If etcd refuses the step with an error message that contains this text, the step was done
    // before, and counts as done.
    std::string_view if_so;
  };
  struct Steps;

  void ask(EtcdCall::Question question, std::function<void(EtcdCall::Ended)> then);
  void go_on(const std::shared_ptr<Steps>& all);
  [[nodiscard]] static std::vector<Step> steps(const Permissions& permissions);

  EtcdLine& line_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, std::unique_ptr<EtcdCall>> calls_;
};

}  // namespace fleet
