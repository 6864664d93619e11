// Runs fleet-agent, fleetctl and a controller's HTTP server on the random records of a RecordWorld.
// fleet-agent reads the records of its node. fleetctl and the HTTP server must show records safely,
// even if the records have arbitrary bytes. The store is in memory, the test moves the clock, and
// the output of the programs is captured.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/shown.h"
#include "base/utf8.h"
#include "fleet/agent/component.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/rollouts.h"
#include "fleet/http/join_answer.h"
#include "fleet/http/metrics.h"
#include "fleet/http/state.h"
#include "fleet/model/agent/plan_follower.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/store/uv_timers.h"
#include "tests/support/temporary_directory.h"
#include "tests/together/fleet/fake_store.h"
#include "tests/together/fleet/record_world.h"

namespace fleet_test {
namespace {

using namespace fleet;
using namespace std::chrono_literals;

// Redirects standard output and standard error of this process into a file as long as this object
// exists.
class Caught {
 public:
  Caught() : file_(::memfd_create("caught", MFD_CLOEXEC)) {
    flush();
    for (int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      before_[fd - 1] = ::dup(fd);
      ::dup2(file_, fd);
    }
  }
  Caught(const Caught&) = delete;
  Caught& operator=(const Caught&) = delete;
  ~Caught() {
    flush();
    for (int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(before_[fd - 1], fd);
      ::close(before_[fd - 1]);
    }
    ::close(file_);
  }

  [[nodiscard]] std::string text() const {
    flush();
    std::string all(static_cast<std::size_t>(::lseek(file_, 0, SEEK_END)), '\0');
    const ssize_t count = ::pread(file_, all.data(), all.size(), 0);
    all.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return all;
  }

 private:
  static void flush() {
    std::fflush(stdout);
    std::fflush(stderr);
  }

  int file_;
  int before_[2] = {};
};

// ---- fleet-agent

constexpr int agent_steps_max = 20'000;
const std::string node = "e1";

// A store in memory that checks every write before the write is committed.
class SeenStore : public FakeStore {
 public:
  SeenStore(VirtualTime& time, FakeCell& cell, std::string& wrong)
      : FakeStore(time, cell), wrong_(wrong) {}

  void commit(Transaction transaction, Then<Outcome> then) override {
    if (const auto why = why_not_taken(transaction)) note(*why);
    for (const Put& put : transaction.puts) {
      const std::string why = why_unreadable(put.key, put.value);
      if (!why.empty()) note("writes " + put.key + " " + why + ": " + put.value);
    }
    FakeStore::commit(std::move(transaction), std::move(then));
  }

 private:
  void note(const std::string& what) {
    if (wrong_.empty()) wrong_ = "fleet-agent: " + what;
  }

  std::string& wrong_;
};

// The objects of a fleet-agent for one component of its node.
struct Agent {
  std::string wrong;
  TemporaryDirectory directory;
  uv_loop_t loop{};
  VirtualTime time;
  FakeCell cell{time};
  SeenStore store{time, cell, wrong};
  std::unique_ptr<Component> component;
  Mirror mirror{store,
                time,
                {node_prefix(node), true},
                {.changed =
                     [this](const Changes&) {
                       if (component) component->look();
                     }},
                1};
  KeptRecords records{store, time, mirror, 1, {.denied = [](const std::string&) {}}};
  NodeDesk desk{.node = node,
                .instance = "i-1",
                .boot_id = "b",
                .store = store,
                .timers = time,
                .mirror = mirror,
                .records = records,
                .reboot = [](const auto&) {}};

  Agent() { uv_loop_init(&loop); }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent() {
    uv_run(&loop, UV_RUN_DEFAULT);
    component = nullptr;
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
  }

  // Runs the component's objects until they have nothing left to do, or until this time has passed
  // on the test's clock.
  void wait(Timers::Milliseconds length) {
    const auto end = time.now() + length;
    for (int i = 0; i < agent_steps_max; ++i) {
      // Performs the disk accesses that the component has requested.
      uv_run(&loop, UV_RUN_DEFAULT);
      if (!time.run_next_until(end)) return;
    }
    if (wrong.empty()) wrong = "fleet-agent never rests";
  }
};

Component::Hands hands(RecordMaker& maker) {
  const auto some = [&maker] { return maker.below(2) == 0 ? std::string() : maker.odd_text(); };
  return {.ask = [some](const Component::Request&) { return some(); },
          .confirm = [some](const std::string&) { return some(); },
          .commit = [some](const std::string&) { return some(); },
          .go_back = [some](const std::string&, const std::string&) { return some(); }};
}

std::string wrong_in_component(const TestStore& store, RecordMaker& maker) {
  Agent agent;
  std::vector<Put> puts;
  for (const auto& [key, record] : store.all()) {
    const bool is_read =
        key.starts_with(node_prefix(node)) || key.starts_with(prefix_of(KeyKind::release));
    if (is_read) agent.cell.commit({.puts = {{.key = key, .value = record.value}}});
  }
  const Outcome active = agent.cell.commit(
      {.puts = {{key_of(KeyKind::node_active, {node}), write_record(Active{"i-1", "b", 1})}}});
  agent.desk.active = std::get<Committed>(active).revision;
  agent.records.compare(
      {{.key = key_of(KeyKind::node_active, {node}), .revision = agent.desk.active}});
  const std::string name = maker.below(2) == 0 ? "agent" : "shop";
  agent.component = std::make_unique<Component>(
      agent.loop, agent.desk,
      Component::Settings{.name = name,
                          .releases = {agent.directory.path(), name, agent.directory.path()},
                          .ledger = agent.directory.path() + "/ledger"},
      hands(maker));
  agent.wait(1s);
  agent.component->begin({}, {}, maker.odd_text());
  agent.component->settle("", maker.odd_text());
  agent.wait(2s);
  for (int i = 0; i < 4; ++i) {
    const std::string asked = agent.component->asked();
    agent.component->take(UpgradeActivated{asked});
    agent.component->gate_reached(asked);
    agent.wait(5s);
    agent.component->upgrade_ended({.command = asked, .why = maker.odd_text()});
    const Written one = maker.next();
    if (one.key.starts_with(node_prefix(node)) && one.key != key_of(KeyKind::node_active, {node})) {
      agent.cell.commit({.puts = {{.key = one.key, .value = one.value}}});
    }
    agent.wait(60s);
  }
  return agent.wrong;
}

// Returns what a node knows about a plan from the records in this store. This function replaces the
// class PlanDesk of fleet-agent.
PlanSeen seen(const TestStore& store, const std::string& plan) {
  PlanSeen seen{.as_of = store.revision(), .active = 1};
  const KeyValue* record = store.find(key_of(KeyKind::plan, {plan}));
  const auto read =
      record == nullptr ? agent_protocol::Refusal{"absent"} : read_record<Plan>(record->value);
  if (!read) return seen;
  seen.sight.plan = read.value();
  seen.sight.revision = record->modified;
  seen.sight.takes_part = store.find(key_of(KeyKind::plan_member, {plan, node})) != nullptr;
  if (const KeyValue* own = store.find(key_of(KeyKind::node_plan, {node, plan}))) {
    const auto member = read_record<PlanMember>(own->value);
    seen.sight.own = member ? member.value() : PlanMember();
    seen.sight.own_revision = own->modified;
  }
  return seen;
}

std::string wrong_in_plan_part(TestStore store, RecordMaker& maker) {
  const std::string plan = "evil-plan";
  PlanPart part(node, plan, "1.0.0", "b");
  FollowerStep step = part.step(seen(store, plan));
  for (int i = 0; i < 60; ++i) {
    if (std::holds_alternative<RunHook>(step)) {
      const int status = maker.below(2) == 0 ? 0 : static_cast<int>(maker.below(140));
      step = part.step(HookEnded{status, maker.odd_text()});
    } else if (const auto* write = std::get_if<WriteMember>(&step)) {
      if (const auto why = why_not_taken(write->transaction)) return "a member writes " + *why;
      const PlanMember sent = write->member;
      Transaction transaction = write->transaction;
      // Removes the condition that the node's record `active` has the revision 1. The function
      // seen() above has made this revision up. The record in the store does not have it, so the
      // store would refuse the transaction.
      std::erase_if(transaction.compares, [](const Compare& one) { return one.revision == 1; });
      step = part.step(MemberWritten{store.commit(transaction)});
      const Put& put = transaction.puts.front();
      if (const auto read = read_record<PlanMember>(put.value); !read || read.value() != sent) {
        return "a member does not read what it has written: " + put.value;
      }
    } else {
      const Written one = maker.next();
      if (one.key.find("/evil-plan") != std::string::npos) store.put(one.key, one.value);
      step = part.step(seen(store, plan));
    }
  }
  return "";
}

}  // namespace

std::string wrong_in_agent(const TestStore& store, RecordMaker& maker) {
  const Caught caught;
  std::string wrong = wrong_in_component(store, maker);
  if (wrong.empty()) wrong = wrong_on_terminal(caught.text());
  return wrong.empty() ? wrong_in_plan_part(store, maker) : wrong;
}

// ---- fleetctl and HTTP

namespace {

// A copy of another store, for fleetctl's commands. The writes of the commands change only the
// copy.
class CopiedStore : public Store {
 public:
  CopiedStore(uv_loop_t& loop, TestStore store) : timers_(loop), store_(std::move(store)) {}

  void read(Keys keys, Then<Reply<Reading>> then) override {
    Reading reading = store_.read({keys.key});
    if (!keys.below)
      std::erase_if(reading.found, [&](const auto& one) { return one.key != keys.key; });
    answer<Reply<Reading>>(std::move(reading), std::move(then));
  }
  void commit(Transaction transaction, Then<Outcome> then) override {
    if (const auto why = why_not_taken(transaction)) std::fprintf(stderr, "\x1b[too long\n");
    answer<Outcome>(store_.commit(transaction), std::move(then));
  }
  void grant(std::chrono::seconds, Then<Reply<Lease>> then) override {
    answer<Reply<Lease>>(Lease{1, std::chrono::seconds(60)}, std::move(then));
  }
  void keep_alive(LeaseId, Then<Reply<LeaseState>> then) override {
    answer<Reply<LeaseState>>(LeaseState::alive, std::move(then));
  }
  void revoke(LeaseId, Then<Reply<LeaseState>> then) override {
    answer<Reply<LeaseState>>(LeaseState::gone, std::move(then));
  }
  [[nodiscard]] std::unique_ptr<Watch> watch(Keys, Revision, Then<const WatchNews&>) override {
    return std::make_unique<Watch>();
  }

 private:
  template <class Value>
  void answer(Value value, Then<Value> then) {
    timer_ = timers_.after(std::chrono::milliseconds(0),
                           [then = std::move(then), value = std::move(value)] { then(value); });
  }

  UvTimers timers_;
  TestStore store_;
  std::unique_ptr<Timer> timer_;
};

using fleetctl::StoreCommand;

// Runs fleetctl's code with these options on a copy of the store. Returns its output.
std::string said(const TestStore& store, fleetctl::Options options) {
  const Caught caught;
  fleetctl::Asker asker(
      options, [&store](uv_loop_t& loop) { return std::make_unique<CopiedStore>(loop, store); });
  static_cast<void>(std::get<StoreCommand>(options.command)(options, asker));
  return caught.text();
}

constexpr StoreCommand shows[] = {
    &fleetctl::show_status,   &fleetctl::show_nodes,    &fleetctl::show_node,
    &fleetctl::show_versions, &fleetctl::list_releases, &fleetctl::list_rollouts,
    &fleetctl::show_rollout,  &fleetctl::list_plans,    &fleetctl::show_plan,
    &fleetctl::list_windows,  &fleetctl::show_events,   &fleetctl::list_settings,
    &fleetctl::list_tokens,   &fleetctl::approve};
constexpr StoreCommand orders[] = {
    &fleetctl::desire,        &fleetctl::halt,          &fleetctl::forget,
    &fleetctl::start_rollout, &fleetctl::order_rollout, &fleetctl::recover_plan,
    &fleetctl::set_window,    &fleetctl::restored,      &fleetctl::accept_epoch,
    &fleetctl::set_setting,   &fleetctl::unset_setting, &fleetctl::approve,
    &fleetctl::revoke_token};

// A fingerprint and a token that RecordMaker uses in keys. fleetctl is called with them as
// arguments, so that it finds the records with these keys.
const std::string odd_fingerprint = "e1" + std::string(30, '0');
const std::string odd_token = "0011223344556677";

fleetctl::Options options_for(StoreCommand command, RecordMaker& maker) {
  fleetctl::Options options;
  options.command = command;
  options.node = maker.below(2) == 0 ? "e1" : "e2";
  options.component = maker.below(2) == 0 ? "agent" : "shop";
  options.version = "2.0.0";
  options.rollout = command == &fleetctl::start_rollout ? "" : "evil";
  options.plan = "evil-plan";
  options.fingerprint = maker.below(2) == 0 ? odd_fingerprint : maker.odd_text();
  options.subject = maker.below(2) == 0 ? odd_token : maker.odd_text();
  options.why = maker.odd_text();
  options.group = "evil";
  options.window = {.start = "22:00", .duration_s = 3'600, .time_zone = "UTC"};
  options.setting = "event-count";
  options.value = "100";
  options.terms.target = "*";
  options.wish = maker.below(2) == 0 ? RolloutWish::pause : RolloutWish::abort;
  options.limit = 1'000;
  options.dry_run = maker.below(2) == 0;
  return options;
}

}  // namespace

std::string wrong_on_terminal(const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (upgraderctl::shown(line) != line) return "shows " + upgraderctl::shown(line);
    begin = end + 1;
  }
  return "";
}

std::string wrong_json(const std::string& text) {
  if (!agent_protocol::is_utf8(text)) return "is no UTF-8: " + upgraderctl::shown(text);
  const std::string whole = text.starts_with('[') ? "{\"list\":" + text + "}" : text;
  const auto tree = parse_foreign_tree(whole);
  return tree ? "" : "is no JSON: " + tree.reason() + ": " + upgraderctl::shown(text);
}

std::string wrong_in_fleetctl(const TestStore& store, RecordMaker& maker, Planted planted) {
  for (const StoreCommand command : shows) {
    fleetctl::Options options = options_for(command, maker);
    // Without the name of a node, `fleetctl approve` lists all requests to join.
    if (command == &fleetctl::approve) options.node.clear();
    std::string text = said(store, options);
    if (planted == Planted::raw_byte) text += "\u009b";
    if (const auto wrong = wrong_on_terminal(text); !wrong.empty()) return "fleetctl " + wrong;
    if (command == &fleetctl::show_nodes && text.find("\ng1 ") == std::string::npos) {
      return "fleetctl nodes does not show g1: " + text;
    }
    options.json = true;
    text = said(store, options);
    const bool complains = text.starts_with("fleetctl: ");
    if (const auto wrong = complains ? wrong_on_terminal(text) : wrong_json(text); !wrong.empty()) {
      return "fleetctl --json " + wrong;
    }
  }
  for (const StoreCommand command : orders) {
    const std::string text = said(store, options_for(command, maker));
    if (const auto wrong = wrong_on_terminal(text); !wrong.empty()) return "fleetctl " + wrong;
  }
  for (const std::string& line :
       fleetctl::watched("evil", store.read({"/fleet/v1/rollout/"})).lines) {
    if (line.size() > 10'000) return "rollout watch shows a line of " + std::to_string(line.size());
  }
  return "";
}

namespace {

std::string wrong_in_join(const std::map<std::string, KeyValue, std::less<>>& records,
                          RecordMaker& maker) {
  const JoinMoment moment{
      .records = records, .now = 2'000, .read_certificate = [](const std::string&) {
        return IssuedCertificate{"0C", 1'000, 3'000, false, odd_fingerprint};
      }};
  const JoinAsked asked{.node = "e1",
                        .pem = std::string(maker.below(join_bytes_max), 'x'),
                        .fingerprint = odd_fingerprint,
                        .hash = std::string(RecordMaker::hash_of_token)};
  const JoinStep step = begin_join(asked, moment);
  if (const auto* response = std::get_if<Response>(&step)) {
    if (auto wrong = wrong_json(response->body); !wrong.empty()) return "/v1/join " + wrong;
  } else if (const auto* wanted = std::get_if<JoinWrite>(&step)) {
    if (const auto why = why_not_taken(wanted->transaction)) return "/v1/join writes: " + *why;
    const Put& put = wanted->transaction.puts.front();
    if (auto why = why_unreadable(put.key, put.value); !why.empty()) return "/v1/join " + why;
  }
  const auto held = answer_held_join(asked, moment);
  if (!held) return "";
  const std::string wrong = wrong_json(held->body);
  return wrong.empty() ? "" : "/v1/join " + wrong;
}

}  // namespace

std::string wrong_in_http(const TestStore& store, RecordMaker& maker) {
  CellState cell;
  std::map<std::string, KeyValue, std::less<>> records;
  std::vector<Change> changes;
  for (const auto& [key, record] : store.all()) {
    cell.take(record);
    records[key] = record;
    changes.push_back({record});
  }
  const Health health;
  const StateMoment moment{.now = 1'800'000'000,
                           .zone = [](const std::string&) { return std::optional<TimeZone>(); }};
  for (const std::string rest : {"", "node/", "node/e1", "node/e1/", "node/e1/info", "rollout/",
                                 "rollout/evil", "rollout/evil/", "plan/", "plan/evil-plan",
                                 "event/", "window/", "window/evil", "release/", "settings"}) {
    Request request{.path = "/v1/state/" + rest};
    if (maker.below(3) == 0) request.query["fields"] = "terms,batch,error,facts.os";
    const Response response = state_answer(request, rest, {records, cell, health}, moment);
    if (const auto wrong = wrong_json(response.body); !wrong.empty()) {
      return "/v1/state/" + rest + " " + wrong;
    }
  }
  const std::string event = changes_event(1, changes);
  const std::size_t data = event.find("data: ");
  if (!agent_protocol::is_utf8(event)) return "/v1/changes is no UTF-8";
  if (data != std::string::npos) {
    const std::string json = event.substr(data + 6, event.find('\n', data) - data - 6);
    if (const auto wrong = wrong_json(json); !wrong.empty()) return "/v1/changes " + wrong;
  }
  if (!agent_protocol::is_utf8(metrics_text(cell, health))) return "/metrics is no UTF-8";
  return wrong_in_join(records, maker);
}

}  // namespace fleet_test
