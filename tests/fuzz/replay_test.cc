// Replays the corpus, and every input that has ever been a finding, without a fuzzer. As a canary
// it plants faults in the harness, and sees that the corpus finds each of them.
//
// usage: replay_test [TARGET FILE...]
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include <unistd.h>

#include "tests/fuzz/target.h"

namespace {

namespace fs = std::filesystem;

// Without those that only a sanitizer sees.
struct Canary {
  std::string_view fault;
  std::string_view target;
};
constexpr Canary canaries[] = {
    {"leading-zero", "codec"},
    {"duplicate", "codec"},
    {"silent-refusal", "codec"},
    {"lossy", "codec"},
    {"longer-id", "codec"},
    {"lost-byte", "lines"},
    {"line-limit", "lines"},
    {"early-kill", "core"},
    {"no-answer", "core"},
    {"early-activation", "core"},
    {"carries-on", "session"},
    {"longer-day", "words"},
    {"control-duplicate", "control"},
    {"premature-activation", "session"},
};

// What is replayed now, for an end that is no finding: an assertion, a signal.
char under_way[512];

void tell_what_is_under_way(int signal) {
  (void)!write(STDERR_FILENO, under_way, std::strlen(under_way));
  (void)std::signal(signal, SIG_DFL);
  (void)raise(signal);
}

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// What was found, if anything was.
std::optional<std::string> replay(const fuzz::Target& target, const fs::path& file) {
  std::snprintf(under_way, sizeof under_way, "it ended at: replay_test %s %s\n", target.name.data(),
                file.c_str());
  try {
    target.take(bytes_of(file));
  } catch (const fuzz::Finding& finding) {
    return file.string() + ": " + finding.what;
  }
  return std::nullopt;
}

std::vector<fs::path> inputs_of(const fuzz::Target& target) {
  std::vector<fs::path> files;
  for (const char* kept : {"corpus", "seeds"}) {
    const fs::path directory = fs::path(SOURCE_DIRECTORY) / "tests/fuzz" / kept / target.name;
    if (!fs::exists(directory)) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory))
      files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

bool replays_well(const fuzz::Target& target, const std::vector<fs::path>& files) {
  bool good = !files.empty();
  for (const fs::path& file : files) {
    const std::optional<std::string> found = replay(target, file);
    if (found) std::printf("%s\n", found->c_str());
    good = good && !found;
  }
  std::printf("%s %s: %zu inputs\n", good ? "ok" : "not ok", target.name.data(), files.size());
  return good;
}

bool is_found(const Canary& canary) {
  fuzz::planted_fault = canary.fault;
  const fuzz::Target& target = *fuzz::find_target(canary.target);
  const bool found = std::ranges::any_of(
      inputs_of(target), [&](const fs::path& file) { return replay(target, file).has_value(); });
  fuzz::planted_fault.clear();
  std::printf("%s %s, canary %s\n", found ? "ok" : "not ok", canary.target.data(),
              canary.fault.data());
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  (void)std::signal(SIGABRT, tell_what_is_under_way);
  (void)std::signal(SIGSEGV, tell_what_is_under_way);
  if (argc > 2) {
    const fuzz::Target* target = fuzz::find_target(argv[1]);
    return target != nullptr && replays_well(*target, {argv + 2, argv + argc}) ? 0 : 1;
  }
  int passed = 0;
  int failed = 0;
  for (const fuzz::Target& target : fuzz::targets())
    ++(replays_well(target, inputs_of(target)) ? passed : failed);
  for (const Canary& canary : canaries)
    ++(is_found(canary) ? passed : failed);
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
