// Tests an agent's session with arbitrary lines from a possibly hostile upgrader, and with messages
// of its program, SIGTERM and the end of input. A watcher from outside checks everything that the
// session does.
//
// A line of the input comes from the upgrader, unless it begins with one of these:
//     !MESSAGE   the program wants to send this line, whether that is allowed or not
//     ?          SIGTERM
//     $          the input ends
#include "agent-protocol/cpp/session/session.h"
#include "agent-protocol/cpp/wire/codec.h"
#include "agent-protocol/cpp/wire/line_reader.h"
#include "tests/adversity/fuzz/agent_watcher.h"
#include "tests/adversity/fuzz/target.h"
#include "tests/adversity/fuzz/unfold.h"

namespace fuzz {

namespace {

using namespace agent_protocol;

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
