#include "tests/together/fleet/record_maker.h"

#include <array>

#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/signer/joining.h"

namespace fleet_test {
namespace {

using namespace fleet;

constexpr std::string_view hash_of_token = RecordMaker::hash_of_token;

template <class Record>
void add(std::vector<Written>& all, const std::string& rest, const Record& record) {
  all.push_back({std::string(key_root) + rest, write_record(record)});
}

void add_node(std::vector<Written>& all, const std::string& id) {
  const std::string at = "node/" + id + "/";
  add(all, at + "info",
      NodeInfo{.facts = {{"os", "linux"}},
               .labels = {{"group", "evil"}},
               .protocol = 1,
               .upgrader_protocol = "1",
               .library_protocol = "1",
               .on_disk = {{"agent", {"1.0.0", "1.1.0"}}},
               .time_zone = "Europe/Berlin"});
  add(all, at + "versions", Versions{{{"agent", "1.0.0"}, {"shop", "1.0.0"}}});
  add(all, at + "instance/i-1",
      Instance{"1.0.0", "active", "b", "2026-01-01T00:00:00Z", "c.1", true, "the disk", 1});
  add(all, at + "instance/i-2",
      Instance{"2.0.0", "held", "b", "2026-01-01T00:00:00Z", "", true, "", 1});
  add(all, at + "active", Active{"i-1", "b", 1});
  for (const std::string component : {"agent", "shop"}) {
    add(all, at + "upgrade/" + component,
        Upgrade{UpgradePhase::soaking,
                "evil.apply.1",
                "an error",
                "1.0.0",
                "2.0.0",
                "a",
                "b",
                {{.stage = "trial", .lines = {"a line"}, .differs = {"1 -> 2"}}}});
    add(all, at + "desired/" + component,
        Desired{"2.0.0", "digest", "why", false, false, false, false, "t"});
    add(all, at + "command/" + component,
        Command{"evil.prepare.1", CommandAction::prepare, "2.0.0", "digest", "", 60'000, 1'000,
                300'000, 1, 0, "reason", false, false, "evil"});
    add(all, at + "answer/" + component, Answer{"evil.prepare.1", "done", "i-1"});
    add(all, at + "claim/" + component, Claim{"rollout/evil"});
    add(all, at + "health/" + component,
        NodeHealth{.run = "evil.apply.1",
                   .version = "2.0.0",
                   .instance = "i-1",
                   .sequence = 2,
                   .ends = 1,
                   .over = true,
                   .trouble = "a line",
                   .measures = {{"errors", MeasureType::counter, MeasureWorse::up, "7", "2"}}});
    add(all, at + "control/" + component, ControlWatch{"rollout/evil", "evil.control.1", 60'000});
  }
  add(all, at + "csr", CertificateRequest{"-----BEGIN"});
  add(all, at + "certificate", NodeCertificate{"-----BEGIN", "an error"});
  add(all, at + "plan/evil-plan",
      PlanMember{"1.0.0", 1, MemberPhase::waiting, false, false, 0, "", "a word"});
  add(all, "rollout/evil/node/" + id,
      RolloutNode{NodeStage::preparing, "evil.prepare.1", 1, "an error", false});
  add(all, "plan/evil-plan/member/" + id, PlanPlace{});
  add(all, "identity/node/" + id, Identity{{{"0A", 1, 2}}, "a"});
}

void add_cell(std::vector<Written>& all) {
  for (const std::string component : {"agent", "shop"}) {
    add(all, "desired/" + component,
        Desired{"2.0.0", "digest", "why", false, false, false, false, "t"});
    add(all, "release/" + component + "/2.0.0",
        Release{{{"amd64", "{}", "s", "https://a"}}, "digest", "staging", true, 1, "p"});
  }
  add(all, "window/evil", Window{{"mon", "tue"}, "22:00", 14'400, "UTC"});
  add(all, "epoch", Epoch{1, "restored", true, 9});
  add(all, "stop", Stop{"who", "why", "since"});
  add(all, "place/site/0123456789abcdef/0",
      BudgetPlace{.node = "e1", .by = "rollout/evil", .value = "north"});
  add(all, "settings",
      Settings{{{"event-count", "100"},
                {"webhook", "http://hook/"},
                {"watch.shop.source", "https://releases/"},
                {"watch.shop.then", "rollout"},
                {"unavailable.site", "2"},
                {"watch.shop.every", "10m"}}});
  add(all, "order/1a2b3c4d",
      FleetEvent{.kind = "ordered", .subject = "stop", .text = "text", .who = "anna"});
  add(all, "history/000000000003",
      PastRun{"rollout/evil", "agent 2.0.0", "aborted", "why", "anna", "a", "b", "t"});
  add(all, "event/000000000003", FleetEvent{"2026", "rollout-aborted", "stop", "text", "t", 1});
  add(all, "notified", Notified{1, "http://hook/"});
  add(all, "driver/other", DriverRecord{"c9"});
}

void add_joins(std::vector<Written>& all) {
  add(all, "token/" + token_id(hash_of_token),
      Token{.hash = std::string(hash_of_token),
            .nodes = "e*",
            .labels = {{"group", "evil"}},
            .uses = 5,
            .used = 1,
            .expires = 9'999'999'999,
            .created = "a",
            .who = "anna",
            .release_keys = {{"r.pub", "untrusted comment"}}});
  for (const std::string node : {"e1", "e2"}) {
    const std::string fingerprint = node + std::string(fingerprint_digits - node.size(), '0');
    add(all, "join/" + fingerprint,
        JoinRequest{.node = node,
                    .pem = "-----BEGIN",
                    .token = std::string(hash_of_token),
                    .asked = 1'000,
                    .certificate = "-----BEGIN"});
    add(all, "approval/" + fingerprint, Approval{node, "anna", "a"});
  }
  add(all, "signer/evil", SignerAtWork{"1.0.0", "a", true, 1'000, 2'000, "no space"});
  add(all, "controller/evil", ControllerAtWork{"1.0.0", "a"});
  add(all, "controller/evil/life/evil", ControllerAtWork{"1.0.0", "a"});
}

void add_rollout(std::vector<Written>& all) {
  add(all, "rollout/evil",
      Rollout{.terms = {.component = "agent",
                        .version = "2.0.0",
                        .digest = "digest",
                        .target = "e*",
                        .canary = 1,
                        .soak_ms = 1'000,
                        .pause_ms = 1,
                        .confirm_ms = 300'000,
                        .min_protocol = 1,
                        .batches = "1,1",
                        .order = NodeOrder::random,
                        .seed = "s",
                        .apart = {"site:2"},
                        .spread_ms = 1},
              .state = RolloutState::rolling,
              .reason = "why",
              .batches = 2,
              .unconfirmed = {"e9"},
              .excluded = {"e8"},
              .not_covered = {"e7"},
              .driver = "c1",
              .who = "anna",
              .trace = "t",
              .created = "a"});
  add(all, "rollout/evil/judge",
      RolloutJudge{.logs = {1, -1},
                   .fresh = 2,
                   .failed = {7},
                   .batch = 1,
                   .seen_ms = 2,
                   .verdict = "well",
                   .words = "words",
                   .measures = {{"errors", MeasureType::counter, MeasureWorse::up, 3, 1, 1, 2, 1,
                                 20, "words"}}});
  add(all, "rollout/evil/batch/0", RolloutBatch{{"e1"}});
  add(all, "rollout/evil/batch/1", RolloutBatch{{"e2"}});
}

void add_plan(std::vector<Written>& all) {
  Plan plan{.version = "2.0.0",
            .component = "shop",
            .digest = "digest",
            .agent = "1.0.0",
            .agent_digest = "digest",
            .soak_ms = 1'000,
            .steps = {},
            .target = "e*",
            .enlisted = 2,
            .state = PlanState::running,
            .previous = "1.0.0",
            .previous_digest = "digest",
            .desired_before = {{.version = "1.0.0", .digest = "digest", .refused = "why"}},
            .step = 1,
            .lock = "e1",
            .error = "why",
            .who = "anna",
            .trace = "t",
            .driver = "c1"};
  for (const StepClass kind :
       {StepClass::together, StepClass::once, StepClass::one_at_a_time, StepClass::any})
    plan.steps.push_back(
        {std::string(text_of(kind)), kind, "h", 60'000, kind == StepClass::together});
  add(all, "plan/evil-plan", plan);
  add(all, "once/evil-plan/once", Once{"2.0.0", true, "e1", "a word"});
}

// Texts that occur in real records. Many values in the random records are such texts, since most
// readers refuse a random text early and would not be tested further.
constexpr auto words_of_records = std::to_array<std::string_view>({"",
                                                                   "agent",
                                                                   "shop",
                                                                   "e1",
                                                                   "e2",
                                                                   "i-1",
                                                                   "i-2",
                                                                   "evil",
                                                                   "evil-plan",
                                                                   "1.0.0",
                                                                   "2.0.0",
                                                                   "2.0.0-rc.1",
                                                                   "1.0 (of Debian)",
                                                                   "rollout/evil",
                                                                   "done",
                                                                   "interrupted",
                                                                   "reboot-required",
                                                                   "evil.prepare.1",
                                                                   "evil.apply.1",
                                                                   "evil.confirm.1",
                                                                   "evil.rollback.1",
                                                                   "desired.1.1",
                                                                   "created",
                                                                   "rolling",
                                                                   "paused",
                                                                   "aborting",
                                                                   "aborted",
                                                                   "completed",
                                                                   "running",
                                                                   "stopping",
                                                                   "halted",
                                                                   "staging",
                                                                   "verifying",
                                                                   "cutover-ready",
                                                                   "soaking",
                                                                   "soaked",
                                                                   "failed",
                                                                   "unconfirmed",
                                                                   "rolled-back",
                                                                   "waiting",
                                                                   "preparing",
                                                                   "applying",
                                                                   "confirming",
                                                                   "rolling-back",
                                                                   "confirmed",
                                                                   "left",
                                                                   "stopped",
                                                                   "acting",
                                                                   "migrated",
                                                                   "resumed",
                                                                   "rebooting",
                                                                   "any",
                                                                   "once",
                                                                   "one-at-a-time",
                                                                   "together",
                                                                   "prepare",
                                                                   "apply",
                                                                   "upgrade",
                                                                   "confirm",
                                                                   "rollback",
                                                                   "stop",
                                                                   "reboot",
                                                                   "status",
                                                                   "pause",
                                                                   "abort",
                                                                   "abort-and-leave",
                                                                   "none",
                                                                   "publish",
                                                                   "silent",
                                                                   "reports",
                                                                   "degraded",
                                                                   "ordered",
                                                                   "node/e1",
                                                                   "node",
                                                                   "desire",
                                                                   "rollout",
                                                                   "join",
                                                                   "ask",
                                                                   "e*",
                                                                   hash_of_token,
                                                                   "production",
                                                                   "..",
                                                                   "../../etc/passwd",
                                                                   "v",
                                                                   "0",
                                                                   "-1"});

constexpr auto odd_pieces = std::to_array<std::string_view>({"\x1b[2J",
                                                             "\x1b]0;title\a",
                                                             "\r",
                                                             "\n",
                                                             "\t",
                                                             "\x7f",
                                                             "\u009b31m",
                                                             "\u202e",
                                                             "\u2066",
                                                             "\ufeff",
                                                             "\xff",
                                                             "\xc0\xaf",
                                                             "\xed\xa0\x80",
                                                             "\"",
                                                             "\\",
                                                             "'",
                                                             "%s%n",
                                                             "<script>",
                                                             "{",
                                                             "}",
                                                             "/",
                                                             " ",
                                                             "x",
                                                             "\u00e4",
                                                             "\U0001f600",
                                                             "\U000e0041",
                                                             "\x01",
                                                             ","});

}  // namespace

std::vector<Written> RecordMaker::good() {
  std::vector<Written> all;
  add_node(all, "e1");
  add_node(all, "e2");
  add_cell(all);
  add_joins(all);
  add_rollout(all);
  add_plan(all);
  return all;
}

std::string RecordMaker::odd_text() {
  std::string text;
  if (below(3) == 0) text = words_of_records[below(words_of_records.size())];
  if (below(3) == 0) return text;
  const std::uint64_t pieces = below(8) == 0 ? 30'000 : below(8);
  const std::uint64_t kinds = 1 + below(odd_pieces.size());
  const std::uint64_t first = below(odd_pieces.size());
  for (std::uint64_t i = 0; i < pieces && text.size() < 70'000; ++i)
    text += odd_pieces[(first + below(kinds)) % odd_pieces.size()];
  return text;
}

std::string RecordMaker::odd_number() {
  constexpr auto numbers = std::to_array<std::string_view>(
      {"0", "1", "-1", "2", "100", "60000", "999999999999", "999999999999999999",
       "-999999999999999999", "9223372036854775807", "99999999999999999999", "1.5", "1e9", "01",
       "31622400000", "86400000"});
  return std::string(numbers[below(numbers.size())]);
}

void RecordMaker::change_value(JsonTree& value) {
  switch (below(6)) {
    case 0:
      value = {.kind = JsonTree::Kind::number, .text = odd_number()};
      return;
    case 1:
      value = json_truth(below(2) == 0);
      return;
    case 2:
      value = {.kind = JsonTree::Kind::array};
      for (std::uint64_t i = below(4) == 0 ? 4'000 : below(4); i > 0; --i)
        value.elements.push_back(json_text("e" + std::to_string(10'000 - i)));
      return;
    case 3:
      value = {.kind = JsonTree::Kind::object};
      value.members[odd_text()] = json_text(odd_text());
      return;
    default:
      value = json_text(odd_text());
  }
}

// Changes or removes one random value in the record.
void RecordMaker::change(JsonTree& tree) {
  JsonTree* at = &tree;
  while (true) {
    if (at->is_object() && !at->members.empty()) {
      auto member = at->members.begin();
      std::advance(member, static_cast<std::ptrdiff_t>(below(at->members.size())));
      if (below(20) == 0) {
        at->members.erase(member);
        return;
      }
      at = &member->second;
    } else if (at->is_array() && !at->elements.empty() && below(3) > 0) {
      at = &at->elements[below(at->elements.size())];
    } else {
      break;
    }
  }
  // In two of three cases, the new value has the same type as the old value, so that readers do not
  // refuse the record immediately.
  if (below(3) > 0 && at->kind == JsonTree::Kind::number) {
    at->text = odd_number();
  } else if (below(3) > 0 && at->kind == JsonTree::Kind::text) {
    const bool word = below(2) == 0;
    at->text = word ? std::string(words_of_records[below(words_of_records.size())]) : odd_text();
  } else if (below(3) > 0 && at->kind == JsonTree::Kind::boolean) {
    at->truth = !at->truth;
  } else {
    change_value(*at);
  }
}

std::string RecordMaker::changed_key(std::string key) {
  const std::size_t slash = key.rfind('/');
  switch (below(6)) {
    case 0:
      return key.substr(0, slash + 1) + odd_number();
    case 1:
      return key + "/" + odd_number();
    case 2:
      return key.substr(0, slash + 1) + std::string(1 + below(70), 'a');
    case 3:
      return std::string(key_root) + "event/" + (below(2) == 0 ? "x" : odd_number());
    default:
      return key.substr(0, slash + 1) + odd_text().substr(0, 100);
  }
}

std::string RecordMaker::changed_bytes(std::string text) {
  switch (below(5)) {
    case 0:
      return text.substr(0, below(text.size() + 1));
    case 1:
      return std::string(60'000, '[') + text;
    case 2:
      return text + text;
    case 3:
      return "{\"v\":99," + text.substr(1);
    default:
      text.insert(below(text.size() + 1), odd_text().substr(0, 20));
      return text;
  }
}

Written RecordMaker::next() {
  static const std::vector<Written> all = good();
  Written written = all[below(all.size())];
  if (below(3) == 0) return written;
  auto tree = parse_tree(written.value);
  for (std::uint64_t i = below(4); i > 0; --i)
    change(tree.value());
  written.value = write_tree(tree.value());
  if (below(20) == 0) written.value = changed_bytes(written.value);
  if (below(12) == 0) written.key = changed_key(written.key);
  return written;
}

}  // namespace fleet_test
