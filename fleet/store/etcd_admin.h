// Questions of people to etcd beside the fleet's records: how its members are, and the rights to
// read and write.
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

// A user who is known by the name of his certificate, and what he may.
struct Permissions {
  std::string user = {};
  bool all = false;               // etcd's own role for that, and nothing else is looked at
  std::vector<Keys> writes = {};  // and reads
  std::vector<Keys> reads = {};
};

class EtcdAdmin {
 public:
  explicit EtcdAdmin(EtcdLine& line) : line_(line) {}

  // Of whichever member the line asks.
  void status(std::function<void(const Reply<MemberStatus>&)> then);
  // Makes user and role of the same name, one step after the other; what is there stays. The
  // trouble that stopped it; none: it is so.
  void grant(const Permissions& permissions,
             std::function<void(const std::optional<Trouble>&)> then);
  // Takes user and role of that name away; what is not there is no trouble.
  void revoke(const std::string& user, std::function<void(const std::optional<Trouble>&)> then);

 private:
  struct Step {
    std::string path;
    std::string body;
    // etcd refuses the step with these words where it was done before; that is as good as done.
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
