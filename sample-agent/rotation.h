// Finds the files of a rotated log by their names: NAME, and the files beside it that were called
// NAME before. NAME.1 is younger than NAME.2; NAME-20240102 is younger than NAME-20240101.
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

// Returns true if a file called `name` was called `base` before: then a dot or a dash, and a number
// or a date follow. Compressed files do not count, since their bytes differ from those that were
// read.
[[nodiscard]] bool is_rotated_name(std::string_view base, std::string_view name);

// Sorts the files, oldest first; the file called `base` is last. If both ways of naming occur,
// dates come first.
void sort_by_age(std::vector<RotatedFile>& files, std::string_view base);

// Returns all of these files, oldest first. Returns no value while a rotation is under way, when
// the answer would be inconsistent.
[[nodiscard]] std::vector<RotatedFile> rotated_files(const std::string& path);

}  // namespace sample_agent
