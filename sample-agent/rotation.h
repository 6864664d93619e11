// Finds the files of a rotated log by their names: NAME itself, and the files beside it that were
// called NAME before. NAME.1 is younger than NAME.2; NAME-20240102 is younger than NAME-20240101.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sample-agent/file.h"

namespace sample_agent {

struct RotatedFile {
  std::string name;
  FileId id;
  bool operator==(const RotatedFile&) const = default;
};

// Returns true if `name` shows that the file was called `base` before: `name` is `base`, a dot or a
// dash, and a number or a date. Compressed files do not count, since their bytes are not those that
// were read from the original.
[[nodiscard]] bool is_rotated_name(std::string_view base, std::string_view name);

// Sorts the files, oldest first; the file called `base` is last. If some names have dates and some
// have numbers, those with dates come first.
void sort_by_age(std::vector<RotatedFile>& files, std::string_view base);

// Returns the files of the log at `path`, oldest first. If the directory changes at every reading,
// a rotation is under way and the order cannot be trusted, so an empty list is returned.
[[nodiscard]] std::vector<RotatedFile> rotated_files(const std::string& path);

}  // namespace sample_agent
