// A second decoder of lines, to compare the codec with. It was written from the protocol page
// alone, and shares no code with the codec: a recursive reader of JSON, and a table of messages. It
// is slow.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace fuzz {

enum class Sender { agent, upgrader };

enum class Judgement {
  stray,      // not an object with one text `type`, or nested too deeply
  unknown,    // this sender has no message of this `type`
  malformed,  // a known type with members that break a rule
  good
};

// The known members of a message by name, each as a text that is different for different values.
// Members of objects have names such as `failure.id`; an empty array counts as absent.
using Members = std::map<std::string, std::string>;

struct SecondOpinion {
  Judgement judgement = Judgement::stray;
  std::string type;   // the message's type; "" for stray output
  std::string why;    // the reason why the line is refused
  Members members{};  // the members of a good line
  bool lone = false;  // the type has a lone surrogate, which is left out

  // The id of an `upgrade` that is malformed, if the id itself is well formed: the answer to such a
  // request names the id.
  std::optional<std::string> id{};
};

// Judges a line, given without its newline.
SecondOpinion second_opinion(std::string_view line, Sender sender);

// Each returns a value as it is written in Members.
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
