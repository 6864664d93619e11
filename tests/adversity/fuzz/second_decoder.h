// A second decoder of lines, written from the protocol page alone, to compare the codec with. It
// has no code in common with the codec: a recursive reader of JSON, a table of messages, and no
// thought of speed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace fuzz {

enum class Sender { agent, upgrader };

enum class Judgement {
  stray,      // no object with one string `type`, or too deep
  unknown,    // a type that this sender has not
  malformed,  // a known type
  good
};

// The known members that are there, by name, each as a text that only one value has. Members of
// objects have names such as `failure.id`; an empty array is as good as none.
using Members = std::map<std::string, std::string>;

struct SecondOpinion {
  Judgement judgement = Judgement::stray;
  std::string type;   // unless stray
  std::string why;    // unless good
  Members members{};  // if good
  bool lone = false;  // there is a lone surrogate in the type, which is not shown

  // Of a malformed `upgrade`, where it is well formed: such a request is answered all the same.
  std::optional<std::string> id{};
};

// The line is without its newline.
SecondOpinion second_opinion(std::string_view line, Sender sender);

// How values are written in Members.
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
