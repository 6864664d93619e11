#include "tools/upgraderctl/core/occasions.h"

#include <algorithm>
#include <utility>

#include "tools/upgraderctl/core/options.h"

namespace upgraderctl {
namespace {

// Returns a string that identifies one run of an upgrader, from its start to its exit.
std::string life_of(const Status& status) {
  return status.upgrader.started + "/" + std::to_string(status.upgrader.pid.value_or(0));
}

OccasionEnvironment environment_of(const char* event, const std::string& version,
                                   const std::string& executable) {
  return {std::string("UPGRADER_EVENT=") + event, "UPGRADER_VERSION=" + version,
          "UPGRADER_EXECUTABLE=" + executable};
}

// Returns the environment variables for an upgrade that has ended. UPGRADER_VERSION and
// UPGRADER_EXECUTABLE describe the program that runs after the upgrade.
OccasionEnvironment environment_of(const char* event, const Ending& ending) {
  const bool committed = ending.outcome == "committed";
  const Side& stays = committed ? ending.to : ending.from;
  const Side& goes = committed ? ending.from : ending.to;
  OccasionEnvironment environment = environment_of(event, stays.version, stays.executable);
  environment.push_back("UPGRADER_ID=" + ending.id);
  environment.push_back("UPGRADER_OTHER_VERSION=" + goes.version);
  environment.push_back("UPGRADER_OTHER_EXECUTABLE=" + goes.executable);
  environment.push_back("UPGRADER_STAGE=" + ending.stage);
  environment.push_back("UPGRADER_REASON=" + ending.reason);
  return environment;
}

const char* name_of(Occasion occasion) {
  switch (occasion) {
    case Occasion::good:
      return "good";
    case Occasion::commit:
      return "commit";
    case Occasion::fallback:
      return "fallback";
  }
  return "";
}

}  // namespace

std::optional<Finish> Occasions::looked(const Look& look, Duration now) {
  const bool lacks_rights = missing_rights_.looked(look, now);
  // While the status cannot be read, a different agent may become active. So the time for which an
  // agent has been active is counted from zero again when the status can next be read.
  if (!look.status) {
    active_since_.reset();
    active_.clear();
    return lacks_rights ? std::optional(Finish{exit_refused, look.trouble}) : std::nullopt;
  }
  std::vector<std::string> keys;
  const bool is_new_life = look.previous && !same_life(*look.previous, *look.status);
  // After a restart of the upgrader, `look.previous` is the last status before the restart. It may
  // show upgrades that have ended since the last call of this function. `upgraderctl on good`
  // ignores them: an agent is good only if the current upgrader has kept it active for long enough.
  if (is_new_life && kind_ != Occasion::good) look_at_endings(*look.previous, keys);
  if (kind_ != Occasion::good || has_run(look)) {
    look_at_endings(*look.status, keys);
    seen_ = std::move(keys);
  }
  if (kind_ == Occasion::good) look_at_active(look, now);
  return std::nullopt;
}

// Returns true if the upgrader that wrote the status runs, or was seen running before. Otherwise
// the status may be older than the last boot, if the control directory is on a disk. The upgrades
// in an old status do not show that anything works now.
bool Occasions::has_run(const Look& look) {
  const std::string life = life_of(*look.status);
  if (!look.status->ended && !has_gone(look.hearing)) running_life_ = life;
  return life == running_life_;
}

void Occasions::look_at_endings(const Status& status, std::vector<std::string>& keys) {
  for (auto ending = status.endings.rbegin(); ending != status.endings.rend(); ++ending) {
    // An agent may choose the same id again, so the time `accepted` is part of the key.
    const std::string accepted =
        ending->accepted ? std::to_string(ending->accepted->time_since_epoch().count()) : "";
    const std::string key = life_of(status) + "/" + ending->id + "/" + accepted;
    keys.push_back(key);
    const bool is_seen = std::find(seen_.begin(), seen_.end(), key) != seen_.end();
    if (!is_seen && concerns(*ending)) add(environment_of(name_of(kind_), *ending));
  }
}

bool Occasions::concerns(const Ending& ending) const {
  return ending.outcome == (kind_ == Occasion::fallback ? "fell_back" : "committed");
}

// Records the time since which the same agent has been active. Uses a monotonic clock, because the
// system's clock jumps when somebody sets it, for example at a boot of a machine without a battery.
void Occasions::look_at_active(const Look& look, Duration now) {
  const Status& status = *look.status;
  const std::string life = life_of(status);
  const bool works = status.active && status.phase != "trial" && status.phase != "starting" &&
                     !status.ended && !has_gone(look.hearing);
  if (!works || life == good_life_) {
    active_since_.reset();
    active_.clear();
    return;
  }
  const std::string agent = life + "/" + std::to_string(status.active->generation.value_or(0));
  if (std::exchange(active_, agent) != agent) active_since_ = now;
  if (now < *active_since_ + after_) return;
  good_life_ = life;
  active_since_.reset();
  add(environment_of("good", status.active->version, status.active->executable));
}

void Occasions::add(OccasionEnvironment environment) {
  // Each element of waiting_ is an occasion for which the command must run. The first one must not
  // be dropped if its command is running, or has failed and will be run again.
  const std::size_t first = running_ || retry_at_ ? 1 : 0;
  if (waiting_.size() >= occasions_waiting_max) {
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(first));
  }
  waiting_.push_back(std::move(environment));
}

void Occasions::command_ended(bool well, Duration now) {
  running_ = false;
  if (well) {
    waiting_.erase(waiting_.begin());
  } else {
    retry_at_ = now + occasion_retry;
  }
}

std::optional<OccasionEnvironment> Occasions::next(Duration now) {
  if (running_ || waiting_.empty() || (retry_at_ && now < *retry_at_)) return std::nullopt;
  running_ = true;
  retry_at_.reset();
  return waiting_.front();
}

std::optional<Duration> Occasions::next_deadline() const {
  const std::optional<Duration> good =
      active_since_ ? std::optional(*active_since_ + after_) : std::nullopt;
  const std::optional<Duration> retry = running_ ? std::nullopt : retry_at_;
  return upgrader::earlier_of(missing_rights_.next_deadline(), upgrader::earlier_of(good, retry));
}

}  // namespace upgraderctl
