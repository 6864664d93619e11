// Copies the whole store, as one member has it. The copy comes in parts. Written one after the
// other, they are a file that `etcdctl snapshot restore` reads. The last part is the checksum.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fleet/store/etcd_call.h"
#include "fleet/store/store.h"

namespace fleet {

class EtcdSnapshot : public EtcdLine::Rider {
 public:
  struct Observer {
    std::function<void(const std::string& bytes)> part;
    // Called once, at the end. If there is no trouble, the copy is complete.
    std::function<void(const std::optional<Trouble>& trouble)> ended;
  };

  // Begins to copy. Destroying the object ends the copying; `ended` may destroy it.
  EtcdSnapshot(EtcdLine& line, Observer observer);

 private:
  void leave() override {}  // ignored: the copy goes on over the old connection
  void take(const std::string& message);
  void take_ending(const Http2::Ending& ending);

  Observer observer_;
  bool is_damaged_ = false;
  std::unique_ptr<Http2::Call> call_;
};

}  // namespace fleet
