// A watch on one member of etcd, over one open stream. If the client changes to another member, the
// watch ends. Its owner then begins a new watch, which uses the new member.
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
  Changes gathered_;  // the changes of a revision of which more changes will come
  std::unique_ptr<Http2::Call> stream_;
  std::unique_ptr<Timer> timer_;  // first opens the stream, then limits the time for that
};

}  // namespace fleet
