// A copy of the whole store, as one member has it. It comes in parts, which in their order are the
// file that `etcdctl snapshot restore` reads. The last part is the checksum.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fleet/store/etcd_call.h"
#include "fleet/store/store.h"

namespace fleet {

class EtcdSnapshot {
 public:
  struct Observer {
    std::function<void(const std::string& bytes)> part;
    // Called once. Without a trouble, the copy is complete, as far as the member knows.
    std::function<void(const std::optional<Trouble>& trouble)> ended;
  };

  // Destroying the object ends the copying; `ended` may do that.
  EtcdSnapshot(EtcdLine& line, Observer observer);

 private:
  void take(const std::string& message);
  void take_ending(const Http2::Ending& ending);

  EtcdLine& line_;
  Observer observer_;
  std::size_t endpoint_ = 0;
  bool is_damaged_ = false;
  std::unique_ptr<Http2::Call> call_;
};

}  // namespace fleet
