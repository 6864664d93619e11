// Walks through every sequence of five events that may happen between the upgrader and init: agents
// become active, upgrades by a signal begin and end, an agent asks for more time, init's socket is
// full, time passes. After each event, simulates that the socket has room, and checks that init has
// then heard everything that it must know. Each message is checked, too.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/init_listener.h"
#include "upgrader/core/init_messages.h"

namespace init_walk_test {

namespace {

using namespace upgrader;
using test::InitListener;
using namespace std::chrono_literals;

constexpr std::size_t length = 5;

enum class Event {
  active,
  inactive,
  reload_begins,
  reload_ends,
  reload_refused,
  stopping,
  more_time,
  next_wait,
  wait_ends,
  status,
  socket_full,
  socket_room,
  tenth_of_a_second,
  second
};
constexpr int events = static_cast<int>(Event::second) + 1;

// Simulates an init, and the part of the upgrader that sends messages to it. Each event changes the
// facts from which the upgrader makes these messages.
class Walker {
 public:
  // If `loses` is true, a message that meets a full socket counts as sent. That is an error, which
  // the walk must find.
  explicit Walker(bool loses) : loses_(loses) {}

  void step(Event event) {
    switch (event) {
      case Event::active:
        news_.active = true;
        break;
      case Event::inactive:
        news_.active = false;
        break;
      case Event::reload_begins:
        news_.reloading = true;
        ++news_.reloads;
        break;
      case Event::reload_ends:
        news_.reloading = false;
        break;
      case Event::reload_refused:
        ++news_.reloads;
        break;
      case Event::stopping:
        news_.stopping = true;
        break;
      case Event::more_time:
        extend();
        break;
      case Event::next_wait:
        news_.wait = InitWait{news_.stopping ? InitWait::What::stopped : InitWait::What::ready, 2,
                              now_ + 30s};
        break;
      case Event::wait_ends:
        news_.wait.reset();
        break;
      case Event::status:
        agent_status_ += '.';
        messages_.note_agent_status(1, agent_status_);
        break;
      case Event::socket_full:
        full_ = true;
        break;
      case Event::socket_room:
        full_ = false;
        break;
      case Event::tenth_of_a_second:
        return wake_until(now_ + 100ms);
      case Event::second:
        return wake_until(now_ + 1s);
    }
    was_active_ = was_active_ || (news_.active && !news_.stopping);
    messages_.note(news_, now_);
    send_due();
  }

  // Gives the socket room for three seconds. Returns as text a fact that init has still not
  // learned, or "" if init has learned everything. After this call, the object cannot be used any
  // more.
  std::string find_gap() {
    full_ = false;
    wake_until(now_ + 3s);
    if (messages_.next_time() != InitMessages::never) return "a message is due for ever";
    const std::string status = news_.status + (agent_status_.empty() ? "" : "; ") + agent_status_;
    if (!status_is_lost_ && last_status_ != "STATUS=" + status + "\n") return "an old status";
    if (news_.stopping && !init_.stopping) return "no STOPPING=1";
    if (!news_.stopping && was_active_ && !init_.ready) return "no READY=1";
    if (!news_.stopping && !news_.reloading && news_.active && init_.reloading)
      return "no READY=1 after a reload";
    if (init_.has_too_little_time(news_, now_)) return "too little time";
    return fault_;
  }

 private:
  void extend() {
    const InitWait::What what = news_.stopping ? InitWait::What::stopped : InitWait::What::ready;
    const bool is_same = news_.wait && news_.wait->what == what;
    const Time from = is_same ? news_.wait->deadline : now_;
    news_.wait = InitWait{what, 1, from + 10s, true};
  }

  void wake_until(Time end) {
    for (Time next = messages_.next_time(); next <= end; next = messages_.next_time()) {
      now_ = std::max(now_, next);
      send_due();
    }
    now_ = end;
  }

  void send_due() {
    while (messages_.next_time() <= now_) {
      const InitMessage message = messages_.next(now_, 1);
      if (!full_) hear(message.text);
      status_is_lost_ = full_ && (status_is_lost_ || !message.is_needed);
      messages_.tried(message, !full_ || loses_, now_);
    }
  }

  void hear(const std::string& text) {
    const std::string wrong = init_.hear(text, now_, was_active_);
    if (!wrong.empty()) fault_ = wrong;
    last_status_ = text.substr(text.find("STATUS="));
  }

  bool loses_;
  InitMessages messages_{Duration::zero()};
  InitNews news_;
  std::string agent_status_;
  bool was_active_ = false;  // an agent was active before the upgrader began to stop
  bool full_ = false;
  // True if a status was not sent because the socket was full, and no message was sent since.
  bool status_is_lost_ = false;
  Time now_{1'000'000};

  InitListener init_;
  std::string last_status_ = "STATUS=\n";
  std::string fault_;  // the rule that a message to init has broken last
};

// Continues the walk by every sequence of at most `left` events. Returns the number of sequences,
// and sets `gap` to the first fault that it finds.
std::size_t walk(const Walker& from, std::size_t left, std::string& gap) {
  Walker end = from;
  if (gap.empty()) gap = end.find_gap();
  if (left == 0) return 1;
  std::size_t sequences = 1;
  for (int event = 0; event < events; ++event) {
    Walker next = from;
    next.step(static_cast<Event>(event));
    const bool was_found = !gap.empty();
    sequences += walk(next, left - 1, gap);
    if (!was_found && !gap.empty()) gap += " <- " + std::to_string(event);
  }
  return sequences;
}

}  // namespace

TEST_CASE("init hears everything that it must know, whatever happens, and nothing else") {
  std::string gap;

  CHECK(walk(Walker(false), length, gap) == 579'195);

  CHECK(gap == "");
}

TEST_CASE("canary: the walk finds that a message is lost where init's socket is full") {
  std::string gap;

  walk(Walker(true), 3, gap);

  CHECK(gap != "");
}

}  // namespace init_walk_test
