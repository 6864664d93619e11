// A copy of the whole store, as one member has it: comes in parts, which in their order are the
// file that `etcdctl snapshot restore` takes. Its own sum stands at its end.
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
    // Once; none: it was whole, as far as the member says.
    std::function<void(const std::optional<Trouble>& trouble)> ended;
  };

  // Ends it when it is destroyed, which `ended` may do.
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
