// A watch on one member of etcd: one open stream. If the client leaves the member, the watch ends.
// Its owner then begins another watch, which asks another member.
#pragma once

#include <memory>

#include "fleet/store/etcd_line.h"
#include "fleet/store/etcd_messages.h"
#include "fleet/store/store.h"

namespace fleet {

class EtcdWatch : public Watch, public EtcdLine::Rider {
 public:
  EtcdWatch(EtcdLine& line, Keys keys, Revision from, Store::Then<const WatchNews&> tell);

 private:
  void leave() override;
  bool ask_for_life() override;
  void open();
  void take(const std::string& message);
  void take_changes(etcd_messages::WatchAnswer answer);
  void take_ending(const Http2::Ending& ending);
  void end(const WatchNews& news);
  void lose(Trouble::Kind kind, const std::string& reason);

  Keys keys_;
  Revision from_;
  Store::Then<const WatchNews&> tell_;
  Changes gathered_;  // the changes of a revision that is still incomplete
  std::unique_ptr<Http2::Call> stream_;
  std::unique_ptr<Timer> timer_;  // opens the stream; later limits the time for its opening
};

}  // namespace fleet
