// Chooses the control directory that a command line means.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "tools/upgraderctl/core/options.h"

namespace upgraderctl {

// The base directories of control directories: root's, and the caller's own, which is below the
// directory that this variable names.
inline constexpr char system_base[] = "/run/upgrader";
inline constexpr char runtime_variable[] = "XDG_RUNTIME_DIR";
inline constexpr char base_in_runtime[] = "/upgrader";

// The variable that names one base directory to use instead of both.
inline constexpr char base_variable[] = "UPGRADERCTL_BASE";

// A base directory, with the names of the directories in it.
struct Base {
  std::string path;
  std::vector<std::string> names = {};
};

struct Place {
  std::string path;
  std::string words;  // the words of a command line that select it: "upgraderctl app"
};

// The reason why there is no such directory, or more than one, with the names that exist, for
// people.
struct NoPlace {
  std::string text;
};

// Returns the directory that the options mean. `bases` must not be empty. A name that is in none of
// them is looked for in the first.
[[nodiscard]] std::variant<Place, NoPlace> choose_place(const Options& options,
                                                        const std::vector<Base>& bases);

// Returns a text such as "/run/upgrader and /run/user/1000/upgrader".
[[nodiscard]] std::string in_words(const std::vector<Base>& bases);

// Returns a word as a shell reads it.
[[nodiscard]] std::string quoted(const std::string& word);

}  // namespace upgraderctl
