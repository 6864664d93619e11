// A second decoder of messages, with which the codec is compared. The second decoder was written
// from agent-protocol(7) alone, and shares no code with the codec. It has a recursive reader of
// JSON and a table of messages, and is slow.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace fuzz {

enum class Sender { agent, upgrader };

enum class Judgement {
  stray,      // not a JSON object, nested too deeply, or without exactly one string `type`
  unknown,    // a message of a type that this sender never sends
  malformed,  // a message of a known type, with members that break a rule
  good
};

// The known members of a message by name, each with its value as text. Different values have
// different texts. A member of an object has a name such as `failure.id`. An empty array counts as
// absent.
using Members = std::map<std::string, std::string>;

struct SecondOpinion {
  Judgement judgement = Judgement::stray;
  std::string type;   // the message's type; "" if the line is not a message
  std::string why;    // the reason why the line is refused
  Members members{};  // the members of a good line
  bool lone = false;  // the type has a lone surrogate, which `type` leaves out

  // The id of a malformed `upgrade`, if the id itself is well formed. The upgrader's answer to such
  // a request contains the id.
  std::optional<std::string> id{};
};

// Decodes a line of this sender, and judges whether the line is a good message. The line is given
// without its newline.
SecondOpinion second_opinion(std::string_view line, Sender sender);

// Each of these functions returns a member's value as the text that `Members` (above) has for it.
std::string shown(std::string_view text);
std::string shown(bool value);
template <class Texts>
std::string shown_all(const Texts& texts) {
  std::string all;
  for (const auto& text : texts)
    all += shown(std::string_view(text)) + ",";
  return all;
}

}  // namespace fuzz
