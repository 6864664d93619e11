// Takes a snapshot of the store every hour, and keeps the last so many: files of one directory,
// each whole, as `etcdctl snapshot restore` takes them. When and which:
// fleet/model/snapshot_files.h.
#pragma once

#include <sodium.h>

#include <memory>
#include <optional>
#include <string>

#include "base/owned_fd.h"
#include "fleet/model/time_zone.h"
#include "fleet/store/etcd_snapshot.h"
#include "fleet/store/timers.h"

namespace fleet {

class Snapshots {
 public:
  struct Settings {
    std::string directory = {};  // empty: none are taken
    int kept = 48;
  };

  // The line outlives it.
  Snapshots(Timers& timers, EtcdLine& line, Settings settings);

  // When the last was taken, in seconds since 1970; 0: there is none.
  [[nodiscard]] UnixSeconds taken() const { return taken_; }

 private:
  void wait();
  void begin();
  void take(const std::string& bytes);
  void end(const std::optional<Trouble>& trouble);
  void try_later(const std::string& why);
  [[nodiscard]] std::string put_in_place();
  void remove_old();
  [[nodiscard]] std::string path(const std::string& name) const {
    return settings_.directory + "/" + name;
  }

  Timers& timers_;
  EtcdLine& line_;
  Settings settings_;
  UnixSeconds taken_ = 0;
  upgrader::OwnedFd file_;
  std::string last_;   // the bytes that are not summed yet: at its end, the sum itself
  std::string error_;  // why the file is no good
  crypto_hash_sha256_state sum_{};
  std::unique_ptr<EtcdSnapshot> under_way_;
  std::unique_ptr<Timer> later_;
};

}  // namespace fleet
