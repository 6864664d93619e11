// The files of the web page, which are compiled into the program.
#pragma once

#include <string_view>

namespace fleet {

struct PageFile {
  std::string_view name;  // the path in the URL, such as `/page.css`; `/` for page.html
  std::string_view type;
  std::string_view text;
};

// Returns the file at this path, or null if there is none.
[[nodiscard]] const PageFile* page_file(std::string_view path);

}  // namespace fleet
