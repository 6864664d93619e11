// The page's files, as they stand beside this one.
#pragma once

#include <string_view>

namespace fleet {

struct PageFile {
  std::string_view name;  // of the path: `/page.css`; that of page.html is `/`
  std::string_view type;
  std::string_view text;
};

// Null: there is none at this path.
[[nodiscard]] const PageFile* page_file(std::string_view path);

}  // namespace fleet
