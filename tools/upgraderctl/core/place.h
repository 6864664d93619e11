// Which control directory is meant.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "tools/upgraderctl/core/options.h"

namespace upgraderctl {

// The directories of the control directories of upgraders, each below its name: root's, and below
// the directory that this variable names, the caller's own.
inline constexpr char system_base[] = "/run/upgrader";
inline constexpr char runtime_variable[] = "XDG_RUNTIME_DIR";
inline constexpr char base_in_runtime[] = "/upgrader";

// Names the one directory to use instead of them.
inline constexpr char base_variable[] = "UPGRADERCTL_BASE";

// One of these directories, with the names of the directories in it.
struct Base {
  std::string path;
  std::vector<std::string> names = {};
};

struct Place {
  std::string path;
  std::string words;  // the words of a command line that lead here: "upgraderctl app"
};

// There is none, or more than one: what there is, for people.
struct NoPlace {
  std::string text;
};

// `bases` has at least one. A name that none of them has is looked for in the first.
[[nodiscard]] std::variant<Place, NoPlace> choose_place(const Options& options,
                                                        const std::vector<Base>& bases);

// "/run/upgrader and /run/user/1000/upgrader"
[[nodiscard]] std::string in_words(const std::vector<Base>& bases);

// A word as a shell takes it.
[[nodiscard]] std::string quoted(const std::string& word);

}  // namespace upgraderctl
