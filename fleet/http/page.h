// The page's files, compiled into the program.
#pragma once

#include <string_view>

namespace fleet {

struct PageFile {
  std::string_view name;  // in the path: `/page.css`; page.html has `/`
  std::string_view type;
  std::string_view text;
};

// Returns the file at this path, or null if there is none.
[[nodiscard]] const PageFile* page_file(std::string_view path);

}  // namespace fleet
