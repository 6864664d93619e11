// The files that a rotated log consists of, from their names: NAME, and beside it what NAME was
// called before. NAME.1 is younger than NAME.2; NAME-20240102 is younger than NAME-20240101.
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

// Whether a file called `name` has been called `base` before: a dot or a dash and a number or date
// follow. Compressed files are none: their bytes are not those that were read.
[[nodiscard]] bool is_rotated_name(std::string_view base, std::string_view name);

// Oldest first, the file called `base` last. If both ways of naming occur, dates come first.
void sort_by_age(std::vector<RotatedFile>& files, std::string_view base);

// All of them that are there, oldest first. No value while a rotation is under way, when no
// consistent answer can be had.
[[nodiscard]] std::vector<RotatedFile> rotated_files(const std::string& path);

}  // namespace sample_agent
