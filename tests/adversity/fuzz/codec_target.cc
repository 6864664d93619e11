// Gives the codec any bytes as a line, in both directions. The codec must accept what the second
// decoder accepts, and give a reason for each refusal. A message that it has read must be the same
// when it is written and read again.
#include <memory>
#include <type_traits>

#include "agent-protocol/cpp/wire/codec.h"
#include "tests/adversity/fuzz/members_of.h"
#include "tests/adversity/fuzz/second_decoder.h"
#include "tests/adversity/fuzz/target.h"
#include "tests/adversity/fuzz/unfold.h"

namespace fuzz {

namespace {

using namespace agent_protocol;

template <class Message>
inline constexpr bool is_agents = std::is_same_v<Message, AgentMessage>;

template <class Message>
constexpr Sender sender_of = is_agents<Message> ? Sender::agent : Sender::upgrader;

template <class Message>
Decoded<Message> decode(std::string_view line) {
  // Copies the line to memory of exactly its size, so that the sanitizer notices a read beyond its
  // end.
  const std::unique_ptr<char[]> bytes(new char[line.size()]);
  line.copy(bytes.get(), line.size());
  const std::string_view copy(bytes.get(), line.size());
  if (planted("over-read") && copy.ends_with('}') && copy.data()[copy.size()] == '}')
    return Stray{};
  if constexpr (is_agents<Message>) {
    Decoded<Message> decoded = decode_agent_message(copy);
    auto* malformed = std::get_if<Malformed>(&decoded);
    if (planted("silent-refusal") && malformed && malformed->type == "extend") {
      malformed->reason.clear();
    }
    return decoded;
  } else {
    return decode_upgrader_message(copy);
  }
}

std::string told(const Members& members) {
  std::string text;
  for (const auto& [name, value] : members)
    text += name + "=" + value + " ";
  return text;
}

std::string told(const SecondOpinion& opinion) {
  switch (opinion.judgement) {
    case Judgement::stray:
      return "stray output: " + opinion.why;
    case Judgement::unknown:
      return "the unknown type " + opinion.type;
    case Judgement::malformed:
      return "a malformed " + opinion.type + ": " + opinion.why;
    case Judgement::good:
      return opinion.type + " " + told(opinion.members);
  }
  return "";
}

// Converts the codec's result into a SecondOpinion, so that it can be compared with the second
// decoder's result.
template <class Message>
SecondOpinion in_words(const Decoded<Message>& decoded) {
  if (const auto* unknown = std::get_if<Unknown>(&decoded)) {
    return {Judgement::unknown, unknown->type, "no such type", {}};
  }
  if (const auto* malformed = std::get_if<Malformed>(&decoded)) {
    return {Judgement::malformed, malformed->type, malformed->reason, {}};
  }
  if (const auto* message = std::get_if<Message>(&decoded)) {
    return {Judgement::good, type_of(*message), "", members_of(*message)};
  }
  return {Judgement::stray, "", "no object", {}};
}

void compare(std::string_view line, const SecondOpinion& ours, const SecondOpinion& second) {
  const bool same = ours.judgement == second.judgement && ours.members == second.members &&
                    (ours.type == second.type || second.lone);
  ++comparisons;
  if (same) return;
  throw Finding{"the codec says: " + printable(told(ours)) + "\n  the second decoder: " +
                printable(told(second)) + "\n  of the line: " + printable(line)};
}

// Checks that a message that the codec has read can be written, and that reading the written line
// gives the same message.
template <class Message>
void check_round_trip(const Message& message) {
  const Result<std::string> line = encode(message);
  must(bool(line), "what was read cannot be written");
  std::string_view written = line.value();
  must(written.size() <= line_bytes_max && written.ends_with('\n'), "a line that is none");
  written.remove_suffix(1);
  must(written.find('\n') == std::string_view::npos, "one message, two lines");
  Decoded<Message> again = decode<Message>(written);
  if constexpr (is_agents<Message>) {
    auto* read = std::get_if<Message>(&again);
    auto* status = read ? std::get_if<Status>(read) : nullptr;
    if (planted("lossy") && status && status->text.ends_with('\n')) status->text.pop_back();
  }
  const auto* read = std::get_if<Message>(&again);
  must(read != nullptr && *read == message, "read, written and read is another message", written);
  must(encode(*read).value() == line.value(), "written twice, and not alike");
  compare(written, in_words<Message>(again), second_opinion(written, sender_of<Message>));
}

template <class Message>
void check_line(std::string_view line) {
  const Decoded<Message> decoded = decode<Message>(line);
  const SecondOpinion second = second_opinion(line, sender_of<Message>);
  compare(line, in_words<Message>(decoded), second);
  if (const auto* stray = std::get_if<Stray>(&decoded)) {
    must(stray->reason.empty() != line.starts_with('{'), "a stray line without its reason", line);
  }
  if (const auto* malformed = std::get_if<Malformed>(&decoded)) {
    must(!malformed->reason.empty(), "a malformed message without a reason");
    must(malformed->id == second.id, "the id of a malformed upgrade is another");
  }
  if (const auto* message = std::get_if<Message>(&decoded)) check_round_trip(*message);
}

}  // namespace

void take_codec(std::string_view input) {
  const std::string line = unfold(input, line_bytes_max - 1);
  check_line<AgentMessage>(line);
  check_line<UpgraderMessage>(line);
}

}  // namespace fuzz
