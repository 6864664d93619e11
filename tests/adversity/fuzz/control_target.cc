// This target gives a supervisor arbitrary bytes as lines from the control directory's FIFO. Each
// line must have the meaning that upgrader(8) gives it. The supervisor begins with an active agent.
// Until a line requests a shutdown, the supervisor must keep running. It must never break a rule
// that the watcher (tests/support/watcher.h) checks.
#include <algorithm>
#include <map>

#include "base/utf8.h"
#include "tests/adversity/fuzz/second_json.h"
#include "tests/adversity/fuzz/target.h"
#include "tests/support/every_event.h"
#include "tests/support/watcher.h"
#include "upgrader/core/chronicle.h"
#include "upgrader/core/supervisor.h"

namespace fuzz {
namespace {

using namespace upgrader;

// Returns the value of the member `name` of a JSON object. Returns null if the object has no such
// member, or several.
const Json* only(const Json& object, std::string_view name) {
  const Json* found = nullptr;
  for (std::size_t i = 0; i < object.names.size(); ++i) {
    if (object.names[i].text != name || object.names[i].lone_surrogate) continue;
    if (found != nullptr && !planted("control-duplicate")) return nullptr;
    found = &object.items[i];
  }
  return found;
}

bool is_name(const Json& value) {
  constexpr std::size_t name_max = 64;
  return value.kind == Json::Kind::text && !value.lone_surrogate && !value.text.empty() &&
         value.text.size() <= name_max &&
         std::all_of(value.text.begin(), value.text.end(),
                     [](char c) { return c >= ' ' && c <= '~'; });
}

// Returns the member `request` of an operator's line: the request's name, which the answer to the
// line must repeat. Returns nothing if the line gets no answer.
std::optional<std::string> name_in(std::string_view line) {
  const std::optional<Json> object = read_json(line, 32);
  if (!object || object->kind != Json::Kind::object) return std::nullopt;
  const Json* const type = only(*object, "type");
  if (type == nullptr || type->kind != Json::Kind::text) return std::nullopt;
  const Json* const name = only(*object, "request");
  if (name == nullptr || !is_name(*name)) return std::nullopt;
  return name->text;
}

ControlLine decoded(std::string_view line) {
  const std::optional<std::string> wanted = name_in(line);
  ControlLine given = decode_control_line(line);
  ++comparisons;
  std::optional<std::string> name;
  if (const auto* request = std::get_if<ControlRequest>(&given)) name = request->name;
  if (const auto* refused = std::get_if<ControlRefused>(&given)) {
    name = refused->name;
    must(!refused->reason.empty(), "a request is refused without a reason", line);
    must(refused->type.size() <= 64, "the type of a refused request is too long", line);
  }
  must(name == wanted, "the control directory says another name", line);
  return given;
}

// A supervisor for this test. Everything that this supervisor wants done, such as the check or the
// start of a program, succeeds.
class Serving {
 public:
  Serving() : supervisor_(policy()), watcher_(policy().exit_grace) {
    take(StartRequested{1, std::nullopt});
    take(MessageReceived{1, agent_protocol::Hello{}, false});
    take(MessageReceived{1, agent_protocol::Ready{}, false});
  }

  void take(const Event& event) {
    Actions actions = step(event);
    while (supervisor_.state().pending != Pending::nothing)
      actions = step(test::every_outcome(supervisor_.state()).front().event);
  }

  // Lets an agent send its next message, or exit. This agent is the candidate if there is one, and
  // otherwise the active agent.
  void move_on() {
    const State& state = supervisor_.state();
    if (state.candidate && !state.candidate->greeted) {
      return take(MessageReceived{state.candidate->generation, agent_protocol::Hello{}, false});
    }
    if (state.candidate && state.candidate->killed) {
      return take(ProcessExited{state.candidate->generation, {Ending::How::signalled, 9}});
    }
    if (state.candidate && !state.candidate->ready) {
      return take(MessageReceived{state.candidate->generation, agent_protocol::Ready{}, false});
    }
    if (!state.incumbent) return;
    const Generation incumbent = state.incumbent->generation;
    if (!state.incumbent->activated) {
      if (!state.incumbent->greeted) {
        return take(MessageReceived{incumbent, agent_protocol::Hello{}, false});
      }
      return take(MessageReceived{incumbent, agent_protocol::Ready{}, false});
    }
    if (state.incumbent->stopped) return take(ProcessExited{incumbent, {Ending::How::exited, 0}});
    if (state.incumbent->told) {
      return take(MessageReceived{incumbent, agent_protocol::Stopped{}, false});
    }
  }

  [[nodiscard]] Chronicle& chronicle() { return chronicle_; }
  [[nodiscard]] bool ends() const { return phase_of(supervisor_.state()) >= Phase::shutting_down; }

 private:
  static Policy policy() {
    Policy made;
    made.defaults.stop_timeout = std::chrono::seconds(90);
    made.defaults.trial = std::chrono::seconds(30);
    made.relink = true;
    return made;
  }

  Actions step(const Event& event) {
    Actions actions = supervisor_.step(event, Time{1'000});
    watcher_.see(event, actions, Time{1'000});
    chronicle_.note(event, actions, supervisor_.state(), {1'000'000, 1'000});
    if (!watcher_.violations().empty()) {
      throw Finding{"the watcher saw: " + watcher_.violations().front()};
    }
    return actions;
  }

  Supervisor supervisor_;
  test::Watcher watcher_;
  Chronicle chronicle_;
};

void ask(Serving& serving, ControlRequest request) {
  const bool shutdown = request.deed == Deed::shutdown;
  const std::string name = request.name;
  if (auto event = serving.chronicle().judge(std::move(request))) serving.take(*event);
  must(serving.chronicle().has_answered(name), "a request has no answer", name);
  must(serving.chronicle().requests().size() <= chronicle_max, "too many requests are kept");
  must(shutdown || !serving.ends(), "a request has ended the upgrader", name);
}

}  // namespace

void take_control(std::string_view input) {
  const std::string text = unfold(input, 65'536);
  Serving serving;
  std::string_view rest = text;
  while (!rest.empty() && !serving.ends()) {
    const std::size_t end = rest.find('\n');
    ControlLine line = decoded(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (auto* request = std::get_if<ControlRequest>(&line)) {
      ask(serving, std::move(*request));
    } else if (std::holds_alternative<ControlStray>(line)) {
      serving.move_on();
    }
  }
}

}  // namespace fuzz
