// Makes the calls to etcd that are not about records: asks for the state of a member, sets the
// permissions of users, and copies the whole store for a snapshot.
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
#include "fleet/store/store.h"

namespace fleet {

// The permissions of a user of the store. The user's name is the name in the user's certificate.
struct Permissions {
  std::string user = {};
  // If true, the user has etcd's role `root`, with all permissions, and `writes` and `reads` are
  // ignored.
  bool all = false;
  std::vector<Keys> writes = {};  // the keys that the user may write and read
  std::vector<Keys> reads = {};
};

class EtcdAdmin {
 public:
  explicit EtcdAdmin(EtcdLine& line) : line_(line) {}

  // Asks for the state of one member of the store: the one to which `line` is connected now.
  void status(std::function<void(const Reply<MemberStatus>&)> then);
  // Asks for the list of all members of the store.
  void members(std::function<void(const Reply<std::vector<StoreMember>>&)> then);
  // Makes a user, and a role with the same name and these permissions, unless they exist. A role
  // that exists keeps its old permissions, and gets these permissions, too. If an old and a new
  // permission are for the same range of keys, the new one replaces the old one. Calls `then` at
  // the end: with no value on success, or else with the error of the step that failed.
  void grant(const Permissions& permissions,
             std::function<void(const std::optional<Trouble>&)> then);
  // Removes the user and the role with this name, if they exist.
  void revoke(const std::string& user, std::function<void(const std::optional<Trouble>&)> then);
  // Turns on access control in the store. From then on, each client has the permissions of the user
  // whose name is in its certificate, and other clients are refused. The user `root`, with all
  // permissions, must exist before the call. A second call changes nothing.
  void enable_users(std::function<void(const std::optional<Trouble>&)> then);

 private:
  struct Step {
    std::string path;
    std::string body;
    // A part of an error message. If etcd refuses the step with a message that contains this part,
    // the step was already done earlier, so it counts as done.
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

// Copies the whole store from one member. The copy arrives in parts. If all parts are written to a
// file one after the other, `etcdctl snapshot restore` accepts that file. The last bytes of the
// file are its checksum.
class EtcdSnapshot : public EtcdLine::Rider {
 public:
  struct Observer {
    std::function<void(const std::string& bytes)> part;
    // Called once, at the end. If `trouble` has no value, the copy is complete.
    std::function<void(const std::optional<Trouble>& trouble)> ended;
  };

  // Begins to copy the store. The destructor aborts the copy. `ended` may destroy this object.
  EtcdSnapshot(EtcdLine& line, Observer observer);

 private:
  void leave() override {}  // the copy continues over the old connection
  void take(const std::string& message);
  void take_ending(const Http2::Ending& ending);

  Observer observer_;
  bool is_damaged_ = false;
  std::unique_ptr<Http2::Call> call_;
};

}  // namespace fleet
