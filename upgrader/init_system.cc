#include "upgrader/init_system.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <utility>

#include "upgrader/log.h"

namespace upgrader {
namespace {

// More than a line of a terminal holds is for the log.
constexpr std::size_t status_bytes_shown = 512;

std::string in_microseconds(Duration time) {
  return std::to_string(std::chrono::microseconds(time).count());
}

// To the microsecond: init takes no RELOADING=1 that is older than its own request.
std::string monotonic_clock() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  const auto clock = std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(clock).count());
}

// ", 12 s left"
std::string time_left(Time until, Time now) {
  const auto left =
      std::chrono::ceil<std::chrono::seconds>(std::max(Duration::zero(), until - now));
  return ", " + std::to_string(left.count()) + " s left";
}

bool is_same(const std::optional<InitWait>& one, const std::optional<InitWait>& other) {
  return one && other && one->what == other->what && one->generation == other->generation;
}

}  // namespace

InitSystem::InitSystem(const char* notify_socket, Duration watchdog, Readiness readiness)
    : watchdog_(watchdog), readiness_(std::move(readiness)) {
  if (notify_socket == nullptr) return;
  const std::size_t size = std::strlen(notify_socket);
  const bool abstract = notify_socket[0] == '@';
  if ((!abstract && notify_socket[0] != '/') || size >= sizeof address_.sun_path) return;
  address_.sun_family = AF_UNIX;
  std::memcpy(address_.sun_path, notify_socket, size);
  if (abstract) address_.sun_path[0] = '\0';
  address_bytes_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size);
  socket_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

void InitSystem::tell(const InitNews& news, Time now) {
  if (news == told_) return;
  const InitNews before = std::exchange(told_, news);
  if (news.active) readiness_.tell();
  const std::string state = state_of(before, now);
  send(state + more_time(before, now) + whole_status(now));
  if (news.vouched && !before.vouched) next_beat_ = now;
  keep_alive(now);
}

std::string InitSystem::state_of(const InitNews& before, Time now) {
  if (told_.stopping) return before.stopping ? "" : "STOPPING=1\n";
  // Before it was ready there is nothing that could be loaded again.
  const bool over = ready_told_ && reload_is_over(before, now);
  const bool first = told_.active && !ready_told_;
  ready_told_ = ready_told_ || told_.active;
  return over || first ? "READY=1\n" : "";
}

// Says RELOADING=1 where a reload begins, in a message of its own: one that fails at once is over
// before it is told. Returns whether READY=1 is due.
bool InitSystem::reload_is_over(const InitNews& before, Time now) {
  if (told_.reloads != before.reloads && !reloading_told_) {
    reloading_told_ = true;
    send("RELOADING=1\nMONOTONIC_USEC=" + monotonic_clock() + "\n" + whole_status(now));
  }
  if (!reloading_told_ || told_.reloading) return false;
  reloading_told_ = false;
  return true;
}

// Init has limits of its own for a start and for a stop, which an agent's `extend` must move, too.
std::string InitSystem::more_time(const InitNews& before, Time now) {
  const std::optional<InitWait>& wait = told_.wait;
  const bool same = is_same(wait, before.wait);
  const bool longer = same && wait->deadline > before.wait->deadline;
  extended_ = (same && extended_) || longer;
  const bool begins = told_.stopping && !before.stopping;
  const bool waits = told_.stopping || !ready_told_;
  if (!extended_ || !waits || !(longer || begins)) return "";
  const Duration left = std::max(Duration::zero(), wait->deadline - now) + end_margin;
  return "EXTEND_TIMEOUT_USEC=" + in_microseconds(left) + "\n";
}

void InitSystem::keep_alive(Time now) {
  const std::optional<Time> due = next_deadline();
  if (due && *due <= now) beat(now);
}

void InitSystem::keep_alive_early(Time now) {
  const std::optional<Time> due = next_deadline();
  const Duration early = std::max(Duration::zero(), beat_interval() - early_beat_interval);
  if (due && *due - early <= now) beat(now);
}

void InitSystem::beat(Time now) {
  next_beat_ = now + beat_interval();
  send("WATCHDOG=1\n");
}

Duration InitSystem::beat_interval() const {
  return std::max(Duration{1}, watchdog_ / 2);
}

std::optional<Time> InitSystem::next_deadline() const {
  if (!socket_ || watchdog_ == Duration::zero() || !told_.vouched) return std::nullopt;
  return next_beat_;
}

void InitSystem::forget_agent(Generation generation) {
  if (speaker_ == generation) agent_status_.clear();
}

void InitSystem::show_agent_status(Generation generation, const std::string& text, Time now) {
  speaker_ = generation;
  agent_status_ = text;
  send(whole_status(now));
}

std::string InitSystem::whole_status(Time now) const {
  const std::string left = told_.until ? time_left(*told_.until, now) : "";
  const std::string agent = agent_status_.empty() ? "" : "; " + agent_status_;
  return "STATUS=" + escape(told_.status + left + agent, status_bytes_shown) + "\n";
}

// What cannot be told now is not told: the next news has it all again, but for READY, RELOADING and
// STOPPING, for which init has time limits of its own.
void InitSystem::send(const std::string& text) const {
  if (!socket_) return;
  const auto* address = reinterpret_cast<const sockaddr*>(&address_);
  static_cast<void>(::sendto(socket_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                             address, address_bytes_));
}

}  // namespace upgrader
