// Chooses the control directory that the command line names.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "tools/upgraderctl/core/options.h"

namespace upgraderctl {

// The directories below which control directories are found: root's, and the caller's own, which is
// below the directory that the variable XDG_RUNTIME_DIR names.
inline constexpr char system_base[] = "/run/upgrader";
inline constexpr char runtime_variable[] = "XDG_RUNTIME_DIR";
inline constexpr char base_in_runtime[] = "/upgrader";

// The environment variable that names one base directory. If it is set, root's and the caller's own
// base directories are not used.
inline constexpr char base_variable[] = "UPGRADERCTL_BASE";

// A base directory, with the names of the directories in it.
struct Base {
  std::string path;
  std::vector<std::string> names = {};
};

struct Place {
  std::string path;
  std::string words;  // the command line that selects this directory: "upgraderctl app"
};

// Why no directory was chosen: no directory has that name, or several have it. The text lists the
// names that exist.
struct NoPlace {
  std::string text;
};

// Returns the control directory that the options name. `bases` must not be empty. If no base has a
// directory of that name, returns the path that it would have in the first base.
[[nodiscard]] std::variant<Place, NoPlace> choose_place(const Options& options,
                                                        const std::vector<Base>& bases);

// Returns the bases as text, such as "/run/upgrader and /run/user/1000/upgrader".
[[nodiscard]] std::string in_words(const std::vector<Base>& bases);

// Returns a text in the form in which a shell reads it as one word.
[[nodiscard]] std::string quoted(const std::string& word);

}  // namespace upgraderctl
