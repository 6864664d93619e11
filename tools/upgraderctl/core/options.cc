#include "tools/upgraderctl/core/options.h"

#include <algorithm>
#include <cerrno>

#include "base/shown.h"

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

// Copies the options that begin at words[at] to `options`, up to the first argument that is not an
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
  const std::string& command = apart.command = words[at];
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

// ---- the control directory that a command line names

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
      names += " " + shown(name);
      if (options.name && name != *options.name) continue;
      found.push_back({base.path + "/" + name, "upgraderctl " + quoted(name)});
    }
  }
  if (found.size() == 1) return found.front();
  const bool may_be_absent = options.command == Command::wait || options.command == Command::on;
  if (options.name && found.empty() && !bases.front().names.empty() && !may_be_absent) {
    return NoPlace{"there is no upgrader " + shown(*options.name) + " below " + in_words(bases) +
                   "; there is:" + names};
  }
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

bool is_forbidden(int error_number) {
  return error_number == EACCES || error_number == EPERM;
}

int status_of_trouble(int error_number) {
  return is_forbidden(error_number) ? exit_refused : exit_absent;
}

}  // namespace upgraderctl
