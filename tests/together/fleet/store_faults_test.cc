// Tests the client for etcd with three real members that have faults. Several clients compare and
// write the same keys: the store must lose no acknowledged write, and make no write twice. A client
// that leaves a silent or dead member must move all its requests and watches together to one other
// member.
#include <catch2/catch.hpp>

#include "fleet/store/etcd_store.h"
#include "fleet/store/lease_keeper.h"
#include "fleet/store/mirror.h"
#include "tests/together/fleet/etcd_cluster.h"
#include "tests/together/fleet/register_play.h"
#include "tests/together/fleet/turning_loop.h"

namespace store_faults_test {

using namespace fleet;
using namespace fleet::test;
using namespace std::chrono_literals;

// ---- writes to members with faults

namespace {

// Three members of etcd, two clients for each member, and a watch of all keys. If the watch ends,
// the bench starts it again.
class Bench {
 public:
  // Connects each client to one member, through a proxy with which the test can disturb the
  // connection. With `reserves`, each client can also reach the other members, without a proxy.
  explicit Bench(bool reserves = true) {
    board_.prefix = "/r/";
    witness_store_ = open(cluster_.endpoints(), 7);
    watch_on();
    for (std::size_t i = 0; i < 6; ++i) {
      const std::size_t member = i % cluster_.count();
      const auto rule = [this](int) { return mode_.load(); };
      ways_.push_back(
          std::make_unique<TcpProxy>(cluster_.client_port(member), rule, [](int) { return 0; }));
      std::vector<std::string> urls{cluster_.url(ways_.back()->port())};
      for (std::size_t k = 1; reserves && k < cluster_.count(); ++k) {
        urls.push_back(cluster_.endpoints()[(member + k) % cluster_.count()]);
      }
      stores_.push_back(open(urls, 100 * cluster_.count() * (i + 1)));
    }
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      clients_.push_back(std::make_unique<RegisterClient>(*stores_[i], timers(), board_, i));
    }
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  EtcdCluster& cluster() { return cluster_; }
  Timers& timers() { return loop_.timers(); }
  // A fault may hit all connections of the client `victim`. No fault hits the client `safe`.
  Store& victim() { return *stores_.front(); }
  Store& safe() { return *witness_store_; }
  void set_ways(TcpProxy::Mode mode) { mode_ = mode; }

  template <class Condition>
  bool wait(const Condition& condition) {
    return loop_.wait(condition, 60s);
  }
  // Waits until the store has acknowledged `writes` more writes of the clients.
  bool progress(std::size_t writes) {
    const std::size_t before = board_.judge.acknowledged();
    return wait([&] { return board_.judge.acknowledged() >= before + writes; });
  }
  // Lets this time pass, whether or not writes are acknowledged.
  void pass(std::chrono::milliseconds time) {
    const auto end = timers().now() + time;
    wait([&] { return timers().now() >= end; });
  }
  // Ends the clients, and waits until none of them waits for an answer. Returns all contradictions
  // between the answers and the store's history.
  std::vector<std::string> verdict() {
    board_.over = true;
    const bool rested = wait([this] {
      for (const auto& client : clients_) {
        if (!client->is_idle()) return false;
      }
      return true;
    });
    REQUIRE(rested);
    // A member may still commit a write whose outcome is unknown to the client. Waits until no
    // member can commit such a write any more.
    pass(7s);
    REQUIRE(commit_mark());
    REQUIRE(wait([this] { return seen_ >= mark_; }));
    return board_.judge.violations();
  }
  const Judge& judge() { return board_.judge; }

 private:
  std::unique_ptr<EtcdStore> open(std::vector<std::string> urls, std::uint64_t seed) {
    return std::make_unique<EtcdStore>(loop_.loop(),
                                       EtcdStore::Settings{.endpoints = std::move(urls),
                                                           .certificates = cluster_.certificates(),
                                                           .deadline = 3s,
                                                           .seed = seed});
  }
  // Watches all changes from the beginning of the history on. If the watch ends, starts a new watch
  // from the revision at which the old watch ended. No change is missed, since the history is never
  // compacted in this test.
  void watch_on() {
    watch_ = witness_store_->watch({"/r/", true}, seen_ + 1, [this](const WatchNews& news) {
      if (const auto* changes = std::get_if<Changes>(&news)) {
        seen_ = changes->revision;
        return board_.judge.saw(*changes);
      }
      watch_ = nullptr;
      retry_ = timers().after(100ms, [this] { watch_on(); });
    });
  }
  bool commit_mark() {
    const Transaction mark{.puts = {Put{"/r/mark", "mark"}}};
    bool answered = true;
    return wait([&] {
      if (!std::exchange(answered, false)) return mark_ != 0;
      witness_store_->commit(mark, [&](const Outcome& outcome) {
        answered = true;
        if (const auto* done = std::get_if<Committed>(&outcome)) mark_ = done->revision;
      });
      return false;
    });
  }

  EtcdCluster cluster_{3};
  TurningLoop loop_;
  RegisterClient::Board board_;
  std::atomic<TcpProxy::Mode> mode_ = TcpProxy::Mode::pass;
  Revision seen_ = 0;
  Revision mark_ = 0;
  std::vector<std::unique_ptr<TcpProxy>> ways_;
  std::unique_ptr<EtcdStore> witness_store_;
  std::vector<std::unique_ptr<EtcdStore>> stores_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Timer> retry_;
  std::vector<std::unique_ptr<RegisterClient>> clients_;
};

}  // namespace

// Requires that the clients' writes succeed again after a fault, and that all answers of the store
// agree with its history.
#define REQUIRE_WELL(bench)                               \
  REQUIRE((bench).progress(200));                         \
  CHECK((bench).verdict() == std::vector<std::string>()); \
  WARN((bench).judge().acknowledged()                     \
       << " acknowledged, " << (bench).judge().unknown() << " unknown")

TEST_CASE("the leader is killed three times") {
  Bench bench;
  REQUIRE(bench.progress(100));

  for (int i = 0; i < 3; ++i) {
    const std::size_t leader = bench.cluster().leader();
    bench.cluster().kill(leader);
    REQUIRE(bench.progress(100));
    bench.cluster().start(leader);
    REQUIRE(bench.progress(50));
  }

  REQUIRE_WELL(bench);
}

TEST_CASE("all members are killed at once, twice, and come back") {
  Bench bench;
  REQUIRE(bench.progress(100));

  for (int i = 0; i < 2; ++i) {
    bench.cluster().kill_all();
    bench.pass(300ms);
    for (std::size_t member = 0; member < bench.cluster().count(); ++member) {
      bench.cluster().start(member);
    }
    REQUIRE(bench.progress(100));
  }

  REQUIRE_WELL(bench);
}

TEST_CASE("the leader is frozen, and wakes up when there is another one") {
  Bench bench;
  REQUIRE(bench.progress(100));

  const std::size_t leader = bench.cluster().leader();
  bench.cluster().stop(leader);
  REQUIRE(bench.progress(100));
  bench.cluster().cont(leader);
  REQUIRE(bench.progress(100));

  REQUIRE_WELL(bench);
}

TEST_CASE("the leader is cut off from the other members, and not from its clients") {
  Bench bench;
  REQUIRE(bench.progress(100));

  const std::size_t leader = bench.cluster().leader();
  bench.cluster().isolate(leader);
  REQUIRE(bench.progress(200));
  bench.cluster().isolate(leader, false);
  REQUIRE(bench.progress(100));

  REQUIRE_WELL(bench);
}

TEST_CASE("answers are lost, and connections break, while clients write") {
  // Each client knows only one member here, so no client can avoid the faults by moving to a
  // different member.
  Bench bench(false);
  REQUIRE(bench.progress(100));

  for (int i = 0; i < 5; ++i) {
    bench.set_ways(TcpProxy::Mode::swallow);
    bench.pass(100ms);
    bench.set_ways(i % 2 == 0 ? TcpProxy::Mode::refuse : TcpProxy::Mode::hold);
    bench.pass(100ms);
    bench.set_ways(TcpProxy::Mode::pass);
    REQUIRE(bench.progress(50));
  }

  CHECK(bench.judge().unknown() > 0);
  REQUIRE_WELL(bench);
}

TEST_CASE("a mirror that was cut off misses nothing, even if all is compacted meanwhile") {
  Bench bench;
  Mirror mirror(bench.victim(), bench.timers(), {"/m/", true}, {.changed = [](const Changes&) {}},
                1);
  Revision last = 0;
  // Commits the transaction. Tries again if the outcome is unknown, since members that were stopped
  // may need some time to elect a leader.
  const auto put = [&](const Transaction& transaction) {
    last = 0;
    for (int tries = 0; last == 0 && tries < 10; ++tries) {
      bool is_answered = false;
      bench.safe().commit(transaction, [&](const Outcome& outcome) {
        is_answered = true;
        if (const auto* done = std::get_if<Committed>(&outcome)) last = done->revision;
      });
      REQUIRE(bench.wait([&] { return is_answered; }));
    }
    REQUIRE(last != 0);
  };
  put({.puts = {Put{"/m/stays", "1"}, Put{"/m/goes", "1"}, Put{"/m/changes", "1"}}});
  REQUIRE(bench.wait([&] { return mirror.records().size() == 3; }));

  for (std::size_t member = 0; member < 3; ++member) {
    bench.cluster().stop(member);
  }
  REQUIRE(bench.wait([&] { return !mirror.follows(); }));
  for (std::size_t member = 0; member < 3; ++member) {
    bench.cluster().cont(member);
  }
  put({.puts = {Put{"/m/changes", "2"}, Put{"/m/comes", "2"}}, .erases = {Erase{"/m/goes"}}});
  bench.cluster().compact(last);

  REQUIRE(bench.wait([&] { return mirror.revision() >= last; }));
  REQUIRE(mirror.records().size() == 3);
  CHECK(mirror.find("/m/stays")->value == "1");
  CHECK(mirror.find("/m/changes")->value == "2");
  CHECK(mirror.find("/m/comes")->value == "2");
}

TEST_CASE("a question by compares alone gets no stale answer") {
  EtcdCluster cluster(3);
  uv_loop_t loop{};
  uv_loop_init(&loop);
  uv_timer_t tick{};
  uv_timer_init(&loop, &tick);
  uv_timer_start(
      &tick, [](uv_timer_t*) {}, 2, 2);
  // Isolates a member that is not the leader. For a second this member does not notice the
  // isolation. Meanwhile the two other members commit writes that the isolated member does not
  // know.
  const std::size_t alone = (cluster.leader() + 1) % 3;
  const auto open = [&](const std::vector<std::string>& urls) {
    return std::make_unique<EtcdStore>(
        loop, EtcdStore::Settings{
                  .endpoints = urls, .certificates = cluster.certificates(), .deadline = 3s});
  };
  auto old = open({cluster.url(cluster.client_port(alone))});
  auto now = open({cluster.url(cluster.client_port((alone + 1) % 3)),
                   cluster.url(cluster.client_port((alone + 2) % 3))});
  const auto commit = [&](Store& store, const Transaction& transaction) {
    std::optional<Outcome> outcome;
    store.commit(transaction, [&](const Outcome& answer) { outcome = answer; });
    while (!outcome) {
      uv_run(&loop, UV_RUN_ONCE);
    }
    return *outcome;
  };
  const Outcome first = commit(*old, {.puts = {Put{"/stop", "no"}}});
  REQUIRE(std::holds_alternative<Committed>(first));
  const Transaction question{
      .compares = {Compare{.key = "/stop", .revision = std::get<Committed>(first).revision}}};
  REQUIRE(std::holds_alternative<Committed>(commit(*old, question)));

  cluster.isolate(alone);
  Outcome changed;
  do {
    changed = commit(*now, {.puts = {Put{"/stop", "yes"}}});
  } while (!std::holds_alternative<Committed>(changed));

  CHECK_FALSE(std::holds_alternative<Committed>(commit(*old, question)));
  old = nullptr;
  now = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&tick), nullptr);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
}

// ---- a client that leaves a member: it uses one new connection, and no change is lost or reported
// twice

namespace {

using Mode = TcpProxy::Mode;

// Three members of etcd and two clients. Like a fleet-agent, the first client has a lease and four
// mirrors (local copies of some records). It reaches each member through a proxy. The second client
// reaches the members directly.
class MoveBench {
 public:
  MoveBench() {
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
  MoveBench(const MoveBench&) = delete;
  MoveBench& operator=(const MoveBench&) = delete;

  EtcdCluster& cluster() { return cluster_; }
  Store& node() { return *node_; }
  Timers& timers() { return loop_.timers(); }
  [[nodiscard]] bool is_connected() const {
    return lease_->lease() != 0 && follows() == mirrors_.size();
  }
  // Returns how many of the first client's four mirrors are kept up to date by the store now.
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

  // Writes the key through the second client, and tries again until the write is committed. The
  // first client has four mirrors (local copies of records): of the keys that begin with /a/, /b/,
  // /c/ and /d/.
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
  MoveBench bench;
  CHECK(bench.opened() == 1);
}

TEST_CASE("a client leaves a member that is silent with all its watches, by one new connection") {
  MoveBench bench;
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
  MoveBench bench;

  for (int times = 0; times < 2; ++times) {
    bench.set_ways(Mode::hold);
    REQUIRE(bench.wait([&] { return bench.follows() == 0; }));
    bench.set_ways(Mode::pass);
    REQUIRE(bench.wait([&] { return bench.is_connected(); }));
  }

  CHECK(bench.wait([&] { return bench.open_now() == 1; }));
}

TEST_CASE("a client whose member is killed has one connection to another one") {
  MoveBench bench;
  const std::size_t killed = bench.asked();

  bench.cluster().kill(killed);
  REQUIRE(bench.wait([&] { return bench.follows() == 0; }));
  REQUIRE(bench.wait([&] { return bench.is_connected(); }));

  CHECK(bench.opened() == 2);
  CHECK(bench.wait([&] { return bench.open_now() == 1; }));
}

TEST_CASE("a client reads much in large pages over its one connection") {
  MoveBench bench;
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
  // The client's time limit for opening a connection doubles after each failure. So the client may
  // take 8 s to open its third connection.
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
  MoveBench bench;
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

}  // namespace store_faults_test
