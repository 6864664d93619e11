// A watch on a member of etcd: one open stream. Ends rather than keep silent: whoever wants more
// watches again, and reaches another member.
#pragma once

#include <memory>
#include <set>

#include "fleet/store/etcd_call.h"
#include "fleet/store/etcd_messages.h"
#include "fleet/store/store.h"

namespace fleet {

class EtcdWatch : public Watch {
 public:
  // A member that says nothing is asked for a sign of life so often, at once if it is suspected,
  // and given up after so long.
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
  void lose(Trouble::Kind kind, const std::string& reason);

  EtcdLine& line_;
  std::set<EtcdWatch*>& all_;
  Keys keys_;
  Revision from_;
  Store::Then<const WatchNews&> tell_;
  std::size_t endpoint_ = 0;
  Changes gathered_;  // of a revision that comes in parts
  std::unique_ptr<Http2::Call> stream_;
  std::unique_ptr<Timer> timer_;  // to ask, or to give up; or to begin
};

}  // namespace fleet
