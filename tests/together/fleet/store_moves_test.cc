// Tests how a client leaves a real member of etcd that is silent or gone. All requests and watches
// of the client must move to another member together, over one new connection. No change may be
// lost or reported twice.
#include <catch2/catch.hpp>

#include "fleet/store/etcd_store.h"
#include "fleet/store/lease_keeper.h"
#include "fleet/store/mirror.h"
#include "tests/together/fleet/etcd_cluster.h"
#include "tests/together/fleet/turning_loop.h"

namespace store_moves_test {

using namespace fleet;
using namespace fleet::test;
using namespace std::chrono_literals;

namespace {

using Mode = TcpProxy::Mode;

// Three members of etcd and two clients. The first client has the same mirrors and the same lease
// as a fleet-agent, and a proxy on the way to each member. The second client reaches the members
// directly.
class Bench {
 public:
  Bench() {
    std::vector<std::string> urls;
    for (std::size_t member = 0; member < cluster_.count(); ++member) {
      const auto rule = [this, member](int) { return modes_.at(member).load(); };
      ways_.push_back(
          std::make_unique<TcpProxy>(cluster_.client_port(member), rule, [](int) { return 0; }));
      urls.push_back(cluster_.url(ways_.back()->port()));
    }
    other_ = open(cluster_.endpoints());
    node_ = open(urls);
    for (const char* prefix : {"/a/", "/b/", "/c/", "/d/"}) {
      mirrors_.push_back(std::make_unique<Mirror>(
          *node_, timers(), Keys{prefix, true},
          Mirror::Observer{.changed = [this](const Changes& changes) { take(changes); }}, 1));
    }
    lease_ = std::make_unique<LeaseKeeper>(
        *node_, timers(), 6s,
        LeaseKeeper::Observer{.taken = [](const Lease&) {}, .lost = [](const std::string&) {}}, 1);
    REQUIRE(wait([this] { return is_connected(); }));
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  EtcdCluster& cluster() { return cluster_; }
  Store& node() { return *node_; }
  Timers& timers() { return loop_.timers(); }
  [[nodiscard]] bool is_connected() const {
    return lease_->lease() != 0 && follows() == mirrors_.size();
  }
  // Returns how many of the first client's four mirrors follow the store.
  [[nodiscard]] std::size_t follows() const {
    return static_cast<std::size_t>(std::count_if(
        mirrors_.begin(), mirrors_.end(), [](const auto& mirror) { return mirror->follows(); }));
  }
  void set_way(std::size_t member, Mode mode) { modes_.at(member) = mode; }
  void set_ways(Mode mode) {
    for (auto& one : modes_) {
      one = mode;
    }
  }
  // Returns how many connections the first client has opened so far, to all members together.
  [[nodiscard]] std::size_t opened() const {
    std::size_t all = 0;
    for (const auto& way : ways_) {
      all += way->opened();
    }
    return all;
  }
  [[nodiscard]] std::size_t open_now() const {
    std::size_t all = 0;
    for (const auto& way : ways_) {
      all += way->open_now();
    }
    return all;
  }
  // Returns the number of the member to which the first client is connected.
  [[nodiscard]] std::size_t asked() const {
    std::size_t member = 0;
    while (ways_.at(member)->open_now() == 0) {
      ++member;
    }
    return member;
  }

  // Writes a key that one of the mirrors copies, with the second client. Tries again until the
  // write is committed.
  void put(const std::string& key, const std::string& value) {
    commit({.puts = {Put{key, value}}});
  }
  void commit(const Transaction& transaction) {
    bool done = false;
    while (!done) {
      bool answered = false;
      other_->commit(transaction, [&](const Outcome& outcome) {
        answered = true;
        done = std::holds_alternative<Committed>(outcome);
      });
      REQUIRE(wait([&] { return answered; }));
    }
  }
  // Returns the values of all changes that the mirrors have reported, in the order of the reports.
  [[nodiscard]] const std::vector<std::string>& told() const { return told_; }

  template <class Condition>
  bool wait(const Condition& condition) {
    return loop_.wait(condition, 90s);
  }

  [[nodiscard]] std::unique_ptr<EtcdStore> open(std::vector<std::string> urls) {
    return std::make_unique<EtcdStore>(
        loop_.loop(),
        EtcdStore::Settings{
            .endpoints = std::move(urls), .certificates = cluster_.certificates(), .deadline = 3s});
  }

 private:
  void take(const Changes& changes) {
    for (const Change& change : changes.changes) {
      told_.push_back(change.now.value);
    }
  }

  EtcdCluster cluster_{3};
  TurningLoop loop_;
  std::array<std::atomic<Mode>, 3> modes_{Mode::pass, Mode::pass, Mode::pass};
  std::vector<std::unique_ptr<TcpProxy>> ways_;
  std::vector<std::string> told_;
  std::unique_ptr<EtcdStore> other_;
  std::unique_ptr<EtcdStore> node_;
  std::vector<std::unique_ptr<Mirror>> mirrors_;
  std::unique_ptr<LeaseKeeper> lease_;
};

}  // namespace

TEST_CASE("all that a client watches is on one connection") {
  Bench bench;
  CHECK(bench.opened() == 1);
}

TEST_CASE("a client leaves a member that is silent with all its watches, by one new connection") {
  Bench bench;
  bench.put("/a/1", "before");
  REQUIRE(bench.wait([&] { return !bench.told().empty(); }));
  const std::size_t silent = bench.asked();

  bench.set_way(silent, Mode::hold);
  for (const char* key : {"/a/2", "/b/2", "/c/2", "/d/2"}) {
    bench.put(key, "meanwhile");
  }
  REQUIRE(bench.wait([&] { return bench.follows() == 0; }));
  REQUIRE(bench.wait([&] { return bench.is_connected(); }));
  bench.put("/a/3", "after");
  REQUIRE(bench.wait([&] { return bench.told().back() == "after"; }));

  CHECK(bench.opened() == 2);
  CHECK(bench.told() == std::vector<std::string>{"before", "meanwhile", "meanwhile", "meanwhile",
                                                 "meanwhile", "after"});
  // Ends the fault, so that the proxy can see that the client has closed its old connection.
  bench.set_way(silent, Mode::pass);
  CHECK(bench.wait([&] { return bench.open_now() == 1; }));
}

TEST_CASE("a client to which all members were silent has one connection again") {
  Bench bench;

  for (int times = 0; times < 2; ++times) {
    bench.set_ways(Mode::hold);
    REQUIRE(bench.wait([&] { return bench.follows() == 0; }));
    bench.set_ways(Mode::pass);
    REQUIRE(bench.wait([&] { return bench.is_connected(); }));
  }

  CHECK(bench.wait([&] { return bench.open_now() == 1; }));
}

TEST_CASE("a client whose member is killed has one connection to another one") {
  Bench bench;
  const std::size_t killed = bench.asked();

  bench.cluster().kill(killed);
  REQUIRE(bench.wait([&] { return bench.follows() == 0; }));
  REQUIRE(bench.wait([&] { return bench.is_connected(); }));

  CHECK(bench.opened() == 2);
  CHECK(bench.wait([&] { return bench.open_now() == 1; }));
}

TEST_CASE("a client reads much in large pages over its one connection") {
  Bench bench;
  constexpr int records = 6'000;
  constexpr int a_time = 100;
  const std::string value(300, 'v');
  for (int from = 0; from < records; from += a_time) {
    Transaction transaction;
    for (int i = from; i < from + a_time; ++i) {
      transaction.puts.push_back(Put{"/much/" + std::to_string(100'000 + i), value});
    }
    bench.commit(transaction);
  }

  for (int times = 0; times < 20; ++times) {
    std::size_t found = 0;
    bench.node().read({"/much/", true}, [&found](const Reply<Reading>& answer) {
      const auto* reading = std::get_if<Reading>(&answer);
      found = reading == nullptr ? 1 : reading->found.size();
    });
    REQUIRE(bench.wait([&] { return found != 0; }));
    CHECK(found == records);
  }

  CHECK(bench.is_connected());
  CHECK(bench.opened() == 1);
}

TEST_CASE("a connection may take longer to open than a call may take") {
  EtcdCluster cluster(1);
  TurningLoop loop;
  std::atomic<Mode> mode = Mode::hold;
  TcpProxy way(
      cluster.client_port(0), [&mode](int) { return mode.load(); }, [](int) { return 0; });
  EtcdStore client(loop.loop(), EtcdStore::Settings{.endpoints = {cluster.url(way.port())},
                                                    .certificates = cluster.certificates(),
                                                    .deadline = 1s});
  // Sends one request to read. Returns whether the store has answered it.
  const auto read = [&] {
    std::optional<bool> answered;
    client.read({"/a/", true}, [&answered](const Reply<Reading>& answer) {
      answered = std::holds_alternative<Reading>(answer);
    });
    REQUIRE(loop.wait([&] { return answered.has_value(); }, 90s));
    return *answered;
  };
  // The client may take 8 s to open its third connection: this time limit doubles after each
  // failure.
  while (way.opened() < 3) {  // ends when two connections have failed
    CHECK_FALSE(read());
  }
  CHECK_FALSE(read());

  mode = Mode::pass;
  while (!read()) {  // ends at the first answer
  }
  CHECK(way.opened() == 3);
}

TEST_CASE("each watch ends on a member that has lost the majority, also where no other is known") {
  Bench bench;
  bench.put("/e/1", "before");
  const auto client = bench.open({bench.cluster().endpoints().front()});
  const LeaseKeeper lease(
      *client, bench.timers(), 3s,
      LeaseKeeper::Observer{.taken = [](const Lease&) {}, .lost = [](const std::string&) {}}, 1);
  constexpr std::size_t count = 60;
  std::size_t told = 0;
  std::size_t lost = 0;
  std::vector<std::unique_ptr<Watch>> watches;
  for (std::size_t i = 0; i < count; ++i) {
    watches.push_back(client->watch({"/e/", true}, 1, [&](const WatchNews& news) {
      ++(std::holds_alternative<WatchLost>(news) ? lost : told);
    }));
  }
  REQUIRE(bench.wait([&] { return told == count; }));

  bench.cluster().kill(1);
  bench.cluster().kill(2);

  CHECK(bench.wait([&] { return lost == count; }));
  CAPTURE(lost);
  CHECK(lost == count);
}

}  // namespace store_moves_test
