// Makes the calls to etcd that are not about records: asks for the state of members, sets the
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

// The permissions of a user of the store.
struct Permissions {
  std::string user = {};  // the name in the user's certificate
  // If true, the user gets etcd's role `root`, with all permissions, and `writes` and `reads` are
  // ignored.
  bool all = false;
  std::vector<Keys> writes = {};  // the keys that the user may write and read
  std::vector<Keys> reads = {};
};

class EtcdAdmin {
 public:
  explicit EtcdAdmin(EtcdLine& line) : line_(line) {}

  // Asks for the state of the member to which `line` is connected now.
  void status(std::function<void(const Reply<MemberStatus>&)> then);
  // Asks for the list of all members of the store.
  void members(std::function<void(const Reply<std::vector<StoreMember>>&)> then);
  // Makes a user and a role with the same name, unless they exist, and adds these permissions to
  // the role. A permission replaces an older one for the same range of keys. Calls `then` at the
  // end, with no value or with the error of the step that has failed.
  void grant(const Permissions& permissions,
             std::function<void(const std::optional<Trouble>&)> then);
  // Removes the user and the role with this name, if they exist.
  void revoke(const std::string& user, std::function<void(const std::optional<Trouble>&)> then);
  // Turns on access control: the store then refuses clients without a certificate of a user, and
  // grants the others their users' permissions. The user `root` must already exist. A second call
  // changes nothing.
  void enable_users(std::function<void(const std::optional<Trouble>&)> then);

 private:
  struct Step {
    std::string path;
    std::string body;
    // a part of etcd's error message if the step was done earlier
    std::string_view if_done;
  };
  struct Steps;

  void ask(EtcdCall::Question question, std::function<void(EtcdCall::Ended)> then);
  void go_on(const std::shared_ptr<Steps>& all);
  [[nodiscard]] static std::vector<Step> steps(const Permissions& permissions);

  EtcdLine& line_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, std::unique_ptr<EtcdCall>> calls_;
};

// Copies the whole store from one member, in parts. The caller appends the parts to a file for
// `etcdctl snapshot restore`. The last bytes of the file are its checksum.
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
  // Called when the client has a new connection. The copy continues over the old one.
  void leave() override {}
  void take(const std::string& message);
  void take_ending(const Http2::Ending& ending);

  Observer observer_;
  bool is_damaged_ = false;
  std::unique_ptr<Http2::Call> call_;
};

}  // namespace fleet
