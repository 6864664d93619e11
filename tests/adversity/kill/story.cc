#include "tests/adversity/kill/story.h"

namespace kill_points {
namespace {

constexpr int upgrader = 0;
constexpr int old_agent = 1;

constexpr int failure_of_its_own = 125;

// Returns an exit status in the form of a wait status, as waitpid() gives it.
int exited(int status) {
  return status << 8;
}

// Returns whether a candidate, the agent of the new version, is started in this story (a scripted
// upgrade). There is no candidate in the story `boot`, and none in a sequential upgrade whose old
// agent stops uncleanly: the old version is started again instead.
bool has_candidate(const Story& story) {
  if (story.with == Story::With::boot) return false;
  return !story.sequential || story.end != End::fallback ||
         std::string_view(story.id).find("unclean") == std::string_view::npos;
}

}  // namespace

const std::vector<Story>& stories() {
  using With = Story::With;
  constexpr const char* gate = R"(,"gate":"confirm")";
  static const std::vector<Story> all = {
      // The stories (scripted upgrades), one on each line. The columns are the members of Story, in
      // their order.
      {"good", false, "good", "u1", "", false, false, End::committed},
      {"gate", false, "good", "u1", gate, false, false, End::committed},
      {"relink", false, "good", "u1", "", true, true, End::committed},
      {"dies-held", false, "dies-held", "u1", "", false, false, End::kept},
      {"unfit-held", false, "unfit-held", "u1", "", false, false, End::kept},
      {"cancel", false, "good", "u1-cancel", "", false, false, End::kept},
      {"unclean", false, "good", "u1-unclean", "", false, false, End::fallback},
      {"dies-on-trial", false, "dies-on-trial", "u1", "", false, false, End::fallback},
      {"unfit-on-trial", false, "unfit-on-trial", "u1", "", false, false, End::fallback},
      {"way-back", false, "good", "u1", "", true, true, End::committed, With::way_back},
      {"bad-boot", false, "", "boot", "", true, true, End::fallback, With::boot},
      {"warm", false, "good", "u1", "", false, false, End::committed, With::standby},
      {"warm-dies-on-trial", false, "dies-on-trial", "u1", "", false, false, End::fallback,
       With::standby},
      {"warm-dies-beside", false, "dies-beside", "u1", "", false, false, End::fallback,
       With::standby},
      {"good", true, "good", "u1", "", false, false, End::committed},
      {"relink", true, "good", "u1", "", true, true, End::committed},
      {"cancel", true, "good", "u1-cancel", "", false, false, End::kept},
      {"unclean", true, "good", "u1-unclean", "", false, false, End::fallback},
      {"dies-held", true, "dies-held", "u1", "", false, false, End::fallback},
      {"unfit-held", true, "unfit-held", "u1", "", false, false, End::fallback},
      {"dies-on-trial", true, "dies-on-trial", "u1", "", false, false, End::fallback},
      {"unfit-on-trial", true, "unfit-on-trial", "u1", "", false, false, End::fallback},
  };
  return all;
}

bool Story::gated() const {
  return std::string_view(members).find("gate") != std::string_view::npos;
}

std::string words(End end) {
  switch (end) {
    case End::committed:
      return "committed";
    case End::kept:
      return "kept";
    case End::fallback:
      return "fallback";
    case End::restarted:
      return "restarted";
  }
  return "";
}

std::string Setting::name() const {
  return std::string(story->sequential ? "sequential" : "parallel") +
         (lock ? "/lock/" : "/no-lock/") + story->name +
         (order == Order::upgrader_first ? "/upgrader-first" : "/agents-first");
}

std::vector<Setting> all_settings() {
  std::vector<Setting> settings;
  for (const Order order : {Order::upgrader_first, Order::agents_first}) {
    for (const Story& story : stories()) {
      settings.push_back({&story, true, order});
      if (!story.lock_only) settings.push_back({&story, false, order});
    }
  }
  return settings;
}

Moment::Moment(const Setting& setting)
    : setting_(setting),
      story_(*setting.story),
      boot_(story_.with == Story::With::boot),
      candidate_(has_candidate(story_) ? 2 : -1),
      fallback_(has_candidate(story_) ? 3 : 2),
      begun_(boot_) {}

void Moment::pass(const Step& step) {
  if (step.is(old_agent, "writes", "upgrade")) begun_ = true;
  if (!step.after) return;
  pass_stop(step);
  pass_trial(step);
}

void Moment::pass_stop(const Step& step) {
  const std::string_view decisive = story_.sequential ? "upgrade"
                                    : story_.gated()  ? "confirm"
                                                      : "ready";
  const bool by_old = story_.sequential || story_.gated();
  if (step.is(by_old ? old_agent : candidate_, "writes", decisive) && told_to_stop_ == Known::no) {
    told_to_stop_ = Known::maybe;
  }
  if (step.who == upgrader && step.verb == "forks") candidate_started_ = begun_;
  if (step.is(upgrader, "writes", "stop")) told_to_stop_ = Known::yes;
  if (step.is(old_agent, "writes", "stopped")) stopped_ = true;
  if (step.is(old_agent, "writes", "cancel")) cancelled_ = Known::maybe;
  if (step.is(upgrader, "reads", "cancel")) cancelled_ = Known::yes;
}

void Moment::pass_trial(const Step& step) {
  if (step.is(upgrader, "writes", "activate") && candidate_active_ == Known::no && stopped_) {
    candidate_active_ = Known::yes;
  }
  if (step.is(candidate_, "writes", "healthy")) committed_ = Known::maybe;
  if (step.is(upgrader, "writes", "committed")) committed_ = Known::yes;
  if (step.is(fallback_, "writes", "ready")) fallback_active_ = Known::maybe;
  if (step.is(upgrader, "writes", "activate") && fallback_active_ == Known::maybe) {
    fallback_active_ = Known::yes;
  }
}

std::string Moment::role_of(int generation) const {
  if (generation == upgrader) return "upgrader";
  if (generation == old_agent) return boot_ ? "first" : "active";
  if (generation == candidate_) return candidate_active_ == Known::yes ? "active" : "candidate";
  return fallback_active_ == Known::yes ? "active" : "fallback";
}

std::set<Allowed> Moment::after_end_of(int generation, int signal) const {
  if (generation == upgrader) return {{End::restarted, signal}};
  if (generation == old_agent && boot_) return {{End::fallback}};
  if (generation == old_agent) return after_end_of_old(signal);
  if (generation == candidate_) return after_end_of_candidate(signal);
  return after_end_of_fallback(signal);
}

// Returns the allowed ends of the upgrade if the old agent is killed at the current step. By
// agent-protocol(7), these are the ends:
// * If the agent has not been sent `stop`, the upgrader exits, too, with 128 + the signal's number.
// * If the agent has been sent `stop`, and has written neither `stopped` nor `cancel`, its stop is
//   unclean, and the old executable is started again.
// * If the agent has written `stopped`, its stop counts as clean, whatever its exit status is.
// * If the upgrader has read `cancel` from the agent, it exits as if it had not sent `stop`.
// * If the agent has written `cancel`, and the upgrader has not read it yet, two ends are allowed:
//   the upgrader exits, or the old executable is started again.
std::set<Allowed> Moment::after_end_of_old(int signal) const {
  const Allowed with_it{End::restarted, exited(128 + signal)};
  if (stopped_) return {{story_.end}};
  if (cancelled_ == Known::yes) return {with_it};
  if (told_to_stop_ == Known::no) {
    const bool ready_may_come = setting_.order == Order::agents_first && candidate_started_;
    return ready_may_come ? std::set<Allowed>{{End::fallback}, with_it} : std::set{with_it};
  }
  if (told_to_stop_ == Known::yes && cancelled_ == Known::no) return {{End::fallback}};
  return {{End::fallback}, with_it};
}

// Returns the allowed ends of the upgrade if the candidate is killed at the current step:
// * If the old agent has not been sent `stop` yet, it stays active.
// * If the old agent has been sent `stop`, it stops, and its executable is started again. But if it
//   answers `cancel`, it stays active.
// * If the candidate is on trial, a fallback is started.
// * If the candidate is committed, the upgrader exits, too, with 128 + the signal's number.
std::set<Allowed> Moment::after_end_of_candidate(int signal) const {
  const Allowed with_it{End::restarted, exited(128 + signal)};
  if (story_.end == End::kept) return {{End::kept}};
  if (candidate_active_ == Known::yes && committed_ == Known::yes) return {with_it};
  if (candidate_active_ == Known::yes && committed_ == Known::maybe) {
    return {{End::fallback}, with_it};
  }
  if (told_to_stop_ == Known::no) return {{End::kept}};
  if (told_to_stop_ == Known::maybe) return {{End::kept}, {End::fallback}};
  return {{End::fallback}};
}

// Returns the allowed ends of the upgrade if the fallback is killed at the current step:
// * If the fallback is not active yet, the upgrader exits with 125.
// * If the fallback is active, the upgrader exits with 128 + the signal's number.
// * If the fallback is a standby that has not been sent `activate`, the upgrade ends as without a
//   signal. If a fallback is needed later, it is started then.
std::set<Allowed> Moment::after_end_of_fallback(int signal) const {
  const Allowed failed{End::restarted, exited(failure_of_its_own)};
  const Allowed with_it{End::restarted, exited(128 + signal)};
  if (story_.with == Story::With::standby && fallback_active_ != Known::yes) {
    if (fallback_active_ == Known::no || story_.end == End::committed) return {{story_.end}};
    return {{story_.end}, with_it};
  }
  if (fallback_active_ == Known::no) return {failed};
  if (fallback_active_ == Known::yes) return {with_it};
  return {failed, with_it};
}

}  // namespace kill_points
