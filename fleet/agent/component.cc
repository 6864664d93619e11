#include "fleet/agent/component.h"

#include <cstdio>
#include <utility>

#include "fleet/agent/identity.h"
#include "fleet/agent/release_digest.h"

namespace fleet {

void NodeDesk::log(const std::string& text) const {
  std::fprintf(stderr, "fleet-agent: %s\n", text.c_str());
}

Component::Component(uv_loop_t& loop, NodeDesk& desk, Settings settings, Hands hands)
    : desk_(desk),
      settings_(std::move(settings)),
      hands_(std::move(hands)),
      fetcher_(loop, settings_.releases),
      journal_(settings_.journal) {
  journal_.read();
}

std::string Component::key(KeyKind kind) const {
  return key_of(kind, {desk_.node, settings_.name});
}

Upgrade Component::recorded() const {
  return desk_.find<Upgrade>(key(KeyKind::node_upgrade)).value_or(Upgrade());
}

void Component::look() {
  if (!settled_ || desk_.active == 0) return;
  feed(ClaimSeen{desk_.mirror.find(key(KeyKind::node_claim)) != nullptr});
  const std::string place = key(KeyKind::node_desired);
  const auto desired = desk_.find<Desired>(place);
  feed(WishSeen{desired ? std::optional(Wish{desk_.mirror.find(place)->modified, *desired})
                        : std::nullopt});
  look_at_command();
}

void Component::settle(const std::string& version, const std::string& committed,
                       const std::string& failure) {
  settled_ = true;
  version_ = version;
  Upgrade before = machine_.upgrade();
  if (before.attempt.empty()) before = recorded();
  feed(Settled{.version = version,
               .recorded = before,
               .committed = !committed.empty() && before.attempt == committed,
               .failure = failure});
  if (!committed.empty()) return answer(std::string(result_done));
  answer(failure.empty() ? std::string(result_interrupted) : failure);
}

void Component::gate_reached(const std::string& attempt) {
  if (attempt == machine_.upgrade().attempt) feed(GateReached{});
}

void Component::upgrade_failed(const std::string& attempt, const std::string& error) {
  if (attempt != machine_.upgrade().attempt) return;
  answer(error);
  feed(AttemptEnded{error});
}

// ---- commands

// Of commands this knows `stop` alone: the rest is left to whoever they are meant for.
void Component::look_at_command() {
  const std::string place = key(KeyKind::node_command);
  const auto command = desk_.find<Command>(place);
  if (!command || command->action != CommandAction::stop || command->id.empty()) return;
  const bool is_meant = command->instance.empty() || command->instance == desk_.instance;
  if (!is_meant || !machine_.is_cutover_ready() || journal_.begun() == command->id) return;
  check_command(*command, desk_.mirror.find(place)->modified);
}

// Asked immediately before it is obeyed: that it stands, that we act, and that nothing is halted.
void Component::check_command(const Command& command, Revision revision) {
  if (!checking_.empty() || retry_ != nullptr) return;
  checking_ = command.id;
  const Transaction question{
      .compares = {
          Compare{.key = key(KeyKind::node_command), .revision = revision},
          Compare{.key = key_of(KeyKind::node_active, {desk_.node}), .revision = desk_.active},
          Compare{.key = key_of(KeyKind::stop)}}};
  desk_.store.commit(question, [this, command](const Outcome& outcome) {
    checking_.clear();
    if (std::holds_alternative<Committed>(outcome)) return obey_stop(command);
    desk_.log("command " + command.id + " is not obeyed yet: " + words(outcome));
    retry_ = desk_.timers.after(std::chrono::seconds(1), [this] {
      retry_ = nullptr;
      look();
    });
  });
}

void Component::obey_stop(const Command& command) {
  if (!machine_.is_cutover_ready()) return;
  if (!journal_.begin(command.id))
    return desk_.log("command " + command.id + " cannot be remembered");
  desk_.log("command " + command.id + ": stop (" + command.reason + ")");
  feed(StopOrdered{});
}

// For whoever has begun to obey: the process before this one, or this one.
void Component::answer(const std::string& result) {
  const auto command = desk_.find<Command>(key(KeyKind::node_command));
  if (!command || command->id.empty() || command->id != journal_.begun()) return;
  const auto given = desk_.find<Answer>(key(KeyKind::node_answer));
  if (given && given->command == command->id) return;
  const Answer answer{.command = command->id, .result = result, .instance = desk_.instance};
  desk_.records.want(key(KeyKind::node_answer), write_record(answer));
}

// ---- the machine

void Component::feed(const WishEvent& event) {
  for (const WishAction& action : machine_.step(event, time_text())) {
    std::visit([this](const auto& deed) { perform(deed); }, action);
  }
}

void Component::perform(const FetchRelease& fetch) {
  desk_.log(settings_.name + ": desired: " + fetch.desired.version + " (" + fetch.attempt + ")");
  desk_.store.read({key_of(KeyKind::release, {settings_.name, fetch.desired.version})},
                   [this, fetch](const Reply<Reading>& reply) { take_release(fetch, reply); });
}

void Component::take_release(const FetchRelease& fetch, const Reply<Reading>& reply) {
  const auto fail = [&](const std::string& why) { feed(Fetched{fetch.attempt, why}); };
  if (const auto* trouble = std::get_if<Trouble>(&reply)) {
    if (trouble->kind == Trouble::Kind::denied) return fail(trouble->reason);
    if (machine_.upgrade().attempt == fetch.attempt) perform(fetch);
    return;
  }
  const Reading& reading = std::get<Reading>(reply);
  if (reading.found.empty()) return fail("release " + fetch.desired.version + " is not published");
  auto release = read_record<Release>(reading.found.front().value);
  if (!release) return fail("the release " + release.reason());
  if (release_digest(release.value()) != fetch.desired.digest)
    return fail("the release that is published is not the one that was desired");
  fetcher_.fetch({.version = fetch.desired.version,
                  .release = release.value(),
                  .older_is_wanted = fetch.desired.downgrade,
                  .running = version_},
                 [this, fetch](const Fetcher::Result& result) {
                   executable_ = result.executable;
                   feed(Fetched{fetch.attempt, result.error});
                 });
}

void Component::perform(const AskUpgrade& ask) {
  if (!settings_.test_arguments) return ask_for(executable_);
  fetcher_.test(ask.version, executable_, *settings_.test_arguments,
                [this](const Fetcher::Result& result) {
                  if (!result.error.empty()) return feed(AttemptEnded{result.error});
                  ask_for(result.executable);
                });
}

void Component::ask_for(const std::string& executable) {
  const std::string why = hands_.ask(machine_.upgrade().attempt, executable);
  if (!why.empty()) feed(AttemptEnded{why});
}

void Component::perform(const ConfirmUpgrade& /*confirm*/) {
  const std::string why = hands_.confirm(machine_.upgrade().attempt);
  if (!why.empty()) desk_.log("cannot confirm: " + why);
}

void Component::perform(const CancelUpgrade& cancel) {
  const std::string why = hands_.cancel(machine_.upgrade().attempt, cancel.reason);
  if (!why.empty()) feed(AttemptEnded{cancel.reason});
}

void Component::perform(const ReportUpgrade& report) {
  desk_.records.want(key(KeyKind::node_upgrade), write_record(report.upgrade));
  if (report.upgrade.phase == UpgradePhase::done) fetcher_.desire(version_);
}

}  // namespace fleet
