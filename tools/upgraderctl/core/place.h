// Chooses the control directory that a command line names.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "tools/upgraderctl/core/options.h"

namespace upgraderctl {

// The two directories that contain control directories, called bases: root's, and the caller's own,
// which is in the directory that the variable XDG_RUNTIME_DIR names.
inline constexpr char system_base[] = "/run/upgrader";
inline constexpr char runtime_variable[] = "XDG_RUNTIME_DIR";
inline constexpr char base_in_runtime[] = "/upgrader";

// If this environment variable is set, it names the only base.
inline constexpr char base_variable[] = "UPGRADERCTL_BASE";

// A base, with the names of the control directories in it.
struct Base {
  std::string path;
  std::vector<std::string> names = {};
};

struct Place {
  std::string path;
  std::string words;  // a command line that selects this directory: "upgraderctl app"
};

// The reason why no directory was chosen: none has that name, or several have it. The text lists
// the existing names.
struct NoPlace {
  std::string text;
};

// Returns the control directory that the options name. If it exists in no base, returns the path
// that it would have in the first base. `bases` must not be empty.
[[nodiscard]] std::variant<Place, NoPlace> choose_place(const Options& options,
                                                        const std::vector<Base>& bases);

// Returns the bases as text, such as "/run/upgrader and /run/user/1000/upgrader".
[[nodiscard]] std::string in_words(const std::vector<Base>& bases);

// Returns a text as a shell reads it as one word, quoted if necessary.
[[nodiscard]] std::string quoted(const std::string& word);

}  // namespace upgraderctl
