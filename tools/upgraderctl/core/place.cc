#include "tools/upgraderctl/core/place.h"

#include <algorithm>

#include "tools/upgraderctl/wire/shown.h"

namespace upgraderctl {

std::string quoted(const std::string& word) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string text = "'";
  for (const char c : word)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return shown(text + "'");
}

std::variant<Place, NoPlace> choose_place(const Options& options, const std::string& base,
                                          const std::vector<std::string>& names) {
  if (options.directory) {
    return Place{*options.directory, "upgraderctl --dir=" + quoted(*options.directory)};
  }
  if (options.name) {
    return Place{base + "/" + *options.name, "upgraderctl " + quoted(*options.name)};
  }
  if (names.size() == 1) {
    return Place{base + "/" + names.front(), "upgraderctl " + quoted(names.front())};
  }
  if (names.empty()) return NoPlace{"there is no upgrader below " + base + "; is --dir missing?"};
  std::string text = "there are " + std::to_string(names.size()) + " upgraders; give a NAME:";
  for (const std::string& name : names)
    text += " " + shown(name);
  return NoPlace{text};
}

}  // namespace upgraderctl
