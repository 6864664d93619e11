// Questions of people to etcd that are not about records: the state of its members, and rights.
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

// The rights of a user of the store, who is known by the name in a certificate.
struct Permissions {
  std::string user = {};
  // all rights, by etcd's own role for that; `writes` and `reads` do not matter then
  bool all = false;
  std::vector<Keys> writes = {};  // keys to write and read
  std::vector<Keys> reads = {};
};

class EtcdAdmin {
 public:
  explicit EtcdAdmin(EtcdLine& line) : line_(line) {}

  // Asks one member for its state: the member that `line` would ask next.
  void status(std::function<void(const Reply<MemberStatus>&)> then);
  // Makes a user and a role of the same name, step by step; parts that exist already stay. `then`
  // gets the trouble that stopped it, or no value if all is done.
  void grant(const Permissions& permissions,
             std::function<void(const std::optional<Trouble>&)> then);
  // Removes the user and the role of this name. It is no trouble if they do not exist.
  void revoke(const std::string& user, std::function<void(const std::optional<Trouble>&)> then);
  // Makes the store know each client by the name in its certificate, and refuse all others. A user
  // `root` who may do everything must exist. A second call changes nothing.
  void enable_users(std::function<void(const std::optional<Trouble>&)> then);

 private:
  struct Step {
    std::string path;
    std::string body;
    // The words with which etcd refuses this step if it was done before; then it counts as done.
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
