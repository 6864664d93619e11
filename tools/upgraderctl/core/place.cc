#include "tools/upgraderctl/core/place.h"

#include <algorithm>

#include "base/shown.h"

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

std::string in_words(const std::vector<Base>& bases) {
  std::string text;
  for (const Base& base : bases)
    text += (text.empty() ? "" : " and ") + base.path;
  return text;
}

std::variant<Place, NoPlace> choose_place(const Options& options, const std::vector<Base>& bases) {
  if (options.directory) {
    return Place{*options.directory, "upgraderctl --dir=" + quoted(*options.directory)};
  }
  std::vector<Place> found;
  std::string names;
  for (const Base& base : bases) {
    for (const std::string& name : base.names) {
      if (options.name && name != *options.name) continue;
      found.push_back({base.path + "/" + name, "upgraderctl " + quoted(name)});
      names += " " + shown(name);
    }
  }
  if (found.size() == 1) return found.front();
  if (options.name && found.empty()) {
    return Place{bases.front().path + "/" + *options.name, "upgraderctl " + quoted(*options.name)};
  }
  if (found.empty()) {
    return NoPlace{"there is no upgrader below " + in_words(bases) + "; is --dir missing?"};
  }
  const std::string count = "there are " + std::to_string(found.size()) + " upgraders";
  if (!options.name) return NoPlace{count + "; give a NAME:" + names};
  std::string text = count + " of this name; give one of:";
  for (const Place& place : found)
    text += " --dir=" + shown(place.path);
  return NoPlace{text};
}

}  // namespace upgraderctl
