// Tests the contract that every store must meet. These tests are linked into two programs: one with
// the fake store, and one with real members of etcd (see store_bed.h).
#include <catch2/catch.hpp>

#include "tests/together/fleet/store_bed.h"

using namespace fleet;
using namespace fleet::test;
using namespace std::chrono_literals;

namespace {

// Collects the reports of a watch: changes, its end, or the demand that the client reads all
// records again.
struct Told {
  std::vector<Change> changes = {};
  std::optional<Relist> relist = {};
  std::optional<WatchLost> lost = {};
  Revision revision = 0;

  void take(const WatchNews& news) {
    if (const auto* some = std::get_if<Changes>(&news)) {
      changes.insert(changes.end(), some->changes.begin(), some->changes.end());
      revision = some->revision;
    }
    if (const auto* gone = std::get_if<Relist>(&news)) relist = *gone;
    if (const auto* ended = std::get_if<WatchLost>(&news)) lost = *ended;
  }
};

std::unique_ptr<Watch> watch(Store& store, Keys keys, Revision from, Told& told) {
  return store.watch(std::move(keys), from, [&told](const WatchNews& news) { told.take(news); });
}

std::vector<std::string> values(const Told& told) {
  std::vector<std::string> list;
  for (const Change& change : told.changes) {
    list.push_back(change.erased ? "(erased)" : change.now.value);
  }
  return list;
}

}  // namespace

TEST_CASE("a committed record is read, with the revisions of its creation and its last write") {
  const auto bed = make_bed();
  const std::string key = bed->key("a");

  const Revision first = committed(bed->commit(put(key, "1")));
  const Revision second = committed(bed->commit(put(key, "2")));
  const Reading reading = bed->read({key});

  REQUIRE(reading.found.size() == 1);
  CHECK(first > 0);
  CHECK(reading.found[0] ==
        KeyValue{.key = key, .value = "2", .created = first, .modified = second});
  CHECK(reading.revision == second);
}

TEST_CASE("a key that is absent is read as nothing, at a revision") {
  const auto bed = make_bed();

  const Reading reading = bed->read({bed->key("absent")});

  CHECK(reading.found.empty());
  CHECK(reading.revision > 0);
}

TEST_CASE("keys below a prefix are read in their order, and no others") {
  const auto bed = make_bed();
  for (const char* name : {"n/2", "n/1", "n/10", "n", "o/1"}) {
    REQUIRE(committed(bed->commit(put(bed->key(name), name))) > 0);
  }

  const Reading reading = bed->read({bed->key("n/"), true});

  std::vector<std::string> found;
  for (const KeyValue& record : reading.found) {
    found.push_back(record.value);
  }
  CHECK(found == std::vector<std::string>{"n/1", "n/10", "n/2"});
}

TEST_CASE("values are bytes: empty ones, zeros and invalid UTF-8 come back unchanged") {
  const auto bed = make_bed();
  const std::string value = GENERATE(std::string(), std::string("a\0b\0", 4),
                                     std::string("\xff\xfe\x80"), std::string(65'536, 'x'));

  REQUIRE(committed(bed->commit(put(bed->key("bytes"), value))) > 0);

  CHECK(bed->read({bed->key("bytes")}).found.at(0).value == value);
}

TEST_CASE("more keys than fit into one answer are all read at one revision") {
  const auto bed = make_bed();
  constexpr int keys = 1'200;
  for (int from = 0; from < keys; from += 100) {
    Transaction transaction;
    for (int i = from; i < from + 100; ++i) {
      transaction.puts.push_back(Put{bed->key("many/" + std::to_string(10'000 + i)), "v"});
    }
    REQUIRE(committed(bed->commit(transaction)) > 0);
  }

  const Reading reading = bed->read({bed->key("many/"), true});

  REQUIRE(reading.found.size() == keys);
  for (std::size_t i = 1; i < reading.found.size(); ++i) {
    CHECK(reading.found[i - 1].key < reading.found[i].key);
  }
}

TEST_CASE("a transaction writes all or nothing") {
  const auto bed = make_bed();
  const Revision first = committed(bed->commit(put(bed->key("a"), "1")));
  const Transaction two = both(put(bed->key("a"), "2"), put(bed->key("b"), "2"));

  const Outcome stale = bed->commit(given(two, bed->key("a"), first - 1));
  const Reading untouched = bed->read({bed->key(""), true});
  const Outcome right = bed->commit(given(two, bed->key("a"), first));
  const Reading written = bed->read({bed->key(""), true});

  CHECK(std::holds_alternative<Refused>(stale));
  REQUIRE(untouched.found.size() == 1);
  CHECK(untouched.found[0].value == "1");
  REQUIRE(committed(right) > first);
  REQUIRE(written.found.size() == 2);
  CHECK(written.found[0].modified == written.found[1].modified);
}

TEST_CASE("of two clients that create the same key one is refused") {
  const auto bed = make_bed();

  const Outcome one = bed->commit(given(put(bed->key("lock"), "1"), bed->key("lock"), 0));
  const Outcome two =
      bed->commit(bed->other(), given(put(bed->key("lock"), "2"), bed->key("lock"), 0));

  CHECK(committed(one) > 0);
  CHECK(std::holds_alternative<Refused>(two));
  CHECK(bed->read({bed->key("lock")}).found.at(0).value == "1");
}

TEST_CASE("a key that was erased and came back has another revision of its creation") {
  const auto bed = make_bed();
  const std::string key = bed->key("driver");
  const Revision created = committed(bed->commit(put(key, "1")));
  REQUIRE(committed(bed->commit(put(key, "2"))) > 0);
  const Transaction fenced{.compares = {Compare{key, Compare::Of::created, created}},
                           .puts = {Put{bed->key("order"), "by 1"}}};
  REQUIRE(committed(bed->commit(fenced)) > 0);

  REQUIRE(committed(bed->commit(erase(key))) > 0);
  REQUIRE(committed(bed->commit(put(key, "3"))) > 0);
  const Outcome superseded = bed->commit(fenced);

  CHECK(std::holds_alternative<Refused>(superseded));
}

TEST_CASE("a whole subtree is erased, and not its neighbours") {
  const auto bed = make_bed();
  for (const char* name : {"n/1", "n/2", "n", "n0"}) {
    REQUIRE(committed(bed->commit(put(bed->key(name), "v"))) > 0);
  }

  REQUIRE(committed(bed->commit(erase(bed->key("n/"), true))) > 0);

  CHECK(bed->read({bed->key(""), true}).found.size() == 2);
}

TEST_CASE("a transaction without writes says whether its compares hold") {
  const auto bed = make_bed();
  const Revision first = committed(bed->commit(put(bed->key("a"), "1")));

  const Outcome holds = bed->commit(given({}, bed->key("a"), first));
  const Outcome does_not = bed->commit(given({}, bed->key("a"), first + 1));

  CHECK(committed(holds) >= first);
  CHECK(std::holds_alternative<Refused>(does_not));
}

TEST_CASE("a transaction that no store takes is denied, and nothing of it is written") {
  const auto bed = make_bed();
  Transaction twice = both(put(bed->key("a"), "1"), put(bed->key("a"), "2"));
  Transaction many;
  for (std::size_t i = 0; i <= operations_max; ++i) {
    many.puts.push_back(Put{bed->key(std::to_string(i)), "v"});
  }

  CHECK(std::holds_alternative<Denied>(bed->commit(twice)));
  CHECK(std::holds_alternative<Denied>(bed->commit(many)));
  CHECK(bed->read({bed->key(""), true}).found.empty());
}

TEST_CASE("as many operations as are allowed are taken in one transaction") {
  const auto bed = make_bed();
  Transaction many;
  for (std::size_t i = 0; i < operations_max; ++i) {
    many.puts.push_back(Put{bed->key(std::to_string(i)), "v"});
    many.compares.push_back(Compare{.key = bed->key(std::to_string(i))});
  }

  CHECK(committed(bed->commit(many)) > 0);
  CHECK(bed->read({bed->key(""), true}).found.size() == operations_max);
}

TEST_CASE("a lease that nobody keeps alive ends, and its keys are erased") {
  const auto bed = make_bed();
  const Lease lease = bed->grant(2s);
  Told told;
  const auto watching = watch(bed->store(), {bed->key("instance")}, bed->next(), told);
  REQUIRE(committed(bed->commit(put(bed->key("instance"), "here", lease.id))) > 0);
  REQUIRE(bed->read({bed->key("instance")}).found.at(0).lease == lease.id);

  CHECK(bed->wait([&] { return values(told) == std::vector<std::string>{"here", "(erased)"}; }));

  CHECK(bed->read({bed->key("instance")}).found.empty());
  CHECK(bed->keep_alive(lease.id) == LeaseState::gone);
}

TEST_CASE("a lease that is kept alive stays") {
  const auto bed = make_bed();
  const Lease lease = bed->grant(2s);
  REQUIRE(committed(bed->commit(put(bed->key("instance"), "here", lease.id))) > 0);

  for (int i = 0; i < 8; ++i) {
    CHECK(bed->keep_alive(lease.id) == LeaseState::alive);
    bed->pass(500ms);
  }

  CHECK(bed->read({bed->key("instance")}).found.size() == 1);
}

TEST_CASE("giving back a lease erases its keys, and may be done twice") {
  const auto bed = make_bed();
  const Lease lease = bed->grant(60s);
  REQUIRE(committed(bed->commit(put(bed->key("instance"), "here", lease.id))) > 0);

  CHECK(bed->revoke(lease.id) == LeaseState::gone);
  CHECK(bed->revoke(lease.id) == LeaseState::gone);

  CHECK(bed->read({bed->key("instance")}).found.empty());
}

TEST_CASE("a put under a lease that has ended is refused") {
  const auto bed = make_bed();
  const Lease lease = bed->grant(60s);
  REQUIRE(bed->revoke(lease.id) == LeaseState::gone);

  CHECK(std::holds_alternative<Refused>(bed->commit(put(bed->key("late"), "v", lease.id))));
  CHECK(bed->read({bed->key("late")}).found.empty());
}

TEST_CASE("a watch tells every change from its revision on, once and in order") {
  const auto bed = make_bed();
  const std::string key = bed->key("n/a");
  const Revision first = committed(bed->commit(put(key, "1")));
  REQUIRE(committed(bed->commit(put(key, "2"))) > 0);
  Told told;
  Told later;
  const auto watching = watch(bed->store(), {bed->key("n/"), true}, first, told);
  const auto from_now = watch(bed->store(), {bed->key("n/"), true}, first + 2, later);
  REQUIRE(bed->wait([&] { return told.changes.size() == 2; }));

  REQUIRE(committed(bed->commit(both(put(key, "3"), put(bed->key("n/b"), "4")))) > 0);
  REQUIRE(committed(bed->commit(put(bed->key("elsewhere"), "v"))) > 0);
  const Revision gone = committed(bed->commit(erase(bed->key("n/"), true)));

  REQUIRE(bed->wait([&] { return told.revision == gone && later.revision == gone; }));
  CHECK(values(told) == std::vector<std::string>{"1", "2", "3", "4", "(erased)", "(erased)"});
  CHECK(values(later) == std::vector<std::string>{"3", "4", "(erased)", "(erased)"});
  CHECK(told.changes.back() == Change{KeyValue{.key = bed->key("n/b"), .modified = gone}, true});
}

TEST_CASE("a watch that is destroyed tells nothing any more") {
  const auto bed = make_bed();
  Told told;
  auto watching = watch(bed->store(), {bed->key("a")}, bed->next(), told);
  Told witness;
  const auto witnessing = watch(bed->other(), {bed->key("a")}, bed->next(), witness);

  watching = nullptr;
  REQUIRE(committed(bed->commit(put(bed->key("a"), "1"))) > 0);
  REQUIRE(bed->wait([&] { return witness.changes.size() == 1; }));

  CHECK(told.changes.empty());
}

TEST_CASE("a watch may be destroyed by what it tells") {
  const auto bed = make_bed();
  std::unique_ptr<Watch> watching;
  int times = 0;
  watching = bed->store().watch({bed->key("a")}, bed->next(), [&](const WatchNews&) {
    ++times;
    watching = nullptr;
  });

  REQUIRE(committed(bed->commit(put(bed->key("a"), "1"))) > 0);
  REQUIRE(bed->wait([&] { return times == 1; }));
  REQUIRE(committed(bed->commit(put(bed->key("a"), "2"))) > 0);

  CHECK(times == 1);
}

TEST_CASE("a watch from a revision that is compacted away says that all must be read") {
  const auto bed = make_bed();
  const Revision first = committed(bed->commit(put(bed->key("a"), "1")));
  REQUIRE(committed(bed->commit(put(bed->key("a"), "2"))) > 0);
  const Revision last = committed(bed->commit(erase(bed->key("a"))));
  bed->compact(last);
  // If a watch begins at exactly the revision of a compaction, etcd 3.4 does not report that the
  // history is compacted, and does not report an erasure at that revision. So the tested client
  // must detect the compaction by itself.
  const Revision from = GENERATE_COPY(first, last);
  Told told;

  const auto watching = watch(bed->store(), {bed->key("a")}, from, told);

  REQUIRE(bed->wait([&] { return told.relist.has_value(); }));
  CHECK(told.changes.empty());
}

TEST_CASE("a commit whose answer is lost is unknown, was made once, and is found by reading") {
  const auto bed = make_bed();
  // A first transaction opens the connection. So the fault below drops only the answer to the
  // second transaction, and does not disturb the opening of the connection.
  REQUIRE(committed(bed->commit(put(bed->key("before"), "1"))) > 0);
  bed->swallow_answers();

  const auto pending = bed->begin_commit(given(put(bed->key("a"), "1"), bed->key("a"), 0));
  const bool written = bed->wait([&] { return !bed->read({bed->key("a")}).found.empty(); });
  const bool connection_breaks = GENERATE(true, false);
  if (connection_breaks) bed->break_connections();
  const bool answered = bed->wait([&] { return pending->has_value(); });
  bed->break_connections();

  CHECK(written);
  REQUIRE(answered);
  CHECK(std::holds_alternative<Unknown>(**pending));
  const KeyValue found = bed->read({bed->key("a")}).found.at(0);
  CHECK(found.created == found.modified);
}

TEST_CASE("a client that is cut off hears of it, and gets answers when it is connected again") {
  const auto bed = make_bed();
  Told told;
  const auto watching = watch(bed->store(), {bed->key("a")}, bed->next(), told);
  REQUIRE(committed(bed->commit(put(bed->key("a"), "1"))) > 0);
  REQUIRE(bed->wait([&] { return told.changes.size() == 1; }));

  bed->cut(GENERATE(StoreBed::Cut::refused, StoreBed::Cut::silent));
  const Reply<Reading> answer = bed->read_answer(bed->store(), {bed->key("a")});
  const Outcome outcome = bed->commit(put(bed->key("b"), "1"));
  const bool lost = bed->wait([&] { return told.lost.has_value(); });
  bed->cut(StoreBed::Cut::none);

  REQUIRE(std::holds_alternative<Trouble>(answer));
  CHECK(std::get<Trouble>(answer).kind == Trouble::Kind::unreachable);
  CHECK(std::holds_alternative<Unknown>(outcome));
  CHECK(lost);
  CHECK(bed->wait([&] { return committed(bed->commit(put(bed->key("c"), "1"))) > 0; }));
}
