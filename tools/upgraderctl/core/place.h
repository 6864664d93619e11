// Which control directory is meant.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "tools/upgraderctl/core/options.h"

namespace upgraderctl {

// The directory of the control directories of upgraders, each below its name.
inline constexpr char default_base[] = "/run/upgrader";

// Names another base.
inline constexpr char base_variable[] = "UPGRADERCTL_BASE";

struct Place {
  std::string path;
  std::string words;  // the words of a command line that lead here: "upgraderctl app"
};

// There is none, or more than one: what there is, for people.
struct NoPlace {
  std::string text;
};

// `names` are those of the directories below the base.
[[nodiscard]] std::variant<Place, NoPlace> choose_place(const Options& options,
                                                        const std::string& base,
                                                        const std::vector<std::string>& names);

// A word as a shell takes it.
[[nodiscard]] std::string quoted(const std::string& word);

}  // namespace upgraderctl
