#include "tests/together/fleet/fake_store.h"

#include <utility>

namespace fleet {
namespace {

Trouble no_answer() {
  return Trouble{Trouble::Kind::unreachable, "no answer within 5 s"};
}

}  // namespace

class FakeStore::FakeWatch : public Watch {
 public:
  FakeWatch(VirtualTime& time, FakeCell& cell, std::shared_ptr<Link> link, Keys keys, Revision from,
            Then<const WatchNews&> tell)
      : time_(time),
        cell_(cell),
        link_(std::move(link)),
        keys_(std::move(keys)),
        from_(from),
        tell_(std::move(tell)) {
    cell_.have_watched(this, [this] { deliver_later(); });
    deliver_later();
    expect_answer();
  }
  ~FakeWatch() override { cell_.forget(this); }

 private:
  void deliver_later() {
    if (delivery_ != nullptr || ended_) return;
    delivery_ = time_.after(link_->travel(), [this] {
      delivery_ = nullptr;
      deliver();
    });
  }

  void deliver() {
    if (!link_->reachable || !link_->open) return;
    const Revision before = from_;
    const std::optional<WatchNews> news = cell_.news(keys_, from_);
    if (!news) return;
    if (link_->happens(link_->faults.cut_watches)) {
      from_ = before;
      return end(WatchLost{{Trouble::Kind::unreachable, "the stream was cut off"}});
    }
    if (std::holds_alternative<Relist>(*news)) return end(*news);
    const auto tell = tell_;  // a copy: this call may destroy the watch
    tell(*news);
  }

  // Checks at intervals of `deadline` whether the fake cell can still be reached. If it cannot,
  // ends the watch.
  void expect_answer() {
    silence_ = time_.after(deadline, [this] {
      if (!link_->reachable) return end(WatchLost{no_answer()});
      deliver_later();
      expect_answer();
    });
  }

  void end(const WatchNews& news) {
    ended_ = true;
    cell_.forget(this);
    delivery_ = nullptr;
    silence_ = nullptr;
    const auto tell = tell_;
    if (link_->open) tell(news);
  }

  VirtualTime& time_;
  FakeCell& cell_;
  std::shared_ptr<Link> link_;
  Keys keys_;
  Revision from_;
  Then<const WatchNews&> tell_;
  std::unique_ptr<Timer> delivery_;
  std::unique_ptr<Timer> silence_;
  bool ended_ = false;
};

FakeStore::FakeStore(VirtualTime& time, FakeCell& cell, std::uint64_t seed, Faults faults)
    : time_(time), cell_(cell), link_(std::make_shared<Link>()) {
  link_->faults = faults;
  link_->chance.seed(seed);
}

FakeStore::~FakeStore() {
  link_->open = false;
}

// A request to the fake cell, and the function that gets its answer. If the deadline passes before
// the cell answers, the function gets an error instead, and a later answer is ignored.
template <class Value>
struct FakeStore::Asked {
  std::shared_ptr<Link> link;
  Then<Value> then;
  bool answered = false;

  void answer(Value value) {
    if (std::exchange(answered, true) || !link->open) return;
    then(std::move(value));
  }
};

template <class Value>
void FakeStore::ask(std::function<Value(FakeCell&)> question, Value silence, Then<Value> then) {
  const auto asked = std::make_shared<Asked<Value>>(Asked<Value>{link_, std::move(then)});
  time_.post(deadline, [asked, silence] { asked->answer(silence); });

  if (!link_->reachable || link_->happens(link_->faults.lost_requests)) return;
  Milliseconds way = link_->travel();
  if (link_->happens(link_->faults.late_requests)) way += deadline;
  time_.post(way, [&time = time_, &cell = cell_, asked, question] {
    Link& link = *asked->link;
    if (!link.reachable) return;
    const Value value = question(cell);
    if (link.happens(link.faults.lost_answers)) return;
    time.post(link.travel(), [asked, value] {
      if (asked->link->reachable) asked->answer(value);
    });
  });
}

void FakeStore::read(Keys keys, Then<Reply<Reading>> then) {
  ask<Reply<Reading>>([keys](FakeCell& cell) { return cell.read(keys); }, no_answer(),
                      std::move(then));
}

void FakeStore::commit(Transaction transaction, Then<Outcome> then) {
  ask<Outcome>([transaction](FakeCell& cell) { return cell.commit(transaction); },
               Unknown{no_answer().reason}, std::move(then));
}

void FakeStore::grant(std::chrono::seconds ttl, Then<Reply<Lease>> then) {
  ask<Reply<Lease>>([ttl](FakeCell& cell) { return cell.grant(ttl); }, no_answer(),
                    std::move(then));
}

void FakeStore::keep_alive(LeaseId lease, Then<Reply<LeaseState>> then) {
  ask<Reply<LeaseState>>([lease](FakeCell& cell) { return cell.keep_alive(lease); }, no_answer(),
                         std::move(then));
}

void FakeStore::revoke(LeaseId lease, Then<Reply<LeaseState>> then) {
  ask<Reply<LeaseState>>([lease](FakeCell& cell) { return cell.revoke(lease); }, no_answer(),
                         std::move(then));
}

std::unique_ptr<Watch> FakeStore::watch(Keys keys, Revision from, Then<const WatchNews&> tell) {
  return std::make_unique<FakeWatch>(time_, cell_, link_, std::move(keys), from, std::move(tell));
}

}  // namespace fleet
