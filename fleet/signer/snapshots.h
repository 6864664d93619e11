// Takes a snapshot of the store every hour, and keeps the last `kept` snapshots. Each snapshot is
// one complete file, which `etcdctl snapshot restore` accepts. fleet/model/signer/store_snapshots.h
// decides when a snapshot is taken and which old snapshots are deleted.
#pragma once

#include <sodium.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/owned_fd.h"
#include "fleet/model/records/time.h"
#include "fleet/store/etcd_admin.h"
#include "fleet/store/timers.h"

namespace fleet {

class Snapshots {
 public:
  struct Settings {
    std::string directory = {};
    int kept = 48;
  };

  // `line` is the connection to etcd, and must live longer than this object. `attempted` is called
  // after each attempt to take a snapshot, successful or not.
  Snapshots(Timers& timers, EtcdLine& line, Settings settings, std::function<void()> attempted);

  // Returns when the last snapshot was taken, or 0 if there is none.
  [[nodiscard]] UnixSeconds taken() const { return taken_; }
  // Returns why the last attempt to take a snapshot failed, or an empty string if it succeeded.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

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
  std::function<void()> attempted_;
  UnixSeconds taken_ = 0;
  std::string trouble_;
  upgrader::OwnedFd file_;
  std::string last_;   // received bytes that `sum_` does not contain; at the end, the checksum
  std::string error_;  // why the current snapshot cannot be used
  crypto_hash_sha256_state sum_{};
  std::unique_ptr<EtcdSnapshot> under_way_;
  std::unique_ptr<Timer> later_;
};

}  // namespace fleet
