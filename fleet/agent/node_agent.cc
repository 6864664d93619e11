#include "fleet/agent/node_agent.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>

#include "fleet/agent/identity.h"
#include "fleet/model/record_text.h"
#include "upgrader/core/check.h"

namespace fleet {
namespace {

// Of fleet-agent's own understanding of commands: what --min-protocol asks for.
constexpr std::int64_t protocol = 1;

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
      boot_(boot_id()),
      since_(time_text()),
      agent_(std::move(agent)),
      poll_(upgrader::make_handle<uv_poll_t>(
          [&](uv_poll_t* fresh) { return uv_poll_init(&loop, fresh, agent_.fd()); })),
      timers_(loop),
      store_(loop, {.endpoints = options_.endpoints,
                    .certificates = {options_.authority, options_.certificate, options_.key},
                    .seed = seed_of(instance_)}),
      mirror_(store_, timers_, {node_prefix(options_.node), true},
              {.changed = [this](const Changes&) { look(); },
               .troubled = [this](const Trouble& trouble) { log("the store: " + trouble.reason); }},
              seed_of(instance_)),
      lease_(store_, timers_, std::chrono::seconds(options_.lease_s),
             {.taken = [this](const Lease&) { look(); },
              .lost = [this](const std::string& why) { log("the lease: " + why); }},
             seed_of(instance_)),
      presence_(store_, timers_, mirror_, seed_of(instance_),
                {.stand = [this] { look(); },
                 .denied = [this](const std::string& why) { log("not registered: " + why); }}),
      records_(store_, timers_, mirror_, seed_of(instance_),
               {.denied = [this](const std::string& why) { log("not recorded: " + why); }}),
      fetcher_(loop,
               {.directory = options_.releases, .name = "fleet-agent", .keys = options_.keys}),
      journal_(options_.state + "/command-agent") {
  UPGRADER_CHECK(poll_ != nullptr);
  poll_->data = this;
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

void NodeAgent::log(const std::string& text) const {
  std::fprintf(stderr, "fleet-agent: %s\n", text.c_str());
}

std::string NodeAgent::key(KeyKind kind) const {
  return key_of(kind, {options_.node});
}

std::string NodeAgent::component_key(KeyKind kind) const {
  return key_of(kind, {options_.node, "agent"});
}

// ---- the store

void NodeAgent::look() {
  if (stopping_) return;
  look_for_twin();
  keep_instance();
  presence_.look();
  become_ready();
  if (!activated_ || !degraded_.empty()) return;
  if (mirror_.revision() < active_) return;  // it has not yet followed what we have written
  const KeyValue* active = mirror_.find(key(KeyKind::node_active));
  const bool is_ours = active_ != 0 && active != nullptr && active->modified == active_;
  if (!is_ours) return take_active();
  records_.look();
  look_at_wish();
  look_at_command();
}

// An instance that lives on another boot of a machine of this name.
void NodeAgent::look_for_twin() {
  std::string why;
  const std::string below = node_prefix(options_.node) + "instance/";
  for (auto at = mirror_.records().lower_bound(below);
       at != mirror_.records().end() && at->first.starts_with(below); ++at) {
    const auto other = read_record<Instance>(at->second.value);
    if (other && other.value().boot_id != boot_) why = "two machines, one name";
  }
  if (std::exchange(degraded_, why) == why) return;
  log(why.empty() ? "alone with this name again" : why + ": " + options_.node);
}

void NodeAgent::keep_instance() {
  if (lease_.lease() == 0) return;
  const Instance record{.version = version_,
                        .phase = activated_ ? "active" : "held",
                        .boot_id = boot_,
                        .since = since_,
                        .last_command = journal_.begun(),
                        .ready = said_ready_,
                        .degraded = degraded_,
                        .generation = generation_};
  presence_.want(key_of(KeyKind::node_instance, {options_.node, instance_}), write_record(record),
                 lease_.lease());
}

void NodeAgent::take_active() {
  if (asking_for_active_ || retry_ != nullptr || !mirror_.follows()) return;
  const std::string place = key(KeyKind::node_active);
  const KeyValue* there = mirror_.find(place);
  const auto before = found<Active>(place);
  active_ = 0;
  // An answer was lost, and it had been written.
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
  log("active: " + words(outcome));
  retry_ = timers_.after(std::chrono::milliseconds(500), [this] {
    retry_ = nullptr;
    look();
  });
}

void NodeAgent::begin_to_act(Revision active) {
  active_ = active;
  records_.compare({Compare{.key = key(KeyKind::node_active), .revision = active}});
  agent_.healthy();
  keep_facts();
  const bool is_on_trial = role_ == Agent::Role::candidate && committed_.empty();
  if (!settled_ && !is_on_trial) settle(!committed_.empty());
  look();
}

void NodeAgent::keep_facts() {
  NodeInfo info{.facts = facts_of_this_machine(), .protocol = protocol};
  for (const std::string& label : options_.labels) {
    const std::size_t at = label.find('=');
    info.labels[label.substr(0, at)] = label.substr(at + 1);
  }
  records_.want(key(KeyKind::node_info), write_record(info));
  records_.want(key(KeyKind::node_versions), write_record(Versions{{{"agent", version_}}}));
}

void NodeAgent::look_at_wish() {
  if (!settled_) return;
  feed(ClaimSeen{mirror_.find(component_key(KeyKind::node_claim)) != nullptr});
  const std::string place = component_key(KeyKind::node_desired);
  const auto desired = found<Desired>(place);
  feed(WishSeen{desired ? std::optional(Wish{mirror_.find(place)->modified, *desired})
                        : std::nullopt});
}

// Of commands this component knows `stop` alone: the rest is left to whoever they are meant for.
void NodeAgent::look_at_command() {
  const std::string place = component_key(KeyKind::node_command);
  const auto command = found<Command>(place);
  if (!command || command->action != CommandAction::stop || command->id.empty()) return;
  const bool is_meant = command->instance.empty() || command->instance == instance_;
  if (!is_meant || !machine_.is_cutover_ready() || journal_.begun() == command->id) return;
  check_command(*command, mirror_.find(place)->modified);
}

// Asked immediately before it is obeyed: that it stands, that we act, and that nothing is halted.
void NodeAgent::check_command(const Command& command, Revision revision) {
  if (!checking_.empty() || command_retry_ != nullptr) return;
  checking_ = command.id;
  const Transaction question{
      .compares = {Compare{.key = component_key(KeyKind::node_command), .revision = revision},
                   Compare{.key = key(KeyKind::node_active), .revision = active_},
                   Compare{.key = key_of(KeyKind::stop)}}};
  store_.commit(question, [this, command](const Outcome& outcome) {
    checking_.clear();
    if (std::holds_alternative<Committed>(outcome)) return obey_stop(command);
    log("command " + command.id + " is not obeyed yet: " + words(outcome));
    command_retry_ = timers_.after(std::chrono::seconds(1), [this] {
      command_retry_ = nullptr;
      look();
    });
  });
}

void NodeAgent::obey_stop(const Command& command) {
  if (!machine_.is_cutover_ready()) return;
  if (!journal_.begin(command.id)) return log("command " + command.id + " cannot be remembered");
  log("command " + command.id + ": stop (" + command.reason + ")");
  feed(StopOrdered{});
}

// For whoever was told: the one before us, or we ourselves.
void NodeAgent::answer_command_begun(const std::string& result) {
  const auto command = found<Command>(component_key(KeyKind::node_command));
  if (!command || command->id.empty() || command->id != journal_.begun()) return;
  const Answer answer{.command = command->id, .result = result, .instance = instance_};
  records_.want(component_key(KeyKind::node_answer), write_record(answer));
}

}  // namespace fleet
