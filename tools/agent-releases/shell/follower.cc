// The public functions of a Follower, and the descriptor that wakes it. follower_work.cc does the
// work.
#include "agent-releases/follower.h"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/follower_work.h"

namespace agent_releases {

Result<Wakeups> Wakeups::make() {
  Wakeups wakeups;
  wakeups.all_ = upgrader::OwnedFd(::epoll_create1(EPOLL_CLOEXEC));
  wakeups.timer_ = upgrader::OwnedFd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!wakeups.all_ || !wakeups.timer_) return refusal_from_errno("wait for", "releases");
  wakeups.watch(wakeups.timer_.get());
  return wakeups;
}

bool Wakeups::watch(const std::string& directory) {
  changes_ = upgrader::OwnedFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  constexpr std::uint32_t events = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM |
                                   IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
  if (!changes_ || ::inotify_add_watch(changes_.get(), directory.c_str(), events) < 0) return false;
  watch(changes_.get());
  return true;
}

void Wakeups::watch(int descriptor) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
  ::epoll_ctl(all_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

void Wakeups::set(std::optional<Clock::time_point> when) {
  itimerspec time{};
  if (when) {
    // Set the timer to at least one nanosecond, because zero would stop it.
    const auto left = std::max<Clock::duration>(*when - Clock::now(), std::chrono::nanoseconds(1));
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
    constexpr std::int64_t second = 1'000'000'000;
    time.it_value.tv_sec = nanoseconds / second;
    time.it_value.tv_nsec = nanoseconds % second;
  }
  ::timerfd_settime(timer_.get(), 0, &time, nullptr);
}

bool Wakeups::take() {
  std::uint64_t expirations = 0;
  static_cast<void>(!::read(timer_.get(), &expirations, sizeof expirations));
  bool changed = false;
  std::array<char, 4'096> events;
  while (changes_ && ::read(changes_.get(), events.data(), events.size()) > 0)
    changed = true;
  return changed;
}

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
