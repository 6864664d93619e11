// What NodeAgent does about the version that is wished, as WishMachine decides.
#include <utility>

#include "fleet/agent/identity.h"
#include "fleet/agent/node_agent.h"
#include "fleet/model/record_text.h"

namespace fleet {

void NodeAgent::settle(bool committed) {
  settled_ = true;
  const Upgrade recorded = found<Upgrade>(component_key(KeyKind::node_upgrade)).value_or(Upgrade());
  const bool is_ours = committed && recorded.attempt == committed_;
  feed(Settled{
      .version = version_, .recorded = recorded, .committed = is_ours, .failure = failure_});
  if (committed) {
    answer_command_begun(std::string(result_done));
  } else {
    answer_command_begun(failure_.empty() ? std::string(result_interrupted) : failure_);
  }
}

void NodeAgent::feed(const WishEvent& event) {
  for (const WishAction& action : machine_.step(event, time_text())) {
    std::visit([this](const auto& deed) { perform(deed); }, action);
  }
}

void NodeAgent::perform(const FetchRelease& fetch) {
  log("desired: " + fetch.desired.version + " (" + fetch.attempt + ")");
  store_.read({key_of(KeyKind::release, {"agent", fetch.desired.version})},
              [this, fetch](const Reply<Reading>& reply) { take_release(fetch, reply); });
}

void NodeAgent::take_release(const FetchRelease& fetch, const Reply<Reading>& reply) {
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
                  .older_is_wanted = fetch.desired.downgrade},
                 [this, fetch](const Fetcher::Result& result) {
                   executable_ = result.executable;
                   feed(Fetched{fetch.attempt, result.error});
                 });
}

void NodeAgent::perform(const AskUpgrade& ask) {
  fetcher_.test(ask.version, executable_, arguments_, [this](const Fetcher::Result& result) {
    if (!result.error.empty()) return feed(UpgradeEnded{result.error});
    ask_for(result.executable);
  });
}

void NodeAgent::ask_for(const std::string& executable) {
  const Agent::Upgrade request{.id = machine_.upgrade().attempt,
                               .executable = executable,
                               .mode = Agent::Mode::parallel,
                               .gate = Agent::Gate::confirm,
                               .commit = Agent::CommitRule::healthy,
                               .trial = std::chrono::seconds(options_.trial_s)};
  if (!agent_.request_upgrade(request)) feed(UpgradeEnded{"cannot ask: " + agent_.error()});
}

void NodeAgent::perform(const ConfirmUpgrade& /*confirm*/) {
  if (!agent_.confirm(machine_.upgrade().attempt)) log("cannot confirm: " + agent_.error());
}

void NodeAgent::perform(const CancelUpgrade& cancel) {
  if (!agent_.cancel(machine_.upgrade().attempt, cancel.reason)) feed(UpgradeEnded{cancel.reason});
}

void NodeAgent::perform(const ReportUpgrade& report) {
  records_.want(component_key(KeyKind::node_upgrade), write_record(report.upgrade));
}

}  // namespace fleet
