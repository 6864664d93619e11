#include "sample-agent/rotation.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "sample-agent/words.h"

namespace sample_agent {
namespace {

constexpr std::string_view digits = "0123456789";
// The most digits of a number that counts rotations, as in NAME.1. A longer number is a date or
// time.
constexpr std::size_t count_digits_max = 4;

// The most readings of the directory. A rotation takes only a moment, so two of so many readings,
// one after the other, will be equal.
constexpr int looks_max = 100;

// A key that orders files by age: smaller means older.
using AgeKey = std::tuple<int, std::string_view, std::int64_t>;

AgeKey age_key(std::string_view base, std::string_view name) {
  if (name == base) return {2, "", 0};
  const std::string_view suffix = name.substr(base.size() + 1);
  const bool counts = suffix.size() <= count_digits_max &&
                      suffix.find_first_not_of(digits) == std::string_view::npos;
  if (!counts) return {0, suffix, 0};
  return {1, "", -static_cast<std::int64_t>(to_number<std::uint32_t>(suffix).value_or(0))};
}

std::vector<RotatedFile> scan(const std::filesystem::path& path) {
  const std::string base = path.filename();
  const std::filesystem::path directory = path.has_parent_path() ? path.parent_path() : ".";
  std::vector<RotatedFile> files;
  std::error_code error;
  auto entry = std::filesystem::directory_iterator(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    struct stat status;
    if (name != base && !is_rotated_name(base, name)) continue;
    if (stat(entry->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    files.push_back({.name = name, .id = {.device = status.st_dev, .inode = status.st_ino}});
  }
  sort_by_age(files, base);
  return files;
}

}  // namespace

bool is_rotated_name(std::string_view base, std::string_view name) {
  if (!name.starts_with(base)) return false;
  name.remove_prefix(base.size());
  if (name.size() < 2 || (name[0] != '.' && name[0] != '-')) return false;
  name.remove_prefix(1);
  return digits.find(name[0]) != std::string_view::npos &&
         name.find_first_not_of("0123456789-_:T") == std::string_view::npos;
}

void sort_by_age(std::vector<RotatedFile>& files, std::string_view base) {
  std::ranges::sort(files, {},
                    [base](const RotatedFile& file) { return age_key(base, file.name); });
}

std::vector<RotatedFile> rotated_files(const std::string& path) {
  // If two readings of the directory are equal, no rotation took place between them.
  std::vector<RotatedFile> files = scan(path);
  for (int looks = 1; looks < looks_max; ++looks) {
    std::vector<RotatedFile> again = scan(path);
    if (again == files) return files;
    files = std::move(again);
  }
  return {};
}

}  // namespace sample_agent
