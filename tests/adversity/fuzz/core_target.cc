// Gives a supervisor the sequence of events that the input stands for (core_story.h). A watcher
// from outside checks every step. Every message must be writable, and readable by the second
// decoder. Events about an ended agent must change nothing. After the story's end, the supervisor
// must be able to go on.
#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "agent-protocol/cpp/wire/codec.h"
#include "tests/adversity/fuzz/core_story.h"
#include "tests/adversity/fuzz/second_decoder.h"
#include "tests/adversity/fuzz/target.h"
#include "tests/decisions/explore/explorer.h"
#include "tests/support/watcher.h"

namespace fuzz {

namespace {

using namespace upgrader;

// The largest number of actions that one event may cause. A fall-back causes most: the upgrader
// sends a report, kills an agent, starts another one, and logs each of these.
constexpr std::size_t actions_max = 12;
// A good upgrade takes six events: upgrade, hello, ready, stopped, exit, and the end of the trial.
// explorer.h has a function that counts them.
constexpr std::size_t useful_events = 6;

// Returns the generation of the agent that an event is about, or 0 if it is about none.
Generation subject(const Event& event) {
  return std::visit(
      [](const auto& of_some_kind) -> Generation {
        if constexpr (requires { of_some_kind.generation; }) return of_some_kind.generation;
        return 0;
      },
      event);
}

bool knows(const State& state, Generation generation) {
  return (state.incumbent && state.incumbent->generation == generation) ||
         (state.candidate && state.candidate->generation == generation);
}

// The largest number of deadlines that can pass at one instant: each agent may have several, and
// the upgrade one.
constexpr int deadlines_max = 5;
// The number of passed deadlines after which the test stops waiting. If a killed agent does not
// end, the log repeats that again and again, so there would always be another deadline.
constexpr int looks_max = 50;

class Stage {
 public:
  Stage(const Policy& policy, std::string* story)
      : supervisor_(policy), watcher_(policy.exit_grace), story_(story) {}

  void play(Bytes& bytes) {
    while (!bytes.empty()) {
      const Happening happening = take_happening(bytes, supervisor_.state());
      tell(happening.name);
      let_pass(happening, bytes);
      if (happening.outcome != 0) outcome_ = happening.outcome;
      for (const Event& event : happening.events)
        take(event, bytes);
    }
    must(test::comes_to_rest(supervisor_), "Time: it never ends");
    if (supervisor_.phase() != Phase::running) return;
    must(!supervisor_.next_deadline(), "Resources: it wakes while nothing is under way");
    const bool useful = test::events_to_commit(supervisor_) == useful_events;
    must(useful, "Usefulness: a good upgrade does not commit");
  }

 private:
  void tell(const std::string& line) {
    if (story_ != nullptr) *story_ += printable(line) + "\n";
  }

  void let_pass(const Happening& happening, Bytes& bytes) {
    const Time end = now_ + happening.later;
    int stays = 0;
    for (int looks = 0; happening.deadlines_are_seen && looks < looks_max; ++looks) {
      const std::optional<Time> next = supervisor_.next_deadline();
      if (!next || *next > end) break;
      now_ = std::max(now_, *next);
      take(DeadlinePassed{}, bytes);
      stays = supervisor_.next_deadline() == next ? stays + 1 : 0;
      must(stays < deadlines_max, "a deadline that passes stays");
    }
    now_ = end;
  }

  // Lets the supervisor handle an event, and then an outcome of each order that the supervisor
  // gives because of it.
  void take(const Event& event, Bytes& bytes) {
    const bool encodable = is_encodable(event);
    if (!encodable) return;
    const Supervisor before = supervisor_;
    step(event);
    must(!is_too_late(before, event) || is_patient(),
         "Time: a deadline is judged at once, though late");
    const Generation generation = subject(event);
    const bool strange = generation != 0 && !knows(before.state(), generation);
    must(!strange || supervisor_ == before, "S7: an agent that is no more changes something");
    while (supervisor_.state().pending != Pending::nothing) {
      const Event outcome = take_outcome(bytes, supervisor_.state(), std::exchange(outcome_, 0));
      step(outcome);
    }
  }

  // Returns whether the codec can encode the message in this event. If not, no agent could have
  // sent the message.
  static bool is_encodable(const Event& event) {
    const auto* said = std::get_if<MessageReceived>(&event);
    return said == nullptr || agent_protocol::encode(said->message);
  }

  // Returns whether deadlines have passed, all of them more than a second ago, and no deadline has
  // been postponed yet. The supervisor must then postpone them first.
  [[nodiscard]] bool is_too_late(const Supervisor& before, const Event& event) const {
    const auto* passed = std::get_if<DeadlinePassed>(&event);
    if (passed == nullptr || !before.state().put_off.empty()) return false;
    State state = before.state();
    bool due = false, late = true;
    for (const test::NamedDeadline& named : test::deadlines_of(state)) {
      if (!*named.deadline || **named.deadline > std::min(passed->by, now_)) continue;
      due = true;
      late = late && now_ - **named.deadline > std::chrono::seconds(1);
    }
    return due && late;
  }

  // Returns whether the last step did nothing but write to the log.
  [[nodiscard]] bool is_patient() const {
    return std::all_of(actions_.begin(), actions_.end(),
                       [](const Action& action) { return std::holds_alternative<Log>(action); });
  }

  void step(const Event& event) {
    Actions actions = supervisor_.step(event, now_);
    plant(event, actions);
    watcher_.see(event, actions, now_);
    for (const std::string& violation : watcher_.violations())
      must(false, "the watcher saw", violation);
    must(actions.size() <= actions_max, "too many actions for an event");
    for (const Action& action : actions)
      look_at(action);
    actions_ = actions;
    must(phase_of(supervisor_.state()) != Phase::ended || !supervisor_.next_deadline(),
         "there is an end, and a deadline after it");
  }

  // Throws if the shell could not carry out this action, such as a message that cannot be encoded.
  static void look_at(const Action& action) {
    const auto* send = std::get_if<Send>(&action);
    if (send == nullptr) return;
    const auto line = agent_protocol::encode(send->message);
    must(bool(line), "what is to be sent cannot be written", line ? "" : line.reason());
    const std::string_view text(line.value().data(), line.value().size() - 1);
    const SecondOpinion second = second_opinion(text, Sender::upgrader);
    must(second.judgement == Judgement::good, "a message that the second decoder does not take",
         line.value());
    ++comparisons;
  }

  void plant(const Event& event, Actions& actions) {
    const auto* said = std::get_if<MessageReceived>(&event);
    const bool ready = said && std::holds_alternative<agent_protocol::Ready>(said->message);
    const auto& candidate = supervisor_.state().candidate;
    if (planted("early-activation") && ready && candidate && candidate->ready) {
      actions.push_back(Send{candidate->generation, agent_protocol::Activate{}});
    }
    const bool extend = said && std::holds_alternative<agent_protocol::Extend>(said->message);
    if (planted("early-kill") && extend) actions.push_back(Kill{said->generation});
    if (!planted("no-answer")) return;
    std::erase_if(actions, [](const Action& action) {
      const auto* send = std::get_if<Send>(&action);
      const auto* failed =
          send ? std::get_if<agent_protocol::UpgradeFailed>(&send->message) : nullptr;
      return failed && failed->failure.stage == agent_protocol::Stage::request;
    });
  }

  Supervisor supervisor_;
  test::Watcher watcher_;
  std::string* story_;  // the story in words for people, or null if nobody wants it
  Time now_{1'000'000};
  int outcome_ = 0;
  Actions actions_;  // the actions of the last step
};

void play(std::string_view input, std::string* story) {
  Bytes bytes(input);
  const Policy policy = take_policy(bytes);
  Stage(policy, story).play(bytes);
}

}  // namespace

void take_core(std::string_view input) {
  try {
    play(input, nullptr);
  } catch (const Finding& finding) {
    std::string story;
    try {
      play(input, &story);
    } catch (const Finding&) {
      throw Finding{finding.what + "\n" + story};
    }
    throw Finding{finding.what + "\n  and not when it is told again"};
  }
}

}  // namespace fuzz
