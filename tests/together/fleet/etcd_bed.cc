// Makes the store for the tests in store_contract.cc: one real member of etcd, or as many members
// as the environment variable FLEET_MEMBERS says. The members are started once for all tests.
#include <cstdlib>

#include "fleet/store/etcd_store.h"
#include "tests/together/fleet/etcd_cluster.h"
#include "tests/together/fleet/store_bed.h"
#include "tests/together/fleet/turning_loop.h"

namespace fleet::test {
namespace {

EtcdCluster& cluster() {
  static EtcdCluster members([] {
    const char* wanted = std::getenv("FLEET_MEMBERS");
    return wanted == nullptr ? std::size_t{1} : std::strtoul(wanted, nullptr, 10);
  }());
  return members;
}

class EtcdBed : public StoreBed {
 public:
  EtcdBed() {
    static int beds = 0;
    prefix_ = "/t/" + std::to_string(++beds) + "/";
    std::vector<std::string> urls;
    for (std::size_t i = 0; i < cluster().count(); ++i) {
      const auto rule = [this](int) { return mode_.load(); };
      ways_.push_back(
          std::make_unique<TcpProxy>(cluster().client_port(i), rule, [](int) { return 0; }));
      urls.push_back(cluster().url(ways_.back()->port()));
    }
    store_ = open(urls, 1);
    other_ = open(cluster().endpoints(), 2);
  }

  Store& store() override { return *store_; }
  Store& other() override { return *other_; }
  Timers& timers() override { return loop_.timers(); }
  void turn() override { loop_.turn(); }
  void compact(Revision revision) override { cluster().compact(revision); }
  void swallow_answers() override { mode_ = TcpProxy::Mode::swallow; }
  void break_connections() override {
    mode_ = TcpProxy::Mode::pass;
    for (const auto& way : ways_) {
      way->break_connections();
    }
  }
  void cut(Cut how) override {
    switch (how) {
      case Cut::none:
        mode_ = TcpProxy::Mode::pass;
        break;
      case Cut::refused:
        mode_ = TcpProxy::Mode::refuse;
        break;
      case Cut::silent:
        mode_ = TcpProxy::Mode::hold;
        break;
    }
  }

 private:
  std::unique_ptr<EtcdStore> open(std::vector<std::string> urls, std::uint64_t seed) {
    return std::make_unique<EtcdStore>(
        loop_.loop(), EtcdStore::Settings{.endpoints = std::move(urls),
                                          .certificates = cluster().certificates(),
                                          .deadline = std::chrono::milliseconds(3'000),
                                          .seed = seed});
  }

  TurningLoop loop_;
  std::atomic<TcpProxy::Mode> mode_ = TcpProxy::Mode::pass;
  std::vector<std::unique_ptr<TcpProxy>> ways_;
  std::unique_ptr<EtcdStore> store_;
  std::unique_ptr<EtcdStore> other_;
};

}  // namespace

std::unique_ptr<StoreBed> make_bed() {
  return std::make_unique<EtcdBed>();
}

}  // namespace fleet::test
