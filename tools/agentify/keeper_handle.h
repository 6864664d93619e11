// The connection from agentify to a keeper.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/owned_fd.h"
#include "tools/agentify/keeper.h"

namespace agentify {

class KeeperHandle {
 public:
  KeeperHandle() = default;

  // Forks the keeper, which then waits for orders. On failure returns false and sets errno.
  [[nodiscard]] bool fork_keeper(KeeperPlan plan);

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void order(Order order) const;
  // Returns the next news from the keeper. Returns nothing if none has come, or if the keeper has
  // died, which over() tells.
  [[nodiscard]] std::optional<News> take();
  [[nodiscard]] bool over() const { return over_; }
  // Closes the connection, and waits until the keeper has killed all its processes and has exited.
  void dismiss();
  // Closes the connection, but does not wait. The keeper kills its processes, exits, and is reaped
  // later.
  void abandon();

 private:
  upgrader::OwnedFd socket_;
  pid_t pid_ = -1;
  bool over_ = false;
};

}  // namespace agentify
