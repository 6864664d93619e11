// Runs the fuzz targets on the stored inputs (the corpus), and on every input that has ever broken
// a rule, without a fuzzer. Also injects bugs, called canaries, into the tests' own code, and
// checks that the corpus finds each bug.
//
// usage: replay_test [TARGET FILE...]    FILE: raw bytes, as the fuzzer leaves a finding
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include <unistd.h>

#include "tests/adversity/fuzz/target.h"
#include "tests/support/inputs.h"
#include "tests/support/source_directory.h"

namespace {

// The injected bugs that can be found without a sanitizer, each with the fuzz target that must find
// the bug.
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

// Describes the input that is being replayed. A signal handler prints it, for example if an
// assertion fails.
char under_way[512];

void tell_what_is_under_way(int signal) {
  (void)!write(STDERR_FILENO, under_way, std::strlen(under_way));
  (void)std::signal(signal, SIG_DFL);
  (void)raise(signal);
}

std::string bytes_of(const char* file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Runs the target on an input. Returns the broken rule in words, or nothing.
std::optional<std::string> replay(const fuzz::Target& target, const NamedInput& input) {
  std::snprintf(under_way, sizeof under_way, "it ended at: %s, input %s\n", target.name.data(),
                input.name.c_str());
  try {
    target.take(input.bytes);
  } catch (const fuzz::Finding& finding) {
    return input.name + ": " + finding.what;
  }
  return std::nullopt;
}

std::vector<NamedInput> inputs_of(const fuzz::Target& target) {
  return read_inputs(source_directory() + "/tests/adversity/fuzz/inputs/" +
                     std::string(target.name) + ".txt");
}

bool replays_well(const fuzz::Target& target, const std::vector<NamedInput>& inputs) {
  bool good = !inputs.empty();
  for (const NamedInput& input : inputs) {
    const std::optional<std::string> found = replay(target, input);
    if (found) std::printf("%s\n", found->c_str());
    good = good && !found;
  }
  std::printf("%s %s: %zu inputs\n", good ? "ok" : "not ok", target.name.data(), inputs.size());
  return good;
}

bool is_found(const Canary& canary) {
  fuzz::planted_fault = canary.fault;
  const fuzz::Target& target = *fuzz::find_target(canary.target);
  const bool found = std::ranges::any_of(inputs_of(target), [&](const NamedInput& input) {
    return replay(target, input).has_value();
  });
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
    std::vector<NamedInput> files;
    for (int at = 2; at < argc; ++at)
      files.push_back({argv[at], bytes_of(argv[at])});
    return target != nullptr && replays_well(*target, files) ? 0 : 1;
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
