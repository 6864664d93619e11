#include "sample-agent/follower.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

namespace sample_agent {
namespace {

// Enough to tell two logs apart, and a moment's work at each save.
constexpr std::uint64_t marked_bytes = 256;

// The fingerprint (FNV-1a) of the bytes before the offset.
Result<std::uint64_t> mark_at(const File& file, std::uint64_t offset) {
  std::array<char, marked_bytes> bytes;
  const std::uint64_t begin = offset - std::min(offset, marked_bytes);
  const auto wanted = std::span(bytes).first(static_cast<std::size_t>(offset - begin));
  const Result<std::size_t> count = file.read_at(begin, wanted);
  if (!count) return Refusal{count.reason()};
  std::uint64_t mark = 14'695'981'039'346'656'037U;
  for (const char byte : std::span(bytes).first(count.value())) {
    mark = (mark ^ static_cast<unsigned char>(byte)) * 1'099'511'628'211U;
  }
  return mark;
}

// Whether what was read up to the position still stands in this file.
bool continues(const File& file, const Position& position) {
  const Result<std::uint64_t> size = file.size();
  if (file.id() != position.input || !size || size.value() < position.offset) return false;
  if (!position.mark) return true;
  const Result<std::uint64_t> mark = mark_at(file, position.offset);
  return mark && mark.value() == *position.mark;
}

std::string beside(const std::string& path, const std::string& name) {
  return std::filesystem::path(path).replace_filename(name);
}

}  // namespace

Follower::Follower(std::string path) : path_(std::move(path)) {}

Result<bool> Follower::resume(const Position& position) {
  for (const RotatedFile& candidate : rotated_files(path_)) {
    if (candidate.id != position.input) continue;
    Result<File> file = File::open(beside(path_, candidate.name), O_RDONLY);
    if (!file || !continues(file.value(), position)) continue;
    lines_.emplace(std::move(file.value()), position.offset);
    return true;
  }
  report_ = "the input that was read last (inode " + std::to_string(position.input.inode) +
            ", up to byte " + std::to_string(position.offset) +
            ") is not there any more; lines after that may be missing; going on with " + path_;
  return false;
}

Result<std::optional<std::string_view>> Follower::peek() {
  while (true) {
    if (!lines_) {
      const Result<bool> opened = open_present();
      if (!opened) return Refusal{opened.reason()};
      if (!opened.value()) return std::optional<std::string_view>{};
    }
    Result<std::optional<std::string_view>> line = lines_->peek();
    if (!line || line.value()) return line;

    Result<std::optional<Lines>> next = successor();
    if (!next) return Refusal{next.reason()};
    if (!next.value()) return line;
    // The last lines may have been written between the look at this file and that for the next.
    line = lines_->peek();
    if (!line || line.value()) return line;
    if (const auto rest = lines_->peek_rest()) return rest;
    lines_ = std::move(next.value());
  }
}

void Follower::take() {
  lines_->take();
}

std::optional<FileId> Follower::file() const {
  return lines_ ? std::optional(lines_->file().id()) : std::nullopt;
}

Outcome Follower::note_place(Position& position) const {
  if (!lines_) return std::monostate{};
  const Result<std::uint64_t> mark = mark_at(lines_->file(), lines_->offset());
  if (!mark) return Refusal{mark.reason()};
  position.input = lines_->file().id();
  position.offset = lines_->offset();
  position.mark = mark.value();
  return std::monostate{};
}

std::optional<std::string> Follower::take_report() {
  return std::exchange(report_, std::nullopt);
}

// False while there is none: amid a rotation, the new one has not been made yet.
Result<bool> Follower::open_present() {
  Result<std::optional<File>> file = File::open_if_there(path_, O_RDONLY);
  if (!file) return Refusal{file.reason()};
  if (file.value()) lines_.emplace(std::move(*file.value()), 0);
  return lines_.has_value();
}

// The file to go on with, once this one has been read to its end; nothing if it is the present one.
Result<std::optional<Lines>> Follower::successor() {
  const std::optional<RotatedFile> next = find_successor();
  if (!next) return std::optional<Lines>{};
  Result<std::optional<File>> file = File::open_if_there(beside(path_, next->name), O_RDONLY);
  if (!file) return Refusal{file.reason()};
  const bool renamed_meanwhile = !file.value() || file.value()->id() != next->id;
  if (renamed_meanwhile) return std::optional<Lines>{};
  return std::optional(Lines(std::move(*file.value()), 0));
}

std::optional<RotatedFile> Follower::find_successor() {
  struct stat status;
  if (stat(path_.c_str(), &status) != 0 || status.st_size == 0) return std::nullopt;
  const RotatedFile present{.name = std::filesystem::path(path_).filename(),
                            .id = {.device = status.st_dev, .inode = status.st_ino}};
  if (present.id == lines_->file().id()) {
    if (static_cast<std::uint64_t>(status.st_size) >= lines_->offset()) return std::nullopt;
    report_ = "the input was cut to " + std::to_string(status.st_size) +
              " bytes; lines may be missing; going on from its beginning";
    return present;
  }
  const std::vector<RotatedFile> files = rotated_files(path_);
  if (files.empty() || files.back() != present) return std::nullopt;
  const auto mine = std::ranges::find(files, lines_->file().id(), &RotatedFile::id);
  if (mine != files.end()) return *std::next(mine);
  report_ =
      "the input that was followed has been removed; lines may be missing between it and " + path_;
  return present;
}

}  // namespace sample_agent
