#include "sample-agent/follower.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "sample-agent/words.h"

namespace sample_agent {

// ---- the files of a rotated log

namespace {

constexpr std::string_view digits = "0123456789";
// In a file name such as NAME.1, a number with at most this many digits counts rotations. A longer
// number is a date or a time.
constexpr std::size_t count_digits_max = 4;

// The directory is read at most this many times, until two successive readings are equal. A
// rotation takes only a moment, so few readings are needed.
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
  // If two successive readings of the directory are equal, no rotation took place between them.
  std::vector<RotatedFile> files = scan(path);
  for (int looks = 1; looks < looks_max; ++looks) {
    std::vector<RotatedFile> again = scan(path);
    if (again == files) return files;
    files = std::move(again);
  }
  return {};
}

// ---- the follower

namespace {

// How long a rotated file is still watched after the agent has gone on to the next file: a writer
// that has not noticed the rotation may add lines to it.
constexpr std::uint64_t late_us_max = 60'000'000;

std::string beside(const std::string& path, const std::string& name) {
  return std::filesystem::path(path).replace_filename(name);
}

}  // namespace

Follower::Follower(std::string path, std::uint64_t rotate_wait_us)
    : path_(std::move(path)), rotate_wait_us_(rotate_wait_us) {}

// Opens the file that the position names, and continues at the position's offset. Recognizes the
// file by its inode and by the position's mark, if there is one. Ignores the device number, which
// may change at a reboot.
Result<bool> Follower::resume(const Position& position) {
  for (const RotatedFile& candidate : rotated_files(path_)) {
    if (candidate.id.inode != position.input.inode) continue;
    Result<File> file = File::open(beside(path_, candidate.name), O_RDONLY);
    if (!file || file.value().id() != candidate.id) continue;
    Lines lines(std::move(file.value()), position.offset);
    const bool continues =
        lines.read_back() && !lines.was_cut() && (!position.mark || lines.mark() == *position.mark);
    if (!continues) continue;
    begin(std::move(lines));
    return true;
  }
  reports_.push_back("the input that was read last (inode " + std::to_string(position.input.inode) +
                     ", up to byte " + std::to_string(position.offset) +
                     ") is not there any more; lines after that may be missing; going on with " +
                     path_);
  return false;
}

Result<std::optional<std::string_view>> Follower::peek(std::uint64_t now_us) {
  const std::optional<std::string_view> nothing;
  wait_us_.reset();
  while (true) {
    if (!lines_) {
      const Result<bool> opened = open_present();
      if (!opened) return Refusal{opened.reason()};
      if (!opened.value()) return nothing;
    }
    Result<std::optional<std::string_view>> line = lines_->peek();
    if (!line || line.value()) return line;
    if (lines_->was_cut()) {
      if (const auto rest = lines_->peek_rest()) return rest;
      begin_again();
      continue;
    }

    if (Outcome looked = look_at_left_file(now_us); !looked) return Refusal{looked.reason()};
    Result<std::optional<File>> next = successor();
    if (!next) return Refusal{next.reason()};
    if (!next.value()) return nothing;
    const Result<bool> quiet = is_quiet(now_us);
    if (!quiet) return Refusal{quiet.reason()};
    if (!quiet.value()) return nothing;
    // Read the current file once more: a writer may have added lines since the last read.
    line = lines_->peek();
    if (!line || line.value()) return line;
    if (lines_->was_cut()) continue;
    if (const auto rest = lines_->peek_rest()) return rest;
    leave_for(std::move(*next.value()), now_us);
  }
}

void Follower::take() {
  lines_->take();
}

std::optional<FileId> Follower::file() const {
  return lines_ ? std::optional(lines_->file().id()) : std::nullopt;
}

void Follower::note_place(Position& position) const {
  if (!lines_) return;
  position.input = lines_->file().id();
  position.offset = lines_->offset();
  position.mark = lines_->mark();
}

std::vector<std::string> Follower::take_reports() {
  return std::exchange(reports_, {});
}

// Opens the file that has the input's name. Returns false if there is no file with that name. This
// happens during a rotation, when the old file has been renamed and the new file has not been made
// yet.
Result<bool> Follower::open_present() {
  Result<std::optional<File>> file = File::open_if_there(path_, O_RDONLY);
  if (!file) return Refusal{file.reason()};
  if (file.value()) begin(Lines(std::move(*file.value()), 0));
  return lines_.has_value();
}

void Follower::begin(Lines lines) {
  lines_.emplace(std::move(lines));
  ++files_begun_;
}

void Follower::begin_again() {
  reports_.push_back("the input was cut, or written anew: what stands before its byte " +
                     std::to_string(lines_->offset()) +
                     " is not what was read; lines may be missing; going on from its beginning");
  lines_->start_again();
  ++files_begun_;
}

void Follower::leave_for(File next, std::uint64_t now_us) {
  if (was_removed_) {
    reports_.push_back(
        "the input that was followed has been removed; lines may be missing between it and " +
        path_);
  }
  const std::uint64_t size = lines_->offset();
  left_.emplace(LeftFile{std::move(*lines_).release_file(), size, now_us + late_us_max});
  begin(Lines(std::move(next), 0));
}

// Reports bytes that a writer has added to a rotated file after this agent had gone on to the next
// file. These bytes are not copied.
Outcome Follower::look_at_left_file(std::uint64_t now_us) {
  if (!left_) return std::monostate{};
  const Result<std::uint64_t> size = left_->file.size();
  if (!size) return Refusal{size.reason()};
  if (size.value() > left_->size) {
    reports_.push_back(std::to_string(size.value() - left_->size) + " bytes were written to " +
                       "the input that was rotated (inode " +
                       std::to_string(left_->file.id().inode) +
                       ") after it had been quiet for --rotate-wait; they are not copied");
    left_->size = size.value();
  }
  if (now_us >= left_->until_us) left_.reset();
  return std::monostate{};
}

// Returns true if nobody has written to the followed file for `rotate_wait_us`. The time is counted
// from the file's last write, so that a new agent need not wait from the beginning. If that write
// lies in the future (another machine's clock, or a clock that was set back), the time is counted
// from when this agent first saw the file unchanged.
Result<bool> Follower::is_quiet(std::uint64_t now_us) {
  const Result<FileAge> age = lines_->file().age();
  if (!age) return Refusal{age.reason()};
  if (age.value() != age_) age_since_us_ = now_us;
  age_ = age.value();
  age_since_us_ = std::min(age_since_us_, now_us);
  const std::uint64_t quiet_at_us = std::min(age_.modified_us, age_since_us_) + rotate_wait_us_;
  if (now_us >= quiet_at_us) return true;
  wait_us_ = quiet_at_us - now_us;
  return false;
}

// Returns the next younger file of the log, or nothing if the followed file is the newest.
Result<std::optional<File>> Follower::successor() {
  const std::optional<RotatedFile> next = find_successor();
  if (!next) return std::optional<File>{};
  Result<std::optional<File>> file = File::open_if_there(beside(path_, next->name), O_RDONLY);
  if (!file) return Refusal{file.reason()};
  const bool renamed_meanwhile = !file.value() || file.value()->id() != next->id;
  if (renamed_meanwhile) return std::optional<File>{};
  return file;
}

std::optional<RotatedFile> Follower::find_successor() {
  struct stat status;
  if (stat(path_.c_str(), &status) != 0 || status.st_size == 0) return std::nullopt;
  const RotatedFile present{.name = std::filesystem::path(path_).filename(),
                            .id = {.device = status.st_dev, .inode = status.st_ino}};
  if (present.id == lines_->file().id()) return std::nullopt;
  const std::vector<RotatedFile> files = rotated_files(path_);
  if (files.empty() || files.back() != present) return std::nullopt;
  const auto mine = std::ranges::find(files, lines_->file().id(), &RotatedFile::id);
  was_removed_ = mine == files.end();
  return was_removed_ ? present : *std::next(mine);
}

}  // namespace sample_agent
