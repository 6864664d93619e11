// Copies the whole store from one member. The copy arrives in parts. All parts, written one after
// the other, make a file that `etcdctl snapshot restore` accepts. At the end of the file is its
// checksum.
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
    // Called once, at the end. If `trouble` has no value, the copy is complete.
    std::function<void(const std::optional<Trouble>& trouble)> ended;
  };

  // Begins to copy the store. The destructor breaks off the copying. `ended` may destroy this
  // object.
  EtcdSnapshot(EtcdLine& line, Observer observer);

 private:
  void leave() override {}  // the copy continues over the old connection
  void take(const std::string& message);
  void take_ending(const Http2::Ending& ending);

  Observer observer_;
  bool is_damaged_ = false;
  std::unique_ptr<Http2::Call> call_;
};

}  // namespace fleet
