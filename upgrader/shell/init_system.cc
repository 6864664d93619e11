#include "upgrader/shell/init_system.h"

#include <fcntl.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "upgrader/core/words.h"
#include "upgrader/shell/log.h"

namespace upgrader {
namespace {

// The most bytes of the text after STATUS=. People see it as one line on a terminal, so longer
// texts belong in the log.
constexpr std::size_t status_bytes_shown = 512;

// Returns how much time is left, as text for STATUS=: ", 12 s left".
std::string time_left(Time until, Time now) {
  const auto left =
      std::chrono::ceil<std::chrono::seconds>(std::max(Duration::zero(), until - now));
  return ", {} s left"_with(left.count());
}

bool is_same(const std::optional<InitWait>& one, const std::optional<InitWait>& other) {
  return one && other && one->what == other->what && one->generation == other->generation;
}

// Returns true if two states for init are equal, or differ only in how long something may still
// take.
bool differ_in_time_only(InitNews one, const InitNews& other) {
  one.until = other.until;
  if (is_same(one.wait, other.wait)) one.wait = other.wait;
  return one == other;
}

}  // namespace

Result<OwnedFd> seize_for_readiness(int number, int lowest) {
  const int flags = ::fcntl(number, F_GETFL);
  if (flags < 0) return Refusal{in_words(SystemError{errno})};
  const int access = flags & O_ACCMODE;
  if (access != O_WRONLY && access != O_RDWR) return Refusal{"it is not open for writing"};
  OwnedFd original(number);
  if (number >= lowest) return original;
  OwnedFd moved(::fcntl(number, F_DUPFD_CLOEXEC, lowest));
  if (!moved) return Refusal{in_words(SystemError{errno})};
  return moved;
}

InitSystem::InitSystem(const char* notify_socket, Duration watchdog, OwnedFd readiness)
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
  if (news == news_) return;
  const InitNews before = std::exchange(news_, news);
  if (news.active && !before.active) tell_readiness(now);
  if (news.stopping) readiness_retry_.reset();
  note_what_is_owed(before);
  if (news.vouched && !before.vouched) next_beat_ = now;
  tell_news_due(now);
}

void InitSystem::note_what_is_owed(const InitNews& before) {
  if (news_.stopping) {
    if (!before.stopping) owe(Owed::stopping);
    return;
  }
  // A service that is not ready yet cannot be reloaded, so no reload begins before READY=1.
  const bool reload_begins = was_ready_ && news_.reloads != before.reloads && !is_reloading_;
  if (news_.active && !was_ready_) {
    was_ready_ = true;
    owe(Owed::ready);
  }
  if (reload_begins) {
    is_reloading_ = true;
    owe(Owed::reloading);
  }
  // The upgrade that init sees as a reload is over, so READY=1 must follow. If the upgrade failed
  // immediately, RELOADING=1 may not have been sent yet; READY=1 then waits behind it.
  if (is_reloading_ && !news_.reloading) {
    is_reloading_ = false;
    owe(Owed::ready);
  }
}

void InitSystem::owe(Owed what) {
  if (!socket_) return;
  full_retry_.reset();
  if (what == Owed::stopping) owed_.clear();
  // If at least two messages wait, the last two are RELOADING=1 and READY=1 of an earlier reload,
  // and neither has been sent. Drop that READY=1: init then sees one longer reload.
  if (what == Owed::reloading && owed_.size() >= 2) {
    owed_.pop_back();
  } else {
    owed_.push_back(what);
  }
}

void InitSystem::tell_what_is_due(Time now) {
  tell_news_due(now);
  const std::optional<Time> due = beat_time();
  if (due && *due <= now) beat(now);
}

void InitSystem::tell_news_due(Time now) {
  if (readiness_retry_ && *readiness_retry_ <= now) tell_readiness(now);
  if (!tell_what_is_owed(now)) return;
  const std::optional<Time> due = news_time();
  // If the socket is full, a message without a request for more time is lost. That does no harm:
  // the next message repeats everything in it.
  if (due && *due <= now) static_cast<void>(tell_all(now, ""));
}

// Sends the messages that must not be lost, before any other. Each of them also contains the
// current status. Returns false if some of these messages could not be sent yet.
bool InitSystem::tell_what_is_owed(Time now) {
  while (!owed_.empty()) {
    if (const std::optional<Time> due = owed_time(); due && now < *due) return false;
    std::string head = "READY=1\n";
    if (owed_.front() == Owed::stopping) head = "STOPPING=1\n";
    if (owed_.front() == Owed::reloading) {
      // systemd ignores a RELOADING=1 that is older than its own request for the reload.
      head = "RELOADING=1\nMONOTONIC_USEC={}\n"_with(uv_hrtime() / 1'000);
    }
    if (!tell_all(now, head)) return false;
    owed_.erase(owed_.begin());
  }
  return true;
}

// Tells init with one newline on the descriptor of --notify-fd that an agent is active, as s6,
// dinit and finit expect it, and closes the descriptor. Never waits: if the pipe is full, tries
// again later. If nobody reads the pipe, the newline is lost.
void InitSystem::tell_readiness(Time now) {
  readiness_retry_.reset();
  if (!readiness_) return;
  // Other processes may share the descriptor's flags, so O_NONBLOCK is set for this write only, and
  // the old flags are restored.
  const int flags = ::fcntl(readiness_.get(), F_GETFL);
  if (flags >= 0 && ::fcntl(readiness_.get(), F_SETFL, flags | O_NONBLOCK) == 0) {
    const bool full = ::write(readiness_.get(), "\n", 1) < 0 && errno == EAGAIN;
    ::fcntl(readiness_.get(), F_SETFL, flags);
    if (full) {
      readiness_retry_ = now + full_retry_interval;
      return;
    }
  }
  readiness_.reset();
}

// Returns when the first of the messages that must not be lost may be sent; nothing if it may be
// sent now.
std::optional<Time> InitSystem::owed_time() const {
  if (full_retry_) return full_retry_;
  return owed_.front() == Owed::reloading ? pace_.next() : std::nullopt;
}

// Returns when to send the facts that have changed since the last message; nothing if no fact has
// changed.
std::optional<Time> InitSystem::news_time() const {
  if (!socket_ || (!agent_has_spoken_ && news_ == told_)) return std::nullopt;
  const Time turn = std::max(pace_.next().value_or(Time{}), full_retry_.value_or(Time{}));
  if (agent_has_spoken_ || !differ_in_time_only(news_, told_)) return turn;
  return std::max(turn, told_at_ + time_news_interval);
}

// Sends one message: `head`, the request for more time, and STATUS=. Returns false if the socket is
// full and the message has more than STATUS=: it must then be sent later, at full_retry_.
bool InitSystem::tell_all(Time now, const std::string& head) {
  const std::string needed = head + more_time(now);
  full_retry_.reset();
  if (send(needed + whole_status(now))) {
    pace_.note(now);
  } else if (!needed.empty()) {
    full_retry_ = now + full_retry_interval;
    return false;
  }
  told_ = news_;
  told_at_ = now;
  agent_has_spoken_ = false;
  return true;
}

// Returns the text that asks init for more time. Init has its own time limits for a start and for a
// stop, and an agent's `extend` must move these, too.
std::string InitSystem::more_time(Time now) const {
  const std::optional<InitWait>& wait = news_.wait;
  // Init waits for the service only until READY=1, and when the service stops.
  if ((was_ready_ && !news_.stopping) || !wait || !wait->extended) return "";
  // Init knows the last deadline only if that deadline was extended, too, and was told in the same
  // start or stop.
  const bool is_known =
      is_same(wait, told_.wait) && told_.wait->extended && told_.stopping == news_.stopping;
  if (is_known && wait->deadline <= told_.wait->deadline) return "";
  const Duration left = std::max(Duration::zero(), wait->deadline - now) + end_margin;
  return "EXTEND_TIMEOUT_USEC={}\n"_with(std::chrono::microseconds(left).count());
}

void InitSystem::keep_alive_early(Time now) {
  const std::optional<Time> due = beat_time();
  const Duration early = std::max(Duration::zero(), beat_interval() - early_beat_interval);
  if (due && *due - early <= now) beat(now);
}

void InitSystem::beat(Time now) {
  next_beat_ = now + beat_interval();
  static_cast<void>(send("WATCHDOG=1\n"));
}

std::optional<Time> InitSystem::beat_time() const {
  if (!socket_ || watchdog_ == Duration::zero() || !news_.vouched) return std::nullopt;
  return next_beat_;
}

std::optional<Time> InitSystem::next_deadline() const {
  const std::optional<Time> news = owed_.empty() ? news_time() : owed_time();
  return earlier_of(earlier_of(readiness_retry_, beat_time()), news);
}

void InitSystem::forget_agent(Generation generation) {
  if (speaker_ == generation) agent_status_.clear();
}

void InitSystem::show_agent_status(Generation generation, const std::string& text, Time now) {
  speaker_ = generation;
  agent_status_ = text;
  agent_has_spoken_ = true;
  tell_news_due(now);
}

std::string InitSystem::whole_status(Time now) const {
  const std::string left = news_.until ? time_left(*news_.until, now) : "";
  const std::string whole =
      "{}{}{}{}"_with(news_.status, left, agent_status_.empty() ? "" : "; ", agent_status_);
  return "STATUS={}\n"_with(escape(whole, status_bytes_shown));
}

// Sends a message. Returns false if there was no room for it, so that it can be sent later.
bool InitSystem::send(const std::string& text) const {
  const auto* address = reinterpret_cast<const sockaddr*>(&address_);
  const ssize_t sent = ::sendto(socket_.get(), text.data(), text.size(),
                                MSG_DONTWAIT | MSG_NOSIGNAL, address, address_bytes_);
  return sent >= 0 || (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM && errno != EINTR);
}

}  // namespace upgrader
