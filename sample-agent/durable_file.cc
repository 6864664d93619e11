#include "sample-agent/durable_file.h"

#include <array>
#include <cstdio>
#include <utility>

namespace sample_agent {
namespace {

// The largest file that is read. The files that this program writes are far smaller.
constexpr std::size_t bytes_max = 1'048'576;

}  // namespace

DurableFile::DurableFile(std::string directory, const std::string& name)
    : directory_(std::move(directory)), path_(directory_ + "/" + name) {}

Result<std::optional<std::string>> DurableFile::read() const {
  const Result<std::optional<File>> file = File::open_if_there(path_, O_RDONLY);
  if (!file) return Refusal{file.reason()};
  if (!file.value()) return std::optional<std::string>{};
  std::string text;
  while (text.size() < bytes_max) {
    std::array<char, 4'096> bytes;
    const Result<std::size_t> count = file.value()->read_at(text.size(), bytes);
    if (!count) return Refusal{count.reason()};
    if (count.value() == 0) return std::optional(std::move(text));
    text.append(bytes.data(), count.value());
  }
  return Refusal{path_ + " is too long to be ours"};
}

Outcome DurableFile::replace(std::string_view text) const {
  const std::string temporary = path_ + ".tmp";
  const Result<File> file = File::open(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file) return Refusal{file.reason()};
  if (Outcome written = file.value().write(text); !written) return written;
  if (Outcome synced = file.value().sync(); !synced) return synced;
  if (rename(temporary.c_str(), path_.c_str()) != 0) return refusal_from_errno("replace", path_);
  return sync_directory(directory_);
}

}  // namespace sample_agent
