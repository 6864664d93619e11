#include "tests/together/simulation/print.h"

#include <array>

#include "agent-protocol/cpp/wire/codec.h"
#include "tests/support/bench.h"

namespace upgrader::simulation {
namespace {

using namespace agent_protocol;

// Calls `use` with the generation of the agent that the event is about, if there is one.
template <class AnyEvent, class Use>
void with_generation(AnyEvent& event, const Use& use) {
  std::visit(
      [&](auto& kind) {
        if constexpr (requires { kind.generation; }) use(kind.generation);
      },
      event);
}

constexpr std::array<const char*, std::variant_size_v<Event>> kinds{
    "start",        "start refused",   "says",         "says what is refused",
    "stray output", "closes output",   "closes input", "has its activate whole",
    "exits",        "outcome",         "deadline",     "told to stop",
    "told to quit", "told to upgrade", "signal",       "control request"};

std::string without_newline(std::string line) {
  while (!line.empty() && line.back() == '\n')
    line.pop_back();
  return line;
}

std::string detail(const Event& event) {
  if (const auto* received = std::get_if<MessageReceived>(&event)) {
    const auto line = encode(received->message);
    return (received->posthumous ? " at last " : " ") +
           (line ? without_newline(line.value()) : "what cannot be written");
  }
  if (const auto* exited = std::get_if<ProcessExited>(&event)) {
    return ": " + in_words(exited->ending);
  }
  if (const auto* stray = std::get_if<StrayReceived>(&event)) {
    return " " + stray->text.substr(0, 40);
  }
  if (const auto* outcome = std::get_if<Outcome>(&event)) {
    if (outcome->refused) return " refused: " + outcome->refused->reason;
    constexpr const char* sent[] = {"", ": waits", ": lost"};
    return sent[static_cast<std::size_t>(outcome->sent)];
  }
  return "";
}

}  // namespace

Generation generation_of(const Event& event) {
  Generation found = 0;
  with_generation(event, [&](const Generation& generation) { found = generation; });
  return found;
}

void set_generation(Event& event, Generation generation) {
  with_generation(event, [&](Generation& its) { its = generation; });
}

std::string print(const Event& event) {
  const Generation generation = generation_of(event);
  const std::string who = generation == 0 ? "" : std::to_string(generation) + " ";
  return who + kinds[event.index()] + detail(event);
}

std::vector<std::string> print(const Actions& actions) {
  std::vector<std::string> lines = test::summary(actions);
  for (const Action& action : actions) {
    if (const auto* line = std::get_if<Log>(&action)) lines.push_back("log: " + line->text);
  }
  return lines;
}

}  // namespace upgrader::simulation
