// A watch on one member of etcd: one open stream. If the member becomes silent, the watch ends. Its
// owner then begins another watch, which asks another member.
#pragma once

#include <memory>
#include <set>

#include "fleet/store/etcd_call.h"
#include "fleet/store/etcd_messages.h"
#include "fleet/store/store.h"

namespace fleet {

class EtcdWatch : public Watch {
 public:
  // After `patience` without a message, the watch asks the member for a sign of life, and gives it
  // as much time again to answer. If a call to the member has failed, the watch asks at once, and
  // gives it only `patience_if_suspected`.
  static constexpr Timers::Milliseconds patience{10'000};
  static constexpr Timers::Milliseconds patience_if_suspected{2'000};

  EtcdWatch(EtcdLine& line, std::set<EtcdWatch*>& all, Keys keys, Revision from,
            Store::Then<const WatchNews&> tell);
  ~EtcdWatch() override;

  void look_after(std::size_t endpoint);

 private:
  void open();
  void take(const std::string& message);
  void take_changes(etcd_messages::WatchAnswer answer);
  void take_ending(const Http2::Ending& ending);
  void ask_for_life(Timers::Milliseconds limit);
  void rest();
  void end(const WatchNews& news);
  // Ends the watch because of trouble. If `has_answered`, the member itself has ended the stream,
  // so the connection is alive and is kept.
  void lose(Trouble::Kind kind, const std::string& reason, bool has_answered);

  EtcdLine& line_;
  std::set<EtcdWatch*>& all_;
  Keys keys_;
  Revision from_;
  Store::Then<const WatchNews&> tell_;
  std::size_t endpoint_ = 0;
  Changes gathered_;  // the changes of one revision, until all have come
  std::unique_ptr<Http2::Call> stream_;
  std::unique_ptr<Timer> timer_;  // asks for a sign of life, or ends the watch
};

}  // namespace fleet
