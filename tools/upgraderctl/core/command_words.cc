#include "tools/upgraderctl/core/command_words.h"

#include <algorithm>

namespace upgraderctl {
namespace {

const CommandName* find_command(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(command_names), std::end(command_names),
                   [name](const CommandName& command) { return command.name == name; });
  return found == std::end(command_names) ? nullptr : found;
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-';
}

// Moves the options that begin at words[at] to `options`, up to the first argument that is not an
// option. Returns the index of that argument.
std::size_t take_options(const std::vector<std::string>& words, std::size_t at,
                         std::vector<std::string>& options) {
  for (; at < words.size() && is_option(words[at]) && words[at] != "--"; ++at) {
    options.push_back(words[at]);
    if (words[at] == "--dir" && at + 1 < words.size()) options.push_back(words[++at]);
  }
  return at;
}

}  // namespace

Words take_apart(const std::vector<std::string>& words) {
  Words apart;
  std::size_t at = take_options(words, 0, apart.options);
  if (at < words.size() && find_command(words[at]) == nullptr) {
    apart.name = words[at];
    at = take_options(words, at + 1, apart.options);
  }
  if (at == words.size()) return apart;
  const std::string& command = words[at];
  apart.options.push_back(command);
  ++at;
  if (command == "upgrade" || command == "rehearse") {
    at = take_options(words, at, apart.options);
    if (at < words.size() && words[at] == "--") ++at;
    apart.tail.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  } else {
    apart.options.insert(apart.options.end(), words.begin() + static_cast<std::ptrdiff_t>(at),
                         words.end());
  }
  return apart;
}

std::string_view name_of(Command command) {
  return command_names[static_cast<std::size_t>(command)].name;
}

}  // namespace upgraderctl
