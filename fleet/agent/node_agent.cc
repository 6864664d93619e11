#include "fleet/agent/node_agent.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>

#include "base/check.h"
#include "fleet/agent/failure_meaning.h"
#include "fleet/agent/state_files.h"
#include "fleet/common/identity.h"
#include "fleet/common/zone_file.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// The version of the command set that this fleet-agent understands. A rollout with --min-protocol=N
// leaves out nodes with a lower version.
constexpr std::int64_t protocol = 1;

// The time limit for the reboot command. If the command still runs then, it is killed.
constexpr std::chrono::minutes reboot_time{5};

std::uint64_t seed_of(const std::string& instance) {
  return std::hash<std::string>()(instance);
}

}  // namespace

NodeAgent::NodeAgent(uv_loop_t& loop, AgentOptions options, std::string version,
                     std::vector<std::string> arguments, Agent agent)
    : loop_(loop),
      options_(std::move(options)),
      version_(std::move(version)),
      arguments_(std::move(arguments)),
      instance_(new_instance_id()),
      boot_(boot_id(options_.boot_id)),
      since_(time_text()),
      agent_(std::move(agent)),
      poll_(upgrader::make_handle(uv_poll_init, &loop, this, agent_.fd())),
      timers_(loop),
      clock_(options_.state + "/time", options_.store.certificates),
      store_(loop, {.endpoints = options_.store.endpoints,
                    .certificates = options_.store.certificates,
                    .judge = [this] { return clock_.judge(); },
                    .seed = seed_of(instance_),
                    .is_one_of_many = true}),
      mirror_(store_, timers_, {node_prefix(options_.node), true},
              {.changed = [this](const Changes&) { look(); },
               .troubled =
                   [this](const Trouble& trouble) { desk_.log("the store: " + trouble.reason); }},
              seed_of(instance_)),
      lease_(store_, timers_, std::chrono::seconds(options_.lease_s),
             {.taken = [this](const Lease&) { look(); },
              .lost = [this](const std::string& why) { desk_.log("the lease: " + why); }},
             seed_of(instance_)),
      presence_(
          store_, timers_, mirror_, seed_of(instance_),
          {.stand = [this] { look(); },
           .denied = [this](const std::string& why) { desk_.log("not registered: " + why); }}),
      records_(store_, timers_, mirror_, seed_of(instance_),
               {.denied = [this](const std::string& why) { desk_.log("not recorded: " + why); }}),
      halt_(store_, timers_, {key_of(KeyKind::stop)},
            {.changed = [this](const Changes&) { look_at_stop(); }}, seed_of(instance_)),
      epoch_(store_, timers_, {key_of(KeyKind::epoch)},
             {.changed = [this](const Changes&) { look(); }}, seed_of(instance_)),
      desk_{.node = options_.node,
            .instance = instance_,
            .boot_id = boot_,
            .store = store_,
            .timers = timers_,
            .mirror = mirror_,
            .records = records_,
            .reboot = [this](RebootEnding ended) { reboot(std::move(ended)); },
            .reboot_asked = options_.reboot_asked,
            .troubled = [this] { keep_instance(); }},
      own_(loop, desk_, own_settings(), own_hands()),
      health_(loop, desk_, "agent", sources_of("agent")),
      plans_(loop, desk_, {options_.hooks, options_.reboot_command, version_, seed_of(instance_)}),
      renewal_(desk_, options_.store.certificates, clock_) {
  UPGRADER_CHECK(poll_ != nullptr);
  const auto known = read_known_store(options_.state + "/store");
  if (!known) desk_.log(known.reason() + ": the node goes on as one that has seen no store yet");
  known_ = kept_ = known ? known.value() : KnownStore();
  make_neighbours();
}

int NodeAgent::run() {
  const auto hear = [](uv_poll_t* handle, int, int) {
    static_cast<NodeAgent*>(handle->data)->hear_upgrader();
  };
  UPGRADER_CHECK(uv_poll_start(poll_.get(), UV_READABLE, hear) == 0);
  hear_upgrader();
  uv_run(&loop_, UV_RUN_DEFAULT);
  return 0;
}

Component::Settings NodeAgent::own_settings() const {
  return {.name = "agent",
          .releases = {.directory = options_.releases,
                       .name = "fleet-agent",
                       .keys = options_.keys,
                       .allowed_files = options_.allowed_files,
                       .keep = options_.keep},
          .ledger = options_.state + "/ledger-agent",
          .test_arguments = arguments_};
}

void NodeAgent::make_neighbours() {
  desk_.evidence = options_.evidence;
  for (const AgentOptions::Component& one : options_.components) {
    Neighbour::Settings settings{.component = {.name = one.name,
                                               .releases = {.directory = one.releases,
                                                            .name = one.name,
                                                            .keys = options_.keys,
                                                            .allowed_files = options_.allowed_files,
                                                            .keep = options_.keep,
                                                            .controls = {one.control}},
                                               .ledger = options_.state + "/ledger-" + one.name},
                                 .control = one.control,
                                 .measures = sources_of(one.name)};
    neighbours_.push_back(std::make_unique<Neighbour>(loop_, desk_, std::move(settings), [this] {
      if (desk_.active != 0) keep_facts();
    }));
  }
}

std::vector<MeasureSource> NodeAgent::sources_of(const std::string& component) const {
  std::vector<MeasureSource> sources;
  for (const AgentOptions::Measures& one : options_.measures) {
    if (one.component == component) sources.push_back(*parse_measure_source(one.source));
  }
  return sources;
}

// Keeps the record `health` of fleet-agent itself up to date while a rollout compares this node
// with others. It does not report a crash or a hang of fleet-agent: in both cases, the record
// `instance` loses its lease and disappears, and controllers notice that.
void NodeAgent::keep_health() {
  health_.watch().runs(version_);
  health_.look(own_.ledger());
  health_timer_ = nullptr;
  if (health_.watch().is_settled(timers_.now().count())) return;
  health_timer_ = timers_.after(std::chrono::seconds(1), [this] { keep_health(); });
}

// Runs the reboot command, unless it runs already. A failure is the answer to the order to reboot.
// After a reboot, the next process of fleet-agent answers the order.
void NodeAgent::reboot(RebootEnding ended) {
  reboots_.push_back(std::move(ended));
  if (reboot_ != nullptr) return;
  reboot_ = std::make_unique<HookRun>(
      loop_, timers_, HookRun::Settings{.path = options_.reboot_command, .longest = reboot_time},
      [this](const HookRun::Result& result) { reboot_ended(result); });
}

// Handles the end of the reboot command. Reports nothing if this process must stop: the reboot may
// have begun and killed the command. The next process of fleet-agent then answers the order.
void NodeAgent::reboot_ended(const HookRun::Result& result) {
  const std::unique_ptr<HookRun> run = std::move(reboot_);
  const std::string text = "the command to reboot: exit status " + std::to_string(result.status) +
                           (result.output.empty() ? "" : ": " + result.output);
  desk_.log(text);
  for (const RebootEnding& ended : std::exchange(reboots_, {})) {
    if (!stopping_) ended(result.status == 0 ? "" : text);
  }
}

// ---- reactions to changes of the store's records, and the records that this process writes

void NodeAgent::look_at_stop() {
  if (halt_.find(key_of(KeyKind::stop)) == nullptr) tell_all(StopIsGone{});
}

void NodeAgent::look() {
  if (stopping_) return;
  look_for_twin();
  look_for_restored_store();
  keep_instance();
  presence_.look();
  become_ready();
  // Without the epoch (a number that changes with each restore of the store), this process cannot
  // know whether the store was restored from a snapshot. So it begins no work before it has read
  // the epoch.
  if (!activated_ || desk_.is_doubtful || !epoch_.follows()) return;
  // If this process has written the record `active`, the local copy must contain that write. An
  // older copy does not show whether the record still names this process.
  if (mirror_.revision() < desk_.active) return;
  const KeyValue* active = mirror_.find(key(KeyKind::node_active));
  const bool is_ours = desk_.active != 0 && active != nullptr && active->modified == desk_.active;
  if (!is_ours) return take_active();
  renewal_.look();
  read_ledger_again();
  own_.look();
  if (health_timer_ == nullptr) keep_health();
  for (const auto& neighbour : neighbours_) {
    neighbour->look();
  }
  // Call the components first: after a restore of the store, they drop outdated records, which
  // look() would otherwise write to the restored store.
  records_.look();
  plans_.look();
}

void NodeAgent::keep_instance() {
  if (lease_.lease() == 0) return;
  const Instance record{.version = version_,
                        .phase = activated_ ? "active" : "held",
                        .boot_id = boot_,
                        .since = since_,
                        .last_command = own_.last_command(),
                        .ready = said_ready_,
                        .degraded = degraded(),
                        .generation = generation_,
                        .machine = machine_};
  presence_.want(key_of(KeyKind::node_instance, {options_.node, instance_}), write_record(record),
                 lease_.lease());
}

void NodeAgent::take_active() {
  if (asking_for_active_ || retry_ != nullptr || !mirror_.follows()) return;
  const std::string place = key(KeyKind::node_active);
  const KeyValue* there = mirror_.find(place);
  const auto before = desk_.find<Active>(place);
  if (std::exchange(desk_.active, 0) != 0) tell_all(ActiveIs{0});
  // If the record names this process, an earlier write succeeded and the store's answer was lost.
  if (before && before->instance == instance_) return begin_to_act(there->modified);
  const Active mine{
      .instance = instance_, .boot_id = boot_, .generation = before ? before->generation + 1 : 1};
  asking_for_active_ = true;
  store_.commit(
      {.compares = {Compare{.key = place, .revision = there == nullptr ? 0 : there->modified}},
       .puts = {Put{place, write_record(mine)}}},
      [this](const Outcome& outcome) { take_active_outcome(outcome); });
}

void NodeAgent::take_active_outcome(const Outcome& outcome) {
  asking_for_active_ = false;
  if (const auto* done = std::get_if<Committed>(&outcome)) return begin_to_act(done->revision);
  desk_.log("active: " + words(outcome));
  retry_ = timers_.after(std::chrono::milliseconds(500), [this] {
    retry_ = nullptr;
    look();
  });
}

void NodeAgent::begin_to_act(Revision active) {
  desk_.active = active;
  records_.compare({Compare{.key = key(KeyKind::node_active), .revision = active}});
  say_healthy();
  for (const auto& neighbour : neighbours_) {
    // Read the component's version now, so that the first record of the node's running versions
    // already contains it.
    neighbour->look_at_status();
  }
  keep_facts();
  begin_own();
  for (const auto& neighbour : neighbours_) {
    neighbour->take(ActiveIs{active});
  }
  keep_health();
  look();
}

// Sends the upgrader `healthy`, which commits an upgrade that is on trial. Waits if a rollout has
// begun the upgrade, since the rollout must confirm it first. Also waits if the ledger (the
// commands that were begun) cannot be read, since a rollout may then have begun the upgrade.
void NodeAgent::say_healthy() {
  if (is_on_trial()) {
    if (!unreadable_.empty()) return;
    if (is_under_way(ledger_) && ledger_.upgrade.action == CommandAction::apply) return;
  }
  agent_.healthy();
}

void NodeAgent::keep_facts() {
  NodeInfo info{
      .facts = facts_of_this_machine(), .protocol = protocol, .time_zone = zone_of_this_machine()};
  for (const std::string& label : options_.labels) {
    const std::size_t at = label.find('=');
    info.labels[label.substr(0, at)] = label.substr(at + 1);
  }
  records_.want(key(KeyKind::node_info), write_record(info));
  Versions versions{{{"agent", version_}}};
  for (const auto& neighbour : neighbours_) {
    if (!neighbour->version().empty()) versions.running[neighbour->name()] = neighbour->version();
  }
  records_.want(key(KeyKind::node_versions), write_record(versions));
}

void NodeAgent::tell_all(const NodeEvent& event) {
  own_.take(event);
  for (const auto& neighbour : neighbours_) {
    neighbour->take(event);
  }
}

// Makes this process obey commands to upgrade fleet-agent itself, which is a component like any
// other. The upgrader's messages have shown what has become of an upgrade that an earlier process
// began.
void NodeAgent::begin_own() {
  if (!unreadable_.empty()) return;
  if (own_.has_begun()) return own_.take(ActiveIs{desk_.active});
  Restarted restarted;
  if (is_on_trial()) {
    if (is_under_way(ledger_)) restarted.under_way = ledger_.upgrade.id;
    restarted.activated_ago = (timers_.now() - activated_at_).count();
  } else if (!committed_.empty()) {
    restarted.ended = committed_;
    restarted.ending = UpgradeEnding::committed;
  } else if (failure_) {
    restarted.ended = failure_->id;
    restarted.ending = ending_of(*failure_, ledger_);
    restarted.why = failure_words(*failure_);
    restarted.expired = is_expired(*failure_);
    restarted.evidence = evidence_of(*failure_, desk_.evidence);
  }
  own_.begin(ledger_, restarted, version_);
  if (is_on_trial()) return;
  own_.settle(committed_, failure_ ? failure_words(*failure_) : "", restarted.evidence);
}

}  // namespace fleet
