// Implements the interface Store with etcd: by gRPC over HTTP/2, with mutual TLS. Each client uses
// one member of etcd at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fleet/store/etcd_call.h"
#include "fleet/store/store.h"
#include "fleet/store/uv_timers.h"

namespace fleet {

class EtcdStore : public Store {
 public:
  struct Settings {
    std::vector<std::string> endpoints;  // at least one member's URL, https://HOST:PORT
    Certificates certificates = {};      // the certificate files for https
    Http2::Judge judge = nullptr;        // the time with which members' certificates are checked
    std::chrono::milliseconds deadline{5'000};  // the time limit for one request to the store
    // The seed of random choices. Each client should have a different seed, so that the clients do
    // not all begin with the same member.
    std::uint64_t seed = 0;
    // True for programs that run on many machines, such as fleet-agent. They wait longer before
    // they give up a member. Before they connect to the next one, they pause for a random time of
    // up to some minutes, so that they do not all reconnect at the same moment.
    bool is_one_of_many = false;
    // True for a program that must not rely on old records, and of which there are few. It leaves a
    // member that is silent for some seconds, however often it has left members before.
    bool is_prompt = false;
  };

  EtcdStore(uv_loop_t& loop, Settings settings);
  ~EtcdStore() override;

  void read(Keys keys, Then<Reply<Reading>> then) override;
  void commit(Transaction transaction, Then<Outcome> then) override;
  void grant(std::chrono::seconds ttl, Then<Reply<Lease>> then) override;
  void keep_alive(LeaseId lease, Then<Reply<LeaseState>> then) override;
  void revoke(LeaseId lease, Then<Reply<LeaseState>> then) override;
  // Begins a watch. The watch must be destroyed before the store.
  [[nodiscard]] std::unique_ptr<Watch> watch(Keys keys, Revision from,
                                             Then<const WatchNews&> tell) override;

  // Returns the connection to etcd, for requests that are not about records: see etcd_admin.h.
  [[nodiscard]] EtcdLine& line() { return line_; }

 private:
  struct Reader;

  void ask(EtcdCall::Question question, Then<EtcdCall::Ended> then);
  void read_page(const std::shared_ptr<Reader>& reader);
  void take_page(const std::shared_ptr<Reader>& reader, const EtcdCall::Ended& ended);
  void answer_later(std::function<void()> call);

  Http2 http_;
  UvTimers timers_;
  EtcdLine line_;
  std::uint64_t seed_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, std::unique_ptr<EtcdCall>> calls_;
  std::map<std::uint64_t, std::unique_ptr<Timer>> answers_;
};

}  // namespace fleet
