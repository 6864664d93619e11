// The public interface of a follower. follower_work.h does the work.
#include "agent-releases/follower.h"

#include <utility>

#include "tools/agent-releases/shell/follower_work.h"

namespace agent_releases {

Result<Follower> Follower::open(Settings settings, Agent agent) {
  const auto store =
      Store::open({.directory = settings.directory, .name = settings.name, .keys = settings.keys});
  if (!store) return store.refusal();
  settings.directory = store.value()->directory().path();
  Result<Wakeups> wakeups = Wakeups::make();
  if (!wakeups) return wakeups.refusal();
  return Follower(
      std::make_unique<Work>(std::move(settings), std::move(agent), std::move(wakeups.value())));
}

Follower::Follower(std::unique_ptr<Work> work) : work_(std::move(work)) {}
Follower::Follower(Follower&& other) noexcept = default;
Follower& Follower::operator=(Follower&& other) noexcept = default;
Follower::~Follower() = default;

int Follower::fd() const {
  return work_->fd();
}

void Follower::dispatch() {
  work_->dispatch();
}

void Follower::begin() {
  work_->begin();
}

void Follower::upgrade_failed(const Failure& failure) {
  work_->upgrade_failed(failure);
}

}  // namespace agent_releases
