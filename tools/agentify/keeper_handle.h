// agentify's end of a keeper.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/owned_fd.h"
#include "tools/agentify/keeper.h"

namespace agentify {

class KeeperHandle {
 public:
  KeeperHandle() = default;

  // Forks it; false, with errno, where that cannot be. It waits for orders.
  [[nodiscard]] bool fork_keeper(KeeperPlan plan);

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void order(Order order) const;
  // The next news. Returns nothing if there are none now, or if the keeper has died: see over().
  [[nodiscard]] std::optional<News> take();
  [[nodiscard]] bool over() const { return over_; }
  // Lets go of the keeper, which then kills what it keeps and exits, and waits until it has.
  void dismiss();
  // The same without waiting: it is reaped some time after.
  void abandon();

 private:
  upgrader::OwnedFd socket_;
  pid_t pid_ = -1;
  bool over_ = false;
};

}  // namespace agentify
