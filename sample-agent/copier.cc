// Copies lines of the input into records of the output. No line is lost or copied twice, because:
// * A save syncs the output before it writes the position file. So the output is never shorter than
//   the position says.
// * A save comes before the first record of each input file, also of a truncated one. So all
//   records after the saved position come from the file that the position names.
// * After a crash, each record after the position is compared with the next line of that file. A
//   record that is equal has been copied. The first one that differs, and all after it, are
//   removed, and their lines are copied again.

#include "sample-agent/copier.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "sample-agent/words.h"

namespace sample_agent {

// ---- writing and parsing a record of the output

void append_record(std::string& text, const Record& record) {
  text.append(std::to_string(record.number)).append(" ");
  text.append(record.version).append(" ");
  text.append(std::to_string(record.time_us)).append(" ");
  text.append(record.line).append("\n");
}

std::optional<Record> parse_record(std::string_view text) {
  const auto number = to_number<std::uint64_t>(cut_off(text, ' '));
  const std::string_view version = cut_off(text, ' ');
  const auto time_us = to_number<std::uint64_t>(cut_off(text, ' '));
  if (!number || version.empty() || !time_us) return std::nullopt;
  return Record{.number = *number, .version = version, .time_us = *time_us, .line = text};
}

// ---- the copier

namespace {

// The longest record: the longest line, preceded by the record's number, version and time.
constexpr std::size_t record_bytes_max = line_bytes_max + 1'024;

}  // namespace

Result<Output> Output::open(const std::string& path) {
  Result<File> file = File::open(path, O_WRONLY | O_APPEND | O_CREAT);
  if (!file) return Refusal{file.reason()};
  // The directory is synced even if the file exists: an earlier agent may have made the file, and
  // been killed before it synced the directory.
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  if (Outcome synced = sync_directory(directory.empty() ? "." : directory); !synced) {
    return Refusal{synced.reason()};
  }
  return Output(std::move(file.value()));
}

Outcome Output::flush() {
  Outcome written = file_.write(pending_);
  pending_.clear();
  return written;
}

Outcome Output::sync() {
  if (Outcome written = flush(); !written) return written;
  return file_.sync();
}

Copier::Copier(const CopierSettings& settings, Output output)
    : settings_(settings),
      position_file_(settings.state_directory, std::string(position_file_name)),
      follower_(settings.input, settings.rotate_wait_us),
      output_(std::move(output)) {}

Result<Copier> Copier::take_over(const CopierSettings& settings,
                                 const std::optional<std::string>& state, std::uint64_t now_us) {
  Result<Output> output = Output::open(settings.output);
  if (!output) return Refusal{output.reason()};
  Copier copier(settings, std::move(output.value()));
  if (Outcome found = copier.find_position(state); !found) return Refusal{found.reason()};
  if (Outcome recovered = copier.recover(now_us); !recovered) return Refusal{recovered.reason()};
  if (Outcome saved = copier.save(); !saved) return Refusal{saved.reason()};
  return copier;
}

Outcome Copier::find_position(const std::optional<std::string>& state) {
  const Result<std::uint64_t> size = output_.size();
  if (!size) return Refusal{size.reason()};

  // Sync the directory before the position file is read. A killed agent may have renamed the file
  // without a sync, and a power cut must not bring the older position back.
  if (Outcome synced = sync_directory(settings_.state_directory); !synced) return synced;
  const auto text = position_file_.read();
  if (!text) return Refusal{text.reason()};
  durable_text_ = text.value();
  if (!durable_text_) {
    saved_.output_size = size.value();
    return std::monostate{};
  }
  Result<PositionText> found = decode_position(*durable_text_, settings_.position_format);
  if (!found) return Refusal{found.reason()};
  saved_ = found.value().position;
  format_ = found.value().format;

  if (state) {
    const Result<PositionText> told = decode_position(*state, settings_.position_format);
    if (told && told.value().position.output_size == size.value()) {
      saved_ = told.value().position;
    } else {
      reports_.emplace_back(
          "the state that was handed over does not agree with the output; "
          "going by the position file");
    }
  }
  if (saved_.output_size <= size.value()) return std::monostate{};
  return Refusal{settings_.output + " has " + std::to_string(size.value()) +
                 " bytes, fewer than the " + std::to_string(saved_.output_size) +
                 " of the position"};
}

Outcome Copier::recover(std::uint64_t now_us) {
  next_ = saved_.next;
  bool following = saved_.input != FileId{};
  if (following) {
    const Result<bool> resumed = follower_.resume(saved_);
    if (!resumed) return Refusal{resumed.reason()};
    following = resumed.value();
  }
  const Result<std::uint64_t> end = match_records(following, now_us);
  if (!end) return Refusal{end.reason()};
  // Open the file that has the input's name now, so that the position names this file, even if it
  // is rotated before its first line is copied.
  if (const auto line = follower_.peek(now_us); !line) return Refusal{line.reason()};

  const Result<std::uint64_t> size = output_.size();
  if (!size) return Refusal{size.reason()};
  const std::uint64_t recovered = next_ - saved_.next;
  if (recovered > 0) {
    reports_.push_back("recovered " + std::to_string(recovered) +
                       " records that were written after the last position");
  }
  if (size.value() == end.value()) return std::monostate{};
  reports_.push_back("cut " + std::to_string(size.value() - end.value()) +
                     " bytes off the output: a record that is not whole, or not as the input says");
  return output_.cut(end.value());
}

// Compares the records after the saved position with the lines of the input. Without an input
// (`following` is false), checks only their form and their numbers. Returns the offset in the
// output at which the correct records end.
Result<std::uint64_t> Copier::match_records(bool following, std::uint64_t now_us) {
  Result<File> file = File::open(settings_.output, O_RDONLY);
  if (!file) return Refusal{file.reason()};
  Lines records(std::move(file.value()), saved_.output_size, record_bytes_max);
  while (true) {
    const auto text = records.peek();
    if (!text) return Refusal{text.reason()};
    if (!text.value()) return records.offset();
    const std::optional<Record> record = parse_record(*text.value());
    if (!record || record->number != next_) return records.offset();
    if (following) {
      const auto line = follower_.peek(now_us);
      if (!line) return Refusal{line.reason()};
      if (line.value() != record->line) return records.offset();
      follower_.take();
    }
    records.take();
    ++next_;
  }
}

Result<bool> Copier::copy(std::uint64_t now_us) {
  while (output_.pending_bytes() < turn_bytes) {
    Result<bool> copied = copy_line(now_us);
    if (!copied) return copied;
    if (copied.value()) continue;
    if (Outcome written = output_.flush(); !written) return Refusal{written.reason()};
    return false;
  }
  if (Outcome written = output_.flush(); !written) return Refusal{written.reason()};
  return true;
}

Result<bool> Copier::copy_line(std::uint64_t now_us) {
  const auto line = follower_.peek(now_us);
  if (!line) return Refusal{line.reason()};
  if (!line.value()) return false;
  if (follower_.files_begun() != files_begun_) {
    if (Outcome saved = save(); !saved) return Refusal{saved.reason()};
  }
  output_.add(
      {.number = next_, .version = settings_.version, .time_us = now_us, .line = *line.value()});
  follower_.take();
  ++next_;
  return true;
}

Outcome Copier::save() {
  if (Outcome written = output_.flush(); !written) return written;
  const Result<std::uint64_t> size = output_.size();
  if (!size) return Refusal{size.reason()};
  Position position = saved_;
  position.next = next_;
  position.output_size = size.value();
  follower_.note_place(position);
  files_begun_ = follower_.files_begun();
  const std::string text = encode_position(position, format_);
  // If the position file already has this text, nothing has to be written.
  if (text == durable_text_) return std::monostate{};

  if (Outcome synced = output_.sync(); !synced) return synced;
  if (Outcome written = position_file_.replace(text); !written) return written;
  durable_text_ = text;
  saved_ = position;
  return std::monostate{};
}

std::vector<std::string> Copier::take_reports() {
  std::ranges::move(follower_.take_reports(), std::back_inserter(reports_));
  return std::exchange(reports_, {});
}

}  // namespace sample_agent
