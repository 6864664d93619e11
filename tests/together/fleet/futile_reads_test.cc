// Tests reads that fail at once: the answer of the store cannot be decoded, or a watch ends as soon
// as it has begun. Such a read must be repeated, but only after a pause.
#include <uv.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "fleet/agent/component.h"
#include "tests/support/temporary_directory.h"
#include "tests/together/fleet/fake_store.h"

namespace futile_reads_test {

using namespace fleet;
using namespace std::chrono_literals;

namespace {

// A store whose answers come at once. While `is_futile` is true, the records of releases cannot be
// decoded, and watches end at once.
class FutileStore : public FakeStore {
 public:
  FutileStore(VirtualTime& time, FakeCell& cell) : FakeStore(time, cell), time_(time) {}

  void read(Keys keys, Then<Reply<Reading>> then) override {
    const bool is_release = keys.key.starts_with(prefix_of(KeyKind::release));
    if (is_release || keys.below) ++reads;
    if (!is_release || !is_futile) return FakeStore::read(std::move(keys), std::move(then));
    time_.post(0ms, [then = std::move(then)] {
      then(Trouble{Trouble::Kind::unreachable, "an answer that is none"});
    });
  }
  std::unique_ptr<Watch> watch(Keys keys, Revision from, Then<const WatchNews&> tell) override {
    if (!is_futile) return FakeStore::watch(std::move(keys), from, std::move(tell));
    time_.post(0ms, [tell = std::move(tell)] { tell(Relist{}); });
    return std::make_unique<NoWatch>();
  }

  bool is_futile = true;
  int reads = 0;

 private:
  class NoWatch : public Watch {};

  VirtualTime& time_;
};

// Lets `length` of the simulated time pass. Returns false if 10,000 timers run before this time is
// over, as they do if a read is repeated without a pause.
bool wait(VirtualTime& time, Timers::Milliseconds length) {
  const auto end = time.now() + length;
  for (int i = 0; i < 10'000; ++i) {
    if (!time.run_next_until(end)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("the record of a release is read again after a pause if it cannot be decoded") {
  const TemporaryDirectory directory;
  uv_loop_t loop{};
  REQUIRE(uv_loop_init(&loop) == 0);
  VirtualTime time;
  FakeCell cell(time);
  FutileStore store(time, cell);
  std::unique_ptr<Component> component;
  const std::string command = key_of(KeyKind::node_command, {"n", "web"});
  cell.commit({.puts = {{command, write_record(Command{.id = "t.prepare.1",
                                                       .action = CommandAction::prepare,
                                                       .version = "2",
                                                       .digest = "d",
                                                       .trace = "t"})}}});
  const std::string active = key_of(KeyKind::node_active, {"n"});
  const Revision acts = std::get<Committed>(cell.commit({.puts = {{active, "i"}}})).revision;
  Mirror mirror(store, time, {node_prefix("n"), true}, {.changed = [](const Changes&) {}}, 1);
  store.is_futile = false;
  KeptRecords records(store, time, mirror, 1, {.denied = [](const std::string&) {}});
  REQUIRE(wait(time, 1s));
  store.is_futile = true;
  store.reads = 0;
  NodeDesk desk{.node = "n",
                .instance = "i",
                .boot_id = "b",
                .store = store,
                .timers = time,
                .mirror = mirror,
                .records = records,
                .active = acts};
  component = std::make_unique<Component>(
      loop, desk,
      Component::Settings{.name = "web",
                          .releases = {directory.path(), "web", directory.path()},
                          .ledger = directory.path() + "/ledger"},
      Component::Hands{});
  component->begin({}, {}, "1");
  component->settle("", "");
  component->look();

  CHECK(wait(time, 10s));

  CHECK(store.reads > 3);
  CHECK(store.reads < 20);
  store.is_futile = false;
  CHECK(wait(time, 10s));
  const Answer* answer = component->ledger()->answer_to("t.prepare.1");
  REQUIRE(answer != nullptr);
  CHECK(answer->result == "release 2 is not published");

  component = nullptr;
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
}

TEST_CASE("all records are read again after a pause if the store ends each watch at once") {
  VirtualTime time;
  FakeCell cell(time);
  FutileStore store(time, cell);
  cell.commit({.puts = {{"/n/a", "1"}}});
  const Mirror mirror(store, time, {"/n/", true}, {.changed = [](const Changes&) {}}, 1);

  CHECK(wait(time, 60s));

  CHECK(store.reads > 3);
  CHECK(store.reads < 30);
  store.is_futile = false;
  CHECK(wait(time, 60s));
  CHECK(mirror.follows());
}

}  // namespace futile_reads_test
