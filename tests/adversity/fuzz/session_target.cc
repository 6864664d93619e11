// Tests an agent's session with arbitrary lines from a possibly hostile upgrader, and with messages
// of the agent's program, SIGTERM and the end of input. A watcher checks every action of the
// session from outside.
//
// A line of the input comes from the upgrader, unless it begins with one of these:
//     !MESSAGE   the agent's program wants to send this line, which may be forbidden at this moment
//     ?          SIGTERM
//     $          the input ends
#include <optional>
#include <string>

#include "agent-protocol/cpp/session/session.h"
#include "agent-protocol/cpp/wire/codec.h"
#include "agent-protocol/cpp/wire/line_reader.h"
#include "tests/adversity/fuzz/second_decoder.h"
#include "tests/adversity/fuzz/target.h"

namespace fuzz {

namespace {

using namespace agent_protocol;

// ---- the checks of the session from outside

// Watches the protocol library's session of an agent from outside. It sees the messages that the
// program wants to send, the lines that the upgrader sends, and the actions of the session. This
// class was written from agent-protocol(7), without a look at the session's code.
class AgentWatcher {
 public:
  // Judges the actions with which the session reacts to a message that the program wanted to send.
  // `actions` is empty if the session refused the message.
  void see_said(const AgentMessage& message, const SessionActions& actions, bool refused);
  void see_heard(const UpgraderMessage& message, const SessionActions& actions);
  void see_input_end(const SessionActions& actions);
  void see_sigterm(const SessionActions& actions);

  [[nodiscard]] bool exited() const { return exited_; }

 private:
  void see_actions(const SessionActions& actions);
  void see_delivered(const SessionEvent& event);
  void see_sent(const AgentMessage& message);

  bool greeted_ = false;    // the agent has sent `hello`
  bool ready_ = false;      // the agent has sent `ready`
  bool given_up_ = false;   // the agent has sent `unfit` before its activation
  bool active_ = false;     // the program has got the event of its activation
  bool candidate_ = false;  // the agent's role is candidate
  bool welcomed_ = false;
  bool committed_ = false;
  bool ordered_ = false;   // the upgrader has sent `stop`, and the agent has not sent `cancel`
  bool stopping_ = false;  // the program has got the event that tells it to stop
  bool stopped_ = false;   // the agent has sent `stopped`
  bool input_ended_ = false;
  bool exited_ = false;
};

// Checks that the codec writes this message of the session as a line, and that the tests' own
// decoder (second_decoder.h) accepts the line.
void check_line(const AgentMessage& message) {
  const Result<std::string> line = encode(message);
  must(bool(line), "what is sent cannot be written", line ? "" : line.reason());
  const std::string_view text(line.value().data(), line.value().size() - 1);
  must(second_opinion(text, Sender::agent).judgement == Judgement::good,
       "what is sent is not what the second decoder takes", text);
  ++comparisons;
}

void AgentWatcher::see_said(const AgentMessage& message, const SessionActions& actions,
                            bool refused) {
  must(!refused || actions.empty(), "a refusal, and it is done all the same");
  const bool cancel = std::holds_alternative<Cancel>(message) && !refused;
  see_actions(actions);
  if (!cancel) return;
  ordered_ = false;
  stopping_ = false;
}

void AgentWatcher::see_heard(const UpgraderMessage& message, const SessionActions& actions) {
  const bool held_ready = ready_ && !active_ && !given_up_ && !input_ended_;
  for (const SessionAction& action : actions) {
    const auto* deliver = std::get_if<Deliver>(&action);
    const bool activation = deliver && std::holds_alternative<Activate>(deliver->event);
    must(!activation || held_ready, "activated, and not held and ready");
    must(!activation || std::holds_alternative<Activate>(message), "activated by something else");
    must(!std::holds_alternative<ExitAtOnce>(action), "the upgrader's words end an agent");
  }
  if (std::holds_alternative<Stop>(message) && active_ && !stopped_) ordered_ = true;
  // A session that already stops because of SIGTERM may still be sent `stop`, and may then answer
  // it with `stopped`.
  if (std::holds_alternative<Stop>(message) && stopping_) ordered_ = true;
  see_actions(actions);
}

void AgentWatcher::see_input_end(const SessionActions& actions) {
  const bool first = !input_ended_;
  input_ended_ = true;
  see_actions(actions);
  must(!first || !greeted_ || active_ || exited_, "a held agent outlives the upgrader");
  must(!first || !active_ || stopping_, "an active agent goes on without an upgrader");
}

void AgentWatcher::see_sigterm(const SessionActions& actions) {
  see_actions(actions);
  must(active_ || exited_, "a held agent outlives SIGTERM");
  must(!active_ || stopping_, "an active agent does not hear SIGTERM");
}

void AgentWatcher::see_actions(const SessionActions& actions) {
  must(!exited_ || actions.empty(), "something is done after the exit");
  must(actions.size() <= 2, "too many actions");
  for (const SessionAction& action : actions) {
    if (const auto* send = std::get_if<Send>(&action)) see_sent(send->message);
    if (const auto* deliver = std::get_if<Deliver>(&action)) see_delivered(deliver->event);
    if (!std::holds_alternative<ExitAtOnce>(action)) continue;
    must(!active_, "an active agent exits and does not stop first");
    must(std::get<ExitAtOnce>(action).status != 0, "held and gone, with success");
    exited_ = true;
  }
}

void AgentWatcher::see_delivered(const SessionEvent& event) {
  must(greeted_, "something is told to a program that has not said hello");
  must(!given_up_, "something is told to a program that has given up");
  if (const auto* welcome = std::get_if<Welcome>(&event)) {
    must(!welcomed_, "welcomed twice");
    must(!active_, "welcomed, and active");
    welcomed_ = true;
    candidate_ = welcome->role == Role::candidate;
  }
  if (std::holds_alternative<Activate>(event)) active_ = true;
  if (const auto* stop = std::get_if<StopAsked>(&event)) {
    must(active_, "a stop for one that is held");
    must(!stopping_, "told to stop twice");
    must(stop->cause == StopCause::signal || stop->cause == StopCause::end_of_input || ordered_,
         "the upgrader's stop, and it has not asked for it");
    must(stop->cause != StopCause::upgrade || (stop->id && stop->generation),
         "a stop for an upgrade, and not which");
    stopping_ = true;
  }
  if (std::holds_alternative<Committed>(event)) {
    must(active_ && candidate_ && !committed_, "committed, and not on trial");
    committed_ = true;
  }
  if (std::holds_alternative<CandidateLost>(event)) must(stopping_, "lost, and no stop");
  const bool about_an_upgrade = std::holds_alternative<Accepted>(event) ||
                                std::holds_alternative<CandidateReady>(event) ||
                                std::holds_alternative<UpgradeFailed>(event);
  must(!about_an_upgrade || active_, "news of an upgrade for one that is held");
  must(!stopped_ || std::holds_alternative<Error>(event), "news for one that has stopped");
}

void AgentWatcher::see_sent(const AgentMessage& message) {
  check_line(message);
  const bool hello = std::holds_alternative<Hello>(message);
  must(hello != greeted_, hello ? "hello twice" : "something before hello");
  must(!input_ended_ || active_, "something is sent and nobody is there");
  must(!stopped_ || std::holds_alternative<Status>(message), "something after stopped");
  must(!given_up_ || std::holds_alternative<Status>(message), "something after unfit");
  greeted_ = true;
  if (std::holds_alternative<Ready>(message)) {
    must(!ready_ && !active_, "ready twice");
    ready_ = true;
  }
  if (std::holds_alternative<Unfit>(message)) {
    must(!active_ || (candidate_ && !committed_ && !stopping_), "unfit, and not held or on trial");
    given_up_ = given_up_ || !active_;
  }
  const bool for_active_ones =
      std::holds_alternative<Upgrade>(message) || std::holds_alternative<Confirm>(message) ||
      std::holds_alternative<Cancel>(message) || std::holds_alternative<Healthy>(message) ||
      std::holds_alternative<Heartbeat>(message);
  must(!for_active_ones || active_, "a held agent says what an active one may say");
  if (std::holds_alternative<Stopped>(message)) {
    must(active_ && ordered_, "stopped, and the upgrader has not asked");
    stopped_ = true;
  }
}

// ---- the conversation of the upgrader, the session and its program

class Conversation {
 public:
  void take_line(std::string_view line) {
    if (watcher_.exited()) return;
    if (line.starts_with('!')) {
      say(line.substr(1));
    } else if (line.starts_with('?')) {
      watcher_.see_sigterm(session_.terminated());
    } else if (line.starts_with('$')) {
      end_input();
    } else {
      hear(line);
    }
  }

 private:
  void say(std::string_view text) {
    const Decoded<AgentMessage> decoded = decode_agent_message(text);
    const auto* message = std::get_if<AgentMessage>(&decoded);
    if (message == nullptr) return;
    const std::string before = session_.describe();
    Result<SessionActions> actions = session_.say(*message);
    if (!actions) {
      must(!actions.reason().empty(), "a refusal without a reason");
      must(session_.describe() == before, "a refusal changes something", before);
    }
    watcher_.see_said(*message, actions ? actions.value() : SessionActions{}, !actions);
  }

  void hear(std::string_view line) {
    if (input_ended_) return;
    const Decoded<UpgraderMessage> decoded = decode_upgrader_message(line);
    const auto* message = std::get_if<UpgraderMessage>(&decoded);
    if (message == nullptr) return;  // the library ignores a line that is not a message
    SessionActions actions = session_.hear(*message);
    const auto* activate = std::get_if<Activate>(message);
    if (planted("premature-activation") && activate && actions.empty()) {
      actions.push_back(Deliver{*activate});
    }
    watcher_.see_heard(*message, actions);
  }

  void end_input() {
    input_ended_ = true;
    SessionActions actions = session_.input_ended();
    if (planted("carries-on")) actions.clear();
    watcher_.see_input_end(actions);
  }

  Session session_{Session::Company::upgrader};
  AgentWatcher watcher_;
  bool input_ended_ = false;
};

}  // namespace

void take_session(std::string_view input) {
  static constexpr std::size_t stream_max = 100'000;
  const std::string stream = unfold(input, stream_max);
  Conversation conversation;
  LineReader reader;
  std::string_view rest = stream;
  while (!rest.empty()) {
    const std::span<char> space = reader.space();
    const std::size_t count = rest.copy(space.data(), space.size());
    reader.written(count);
    rest.remove_prefix(count);
    while (const auto line = reader.next()) {
      if (line->complete) conversation.take_line(line->text);
    }
  }
}

}  // namespace fuzz
