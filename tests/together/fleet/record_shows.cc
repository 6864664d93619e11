// Tests the output of fleetctl and HTTP for records with arbitrary bytes. fleetctl's own code for
// its commands runs with a store in memory, and the test catches its output.
#include <cstdio>
#include <cstring>

#include "base/shown.h"
#include "base/utf8.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/rollout_watch.h"
#include "fleet/http/changes.h"
#include "fleet/http/join_answer.h"
#include "fleet/http/metrics.h"
#include "fleet/http/state.h"
#include "fleet/model/record_tree.h"
#include "fleet/store/uv_timers.h"
#include "tests/together/fleet/caught_output.h"
#include "tests/together/fleet/record_world.h"

namespace fleet_test {
namespace {

using namespace fleet;

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

using fleetctl::Command;

// Runs fleetctl's code with these options on a copy of the store. Returns its output.
std::string said(const TestStore& store, fleetctl::Options options) {
  const Caught caught;
  fleetctl::Asker asker(
      options, [&store](uv_loop_t& loop) { return std::make_unique<CopiedStore>(loop, store); });
  static_cast<void>(fleetctl::perform(options, asker));
  return caught.text();
}

constexpr Command shows[] = {Command::status,       Command::nodes,     Command::show,
                             Command::versions,     Command::releases,  Command::rollout_list,
                             Command::rollout_show, Command::plan_list, Command::plan_show,
                             Command::window_list,  Command::events,    Command::settings_list,
                             Command::token_list,   Command::approve};
constexpr Command orders[] = {
    Command::desire,        Command::stop,         Command::forget,         Command::rollout_start,
    Command::rollout_order, Command::plan_recover, Command::window_set,     Command::restored,
    Command::accept_epoch,  Command::settings_set, Command::settings_unset, Command::approve,
    Command::token_revoke};

// A fingerprint and a token that RecordMaker uses in keys. fleetctl finds the records below these
// keys if it is called with one of them.
const std::string odd_fingerprint = "e1" + std::string(30, '0');
const std::string odd_token = "0011223344556677";

fleetctl::Options options_for(Command command, RecordMaker& maker) {
  fleetctl::Options options;
  options.command = command;
  options.node = maker.below(2) == 0 ? "e1" : "e2";
  options.component = maker.below(2) == 0 ? "agent" : "shop";
  options.version = "2.0.0";
  options.rollout = command == Command::rollout_start ? "" : "evil";
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
  for (const Command command : shows) {
    fleetctl::Options options = options_for(command, maker);
    // Without the name of a node, `fleetctl approve` lists all requests.
    if (command == Command::approve) options.node.clear();
    std::string text = said(store, options);
    if (planted == Planted::raw_byte) text += "\u009b";
    if (const auto wrong = wrong_on_terminal(text); !wrong.empty()) return "fleetctl " + wrong;
    if (command == Command::nodes && text.find("\ng1 ") == std::string::npos) {
      return "fleetctl nodes does not show g1: " + text;
    }
    options.json = true;
    text = said(store, options);
    const bool complains = text.starts_with("fleetctl: ");
    if (const auto wrong = complains ? wrong_on_terminal(text) : wrong_json(text); !wrong.empty()) {
      return "fleetctl --json " + wrong;
    }
  }
  for (const Command command : orders) {
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
