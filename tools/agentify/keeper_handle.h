// agentify's end of the connection to a keeper.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/owned_fd.h"
#include "tools/agentify/keeper.h"

namespace agentify {

class KeeperHandle {
 public:
  KeeperHandle() = default;

  // Forks the keeper, which then waits for orders. Returns false, with errno, if that fails.
  [[nodiscard]] bool fork_keeper(KeeperPlan plan);

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void order(Order order) const;
  // Returns the keeper's next news. Returns nothing if none has come, or if the keeper has died:
  // see over().
  [[nodiscard]] std::optional<News> take();
  [[nodiscard]] bool over() const { return over_; }
  // Closes the connection, so that the keeper kills all its processes and exits, and waits until it
  // has exited.
  void dismiss();
  // Closes the connection like dismiss(), but does not wait: the keeper is reaped later.
  void abandon();

 private:
  upgrader::OwnedFd socket_;
  pid_t pid_ = -1;
  bool over_ = false;
};

}  // namespace agentify
