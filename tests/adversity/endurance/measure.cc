#include "tests/adversity/endurance/measure.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/together/integration/process_table.h"

namespace endurance {
namespace {

// Returns the sum in kB of the lines that begin with `beginning` in the text of
// /proc/PID/smaps_rollup.
long rollup_kb(const std::string& text, const std::string& beginning) {
  long sum = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(beginning)) sum += std::atol(line.c_str() + line.find(':') + 1);
  }
  return sum;
}

// Returns the kind of an open descriptor: "pipe", "socket", a name such as
// "anon_inode:[eventpoll]", or "file" if the descriptor has a path.
std::string kind_of(const std::string& descriptor) {
  std::error_code gone;
  const std::string target = std::filesystem::read_symlink(descriptor, gone);
  if (target.starts_with("/")) return "file";
  return target.starts_with("anon_inode:") ? target : target.substr(0, target.find(':'));
}

std::size_t entries_of(const std::string& directory) {
  std::error_code gone;
  std::size_t count = 0;
  for (std::filesystem::directory_iterator entry(directory, gone), end; !gone && entry != end;
       entry.increment(gone)) {
    ++count;
  }
  return count;
}

}  // namespace

Measure measure(pid_t pid) {
  const std::string directory = "/proc/" + std::to_string(pid);
  Measure found;
  for (const int descriptor : integration::descriptors_of(pid))
    found.descriptors.push_back(kind_of(directory + "/fd/" + std::to_string(descriptor)));
  std::sort(found.descriptors.begin(), found.descriptors.end());
  for (const pid_t child : integration::children_of(pid)) {
    ++found.children;
    if (integration::state_of(child) == 'Z') ++found.zombies;
  }
  found.threads = entries_of(directory + "/task");
  const std::string rollup = integration::read_file(directory + "/smaps_rollup");
  found.rss_kb = rollup_kb(rollup, "Rss:");
  found.private_kb = rollup_kb(rollup, "Private_Clean:") + rollup_kb(rollup, "Private_Dirty:");
  return found;
}

std::string Measure::text() const {
  std::ostringstream text;
  text << descriptors.size() << " descriptors, " << children << " children, " << zombies
       << " zombies, " << threads << " threads, RSS " << rss_kb << " KiB, private " << private_kb
       << " KiB";
  return text.str();
}

std::string growth(const Measure& base, const Measure& end) {
  std::string found;
  const auto note = [&found](const std::string& what) {
    found += (found.empty() ? "" : ", ") + what;
  };
  if (end.descriptors != base.descriptors) {
    note(std::to_string(end.descriptors.size()) + " descriptors, not the " +
         std::to_string(base.descriptors.size()) + " of the base");
  }
  if (end.zombies != 0) note(std::to_string(end.zombies) + " zombies");
  if (end.children != base.children) note(std::to_string(end.children) + " children");
  if (end.threads != base.threads) note(std::to_string(end.threads) + " threads");
  if (end.rss_kb - base.rss_kb > drift_kb_max) {
    note("RSS grown by " + std::to_string(end.rss_kb - base.rss_kb) + " KiB");
  }
  if (end.private_kb - base.private_kb > drift_kb_max) {
    note("private memory grown by " + std::to_string(end.private_kb - base.private_kb) + " KiB");
  }
  return found;
}

}  // namespace endurance
