#include "sample-agent/failures.h"

#include <algorithm>

#include "sample-agent/words.h"

namespace sample_agent {
namespace {

std::string encode(const Release& release) {
  const FileIdentity& identity = release.identity;
  return to_string(release.version) + " " + std::to_string(identity.id.device) + " " +
         std::to_string(identity.id.inode) + " " + std::to_string(identity.modified_ns) + " " +
         std::to_string(identity.size) + "\n";
}

std::optional<Release> decode(std::string_view line) {
  const auto version = parse_version(cut_off(line, ' '));
  const auto device = to_number<std::uint64_t>(cut_off(line, ' '));
  const auto inode = to_number<std::uint64_t>(cut_off(line, ' '));
  const auto modified_ns = to_number<std::uint64_t>(cut_off(line, ' '));
  const auto size = to_number<std::uint64_t>(cut_off(line, ' '));
  if (!version || !device || !inode || !modified_ns || !size || !line.empty()) return std::nullopt;
  return Release{
      .version = *version,
      .identity = {
          .id = {.device = *device, .inode = *inode}, .modified_ns = *modified_ns, .size = *size}};
}

}  // namespace

Failures::Failures(const std::string& state_directory)
    : file_(state_directory, std::string(failures_file_name)) {}

void Failures::load() {
  failed_.clear();
  const auto text = file_.read();
  if (!text || !text.value()) return;
  std::string_view rest = *text.value();
  while (!rest.empty()) {
    if (const auto release = decode(cut_off(rest, '\n'))) failed_.push_back(*release);
  }
}

bool Failures::contains(const Release& release) const {
  return std::ranges::find(failed_, release) != failed_.end();
}

Outcome Failures::remember(const Release& release) {
  std::erase_if(failed_, [&](const Release& other) { return other.version == release.version; });
  failed_.push_back(release);
  if (failed_.size() > failures_max) failed_.erase(failed_.begin());
  std::string text;
  for (const Release& failed : failed_)
    text += encode(failed);
  return file_.replace(text);
}

}  // namespace sample_agent
