// Tests sources of releases: how a source's index is read, which of its releases are new, and what
// a controller does with a new release.
#include "fleet/model/releases/release_watcher.h"

#include <catch2/catch.hpp>

#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace release_watcher_test {

namespace {

using namespace fleet;

const std::string root(key_root);

TEST_CASE("an index names releases and their manifests, beside it or anywhere") {
  const auto found = parse_index("https://x.example/pub/index.json", R"({"releases":[
    {"tag":"agent-1.1.0","manifests":["a.json","/b.json","https://y.example/c.json"]},
    {"tag":"agent-1.2.0","prerelease":true,"manifests":["d.json"]},
    {"tag":"agent-1.3.0","manifests":[]}]})");

  REQUIRE(found);
  REQUIRE(found.value().size() == 2);
  CHECK(found.value()[0].manifests == std::vector<std::string>{"https://x.example/pub/a.json",
                                                               "https://x.example/b.json",
                                                               "https://y.example/c.json"});
  CHECK(found.value()[1].release == FoundRelease{"agent-1.2.0", true});
}

TEST_CASE("the manifests of GitHub's releases are the assets with a signature beside them") {
  const auto found = parse_index("github:o/n", R"([
    {"tag_name":"release-2018.11.07-1","draft":false,"prerelease":false,"id":1.5e9,"assets":[
      {"name":"a.json","browser_download_url":"https://h/a.json"},
      {"name":"a.json.minisig","browser_download_url":"https://h/a.json.minisig"},
      {"name":"notes.json","browser_download_url":"https://h/notes.json"}]},
    {"tag_name":"release-2018.12.01-1","draft":true,"assets":[
      {"name":"a.json","browser_download_url":"x"},{"name":"a.json.minisig"}]}])");

  REQUIRE(found);
  REQUIRE(found.value().size() == 1);
  CHECK(found.value()[0].release.tag == "release-2018.11.07-1");
  CHECK(found.value()[0].manifests == std::vector<std::string>{"https://h/a.json"});
  CHECK(url_of_source("github:o/n") == "https://api.github.com/repos/o/n/releases?per_page=100");
}

TEST_CASE("a text that is not an index is refused in words") {
  CHECK(parse_index("u", "<html>").reason().starts_with("is no JSON"));
  CHECK(parse_index("u", "").reason().starts_with("is no JSON"));
  CHECK(parse_index("u", R"({"message":"rate limit"})").reason() == "lists no releases");
}

// The records of a cell, and a ReleaseWatcher for one source of releases.
struct Bench {
  CellRecords records;
  ReleaseWatcher watcher;
  Revision revision = 0;
  ReleaseWatcher::Moment moment{.fence = 3, .time = "2026-01-01T00:00:00Z", .trace = "t1"};
  std::string index = R"({"releases":[{"tag":"agent-1.1.0","manifests":["http://x/agent.json"]}]})";

  explicit Bench(const std::string& then) {
    put("settings", R"({"watch.agent.source":"http://x/index","watch.agent.then":")" + then +
                        R"(","watch.agent.batch":"1"})");
    node("n1", "1.0.0");
    node("n2", "1.0.0");
  }
  void put(const std::string& rest, const std::string& value) {
    const Revision created =
        records.contains(root + rest) ? records[root + rest].created : revision + 1;
    records[root + rest] = {
        .key = root + rest, .value = value, .created = created, .modified = ++revision};
  }
  void node(const std::string& name, const std::string& version) {
    put("node/" + name + "/versions", R"({"agent":")" + version + "\"}");
    put("node/" + name + "/instance/i", "{}");
  }
  [[nodiscard]] std::string value(const std::string& rest) const {
    const auto at = records.find(root + rest);
    return at == records.end() ? "" : at->second.value;
  }
  // Runs the watcher until it has nothing left to do. Returns what it has done, as texts.
  std::vector<std::string> look() {
    std::vector<std::string> deeds;
    for (int i = 0; i < 50; ++i) {
      ReleaseWatcher::Step step = watcher.next(records, moment);
      if (std::holds_alternative<ReleaseWatcher::Rest>(step)) return deeds;
      if (const auto* ask = std::get_if<ReleaseWatcher::AskSource>(&step)) {
        deeds.push_back("ask " + ask->url);
        const std::string complaint = watcher.source_said(records, index);
        if (!complaint.empty()) deeds.push_back(complaint);
      } else if (const auto* manifests = std::get_if<ReleaseWatcher::AskManifests>(&step)) {
        deeds.push_back("fetch " + manifests->urls.front());
        static_cast<void>(watcher.manifests_came(
            Release{.manifests = {{.arch = "any", .manifest = "m"}}, .digest = "d"}));
      } else {
        deeds.push_back(perform(std::get<ReleaseWatcher::Order>(step)));
      }
    }
    FAIL("it never rests");
    return deeds;
  }
  std::string perform(const ReleaseWatcher::Order& order) {
    const auto is_fence = [](const Compare& one) {
      return one.key == root + "driver/events" && one.of == Compare::Of::created &&
             one.revision == 3;
    };
    CHECK(std::any_of(order.transaction.compares.begin(), order.transaction.compares.end(),
                      is_fence));
    for (const Erase& one : order.transaction.erases)
      std::erase_if(records, [&one](const auto& record) {
        return one.subtree ? record.first.starts_with(one.key) : record.first == one.key;
      });
    for (const Put& one : order.transaction.puts)
      put(one.key.substr(root.size()), one.value);
    CHECK(watcher.written(Committed{revision}).empty());
    return order.news;
  }
  void later() { moment.now += 600'000; }
};

using Deeds = std::vector<std::string>;
const Deeds only_asked{"ask http://x/index"};
const Deeds published{"ask http://x/index", "fetch http://x/agent.json",
                      "agent 1.1.0 is published"};

// Requirements (tests/judging/rows): J-03, N-02, N-03
TEST_CASE("a new release is published once, and its source is asked again after a while") {
  Bench bench("publish");

  CHECK(bench.look() == published);
  CHECK(bench.look().empty());
  bench.later();
  CHECK(bench.look() == only_asked);
  CHECK(bench.value("desired/agent").empty());
}

// Requirements (tests/judging/rows): H-48, N-03
TEST_CASE("a new release becomes the wish, and no other until every node runs it") {
  Bench bench("desire");
  Deeds desired = published;
  desired.push_back("agent 1.1.0 is desired");
  CHECK(bench.look() == desired);
  CHECK(read_record<Desired>(bench.value("desired/agent")).value().digest == "d");

  bench.index = R"({"releases":[{"tag":"agent-1.2.0","manifests":["http://x/agent.json"]}]})";
  bench.later();
  CHECK(bench.look() == only_asked);
  bench.node("n1", "1.1.0");
  bench.node("n2", "1.1.0");
  bench.later();
  CHECK(bench.look().back() == "agent 1.2.0 is desired");
}

// Requirements (tests/judging/rows): H-22
TEST_CASE("a node that reports the wish with build metadata does not hold back the next release") {
  Bench bench("desire");
  bench.look();
  bench.node("n1", "1.1.0+b7");
  bench.node("n2", "1.1.0");

  bench.index = R"({"releases":[{"tag":"agent-1.2.0","manifests":["http://x/agent.json"]}]})";
  bench.later();
  CHECK(bench.look().back() == "agent 1.2.0 is desired");
}

// Requirements (tests/judging/rows): N-04, N-05
TEST_CASE("a new release is rolled out, never two at a time, and a failure waits for a person") {
  Bench bench("rollout");
  bench.look();
  const std::string key = "rollout/watch-agent-1.1.0";
  Rollout rollout = read_record<Rollout>(bench.value(key)).value();
  CHECK(rollout.state == RolloutState::rolling);
  CHECK(rollout.batches == 2);
  CHECK(rollout.who == "watch");

  bench.index = R"({"releases":[{"tag":"agent-1.2.0","manifests":["http://x/agent.json"]}]})";
  bench.later();
  CHECK(bench.look() == only_asked);
  rollout.state = RolloutState::aborted;
  bench.put(key, write_record(rollout));
  bench.later();
  CHECK(bench.look() == only_asked);

  rollout.who = "anna";
  rollout.created = "2026-01-02T00:00:00Z";
  rollout.state = RolloutState::completed;
  bench.put("rollout/by-anna", write_record(rollout));
  bench.later();
  bench.look();
  CHECK_FALSE(bench.value("rollout/watch-agent-1.2.0").empty());
}

TEST_CASE("a version that was tried once is not tried again automatically") {
  Bench bench("rollout");
  Rollout rollout{.terms = {.component = "agent", .version = "1.1.0", .target = "*"},
                  .state = RolloutState::aborted,
                  .who = "anna"};
  bench.put("rollout/r1", write_record(rollout));

  CHECK(bench.look() == only_asked);
}

TEST_CASE("the reason why a release cannot be rolled out is told once, and as an event") {
  Bench bench("rollout");
  const auto set = [&bench](const std::string& name, const std::string& value) {
    bench.put("settings", R"({"watch.agent.source":"http://x/index","watch.agent.then":"rollout",)"
                          R"("watch.agent.)" +
                              name + R"(":")" + value + R"("})");
  };
  set("target", "nobody");
  const auto event_key = [](std::uint64_t number) {
    return key_of(KeyKind::event, {}, number).substr(root.size());
  };
  bench.put(event_key(7), R"({"kind":"set"})");
  const std::string complaint =
      "agent 1.1.0 is not rolled out: no nodes: the target means none that reports the component "
      "agent";
  Deeds deeds = published;
  deeds.push_back(complaint);
  CHECK(bench.look() == deeds);
  const auto event = read_record<FleetEvent>(bench.value(event_key(8))).value();
  CHECK(event.kind == "watch-halted");
  CHECK(event.subject == "rollout/watch-agent-1.1.0");
  CHECK(event.text == complaint);
  CHECK(event.time == "2026-01-01T00:00:00Z");

  bench.later();
  CHECK(bench.look() == Deeds{"ask http://x/index", "fetch http://x/agent.json"});
  set("soak", "9h");
  bench.later();
  CHECK(bench.look().back() == "agent 1.1.0 is not rolled out: confirm is at most 24 h");
  set("soak", "1h");
  bench.later();
  bench.look();
  CHECK_FALSE(bench.value("rollout/watch-agent-1.1.0").empty());
}

// Requirements (tests/judging/rows): S-14
TEST_CASE("a watch makes batches that need no more places than a budget of the cell has") {
  Bench bench("rollout");
  bench.put("settings", R"({"watch.agent.source":"http://x/index","watch.agent.then":"rollout",)"
                        R"("watch.agent.batch":"2","unavailable.site":"1"})");
  for (const std::string node : {"n1", "n2"})
    bench.put("node/" + node + "/info", R"({"labels":{"site":"north"}})");
  bench.look();

  const auto rollout = read_record<Rollout>(bench.value("rollout/watch-agent-1.1.0")).value();
  CHECK(rollout.batches == 2);
}

TEST_CASE("a reason whose event was not written is told again") {
  Bench bench("rollout");
  bench.put("settings", R"({"watch.agent.source":"http://x/index","watch.agent.then":"rollout",)"
                        R"("watch.agent.target":"nobody"})");
  const auto last_order = [&bench] {
    for (int i = 0; i < 10; ++i) {
      auto step = bench.watcher.next(bench.records, bench.moment);
      if (std::holds_alternative<ReleaseWatcher::AskSource>(step))
        static_cast<void>(bench.watcher.source_said(bench.records, bench.index));
      if (std::holds_alternative<ReleaseWatcher::AskManifests>(step))
        static_cast<void>(bench.watcher.manifests_came(
            Release{.manifests = {{.arch = "any", .manifest = "m"}}, .digest = "d"}));
      if (auto* order = std::get_if<ReleaseWatcher::Order>(&step)) {
        if (!order->news.ends_with("is published")) return order->news;
        bench.perform(*order);
      }
    }
    return std::string();
  };
  CHECK(last_order().starts_with("agent 1.1.0 is not rolled out"));
  CHECK(bench.watcher.written(Refused{}).empty());
  CHECK(last_order().starts_with("agent 1.1.0 is not rolled out"));
}

TEST_CASE("a rollout that an ended controller has half written is begun anew") {
  Bench bench("rollout");
  const Rollout half{.terms = {.component = "agent", .version = "1.1.0", .target = "*"},
                     .who = "watch",
                     .trace = "other"};
  bench.put("rollout/watch-agent-1.1.0", write_record(half));
  bench.put("rollout/watch-agent-1.1.0/batch/0", R"({"nodes":["n9"]})");

  const Deeds deeds = bench.look();

  CHECK(deeds[3] == "watch-agent-1.1.0 was half written, and is taken away");
  const auto rollout = read_record<Rollout>(bench.value("rollout/watch-agent-1.1.0")).value();
  CHECK(rollout.state == RolloutState::rolling);
  CHECK(rollout.trace == "t1");
  CHECK(bench.value("rollout/watch-agent-1.1.0/batch/0").find("n9") == std::string::npos);
}

TEST_CASE("a controller without the key asks no source, and nothing begins during a stop") {
  Bench bench("rollout");
  bench.put("stop", "{}");
  CHECK(bench.look() == only_asked);

  bench.moment.fence = 0;
  bench.later();
  CHECK(bench.look().empty());
}

// Requirements (tests/judging/rows): N-02
TEST_CASE("a nonsensical answer of a source is logged, and the source is asked again") {
  Bench bench("publish");
  bench.index = "<html>";
  const Deeds deeds = bench.look();
  REQUIRE(deeds.size() == 2);
  CHECK(deeds[1].starts_with("the source of agent is no JSON"));

  bench.index = R"({"releases":[{"tag":"agent-1.1.0","manifests":["http://x/agent.json"]}]})";
  bench.later();
  CHECK(bench.look() == published);
}

TEST_CASE("a rollout of a watch has a name that rollouts may have, and each version its own") {
  CHECK(watch_rollout_id("agent", "1.2.0") == "watch-agent-1.2.0");
  const std::string component(50, 'c');
  const std::string one = watch_rollout_id(component, "1.2.0");
  CHECK(is_rollout_id(one));
  CHECK(one != watch_rollout_id(component, "1.2.1"));
  CHECK(watch_rollout_id("agent", "1.2.0-RC1") != watch_rollout_id("agent", "1.2.0-rc1"));
  CHECK(watch_rollout_id("agent", "1.2.0+a") != watch_rollout_id("agent", "1.2.0-a"));
  CHECK(is_rollout_id(watch_rollout_id("agent", "1.2.0-RC1")));
}

TEST_CASE("a version that no node accepts is not published, and logged once") {
  Bench bench("publish");
  bench.index =
      R"({"releases":[{"tag":"agent-2018.11.07-1","manifests":["http://x/agent.json"]}]})";
  const std::string complaint =
      "the source of agent has versions that no release may have: 2018.11.07-1";

  CHECK(bench.look() == Deeds{"ask http://x/index", complaint});
  bench.later();
  CHECK(bench.look() == only_asked);
}

TEST_CASE("a version whose write is denied waits for the next query, and other sources do not") {
  Bench bench("publish");
  bench.put("settings", R"({"watch.agent.source":"http://x/index","watch.agent.then":"publish",
                            "watch.other.source":"http://y/index","watch.other.then":"publish"})");
  const auto next = [&bench] { return bench.watcher.next(bench.records, bench.moment); };
  const auto reach_order = [&] {
    REQUIRE(std::get<ReleaseWatcher::AskSource>(next()).url == "http://x/index");
    CHECK(bench.watcher.source_said(bench.records, bench.index).empty());
    REQUIRE(std::holds_alternative<ReleaseWatcher::AskManifests>(next()));
    CHECK(
        bench.watcher
            .manifests_came(Release{.manifests = {{.arch = "any", .manifest = "m"}}, .digest = "d"})
            .empty());
    REQUIRE(std::holds_alternative<ReleaseWatcher::Order>(next()));
  };
  reach_order();

  const std::string complaint = bench.watcher.written(Denied{"permission denied"});

  CHECK(complaint == "agent 1.1.0 is not taken: the store denies the write: permission denied");
  REQUIRE(std::get<ReleaseWatcher::AskSource>(next()).url == "http://y/index");
  bench.watcher.source_failed();
  const auto rest = std::get<ReleaseWatcher::Rest>(next());
  REQUIRE(rest.until);
  CHECK(*rest.until == bench.moment.now + 600'000);
  bench.later();
  reach_order();
}

TEST_CASE("a write whose outcome is unknown, or which was refused, is tried again at once") {
  Bench bench("publish");
  static_cast<void>(bench.watcher.next(bench.records, bench.moment));
  CHECK(bench.watcher.source_said(bench.records, bench.index).empty());
  static_cast<void>(bench.watcher.next(bench.records, bench.moment));
  CHECK(bench.watcher
            .manifests_came(Release{.manifests = {{.arch = "any", .manifest = "m"}}, .digest = "d"})
            .empty());

  for (const Outcome& outcome : {Outcome{Refused{}}, Outcome{Unknown{"timeout"}}}) {
    const auto step = bench.watcher.next(bench.records, bench.moment);
    CHECK(std::holds_alternative<ReleaseWatcher::Order>(step));
    CHECK(bench.watcher.written(outcome).empty());
  }
}

}  // namespace

}  // namespace release_watcher_test
