#include "tools/agentify/launch/run.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/errno_name.h"
#include "tools/agentify/launch/launch.h"
#include "tools/agentify/launch/place.h"

namespace agentify {
namespace {

constexpr int exit_good = 0;
constexpr int exit_refused = 1;
constexpr int exit_usage = 2;
constexpr int exit_not_executable = 126;
constexpr int exit_not_found = 127;

int print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0 ? exit_good : exit_refused;
}

int complain(const std::string& why, int status) {
  std::fprintf(stderr, "agentify: %s\n", why.c_str());
  return status;
}

// Without --print it does not return where it succeeds.
int start(const Launch& launch) {
  auto programs = find_programs();
  if (const auto* none = std::get_if<NoPlace>(&programs)) return complain(none->why, exit_refused);
  Places places = std::get<Places>(std::move(programs));
  if (needs_directory(launch)) {
    const auto directory = find_directory(launch.name, !launch.print);
    if (const auto* none = std::get_if<NoPlace>(&directory)) {
      return complain(none->why, exit_refused);
    }
    places.directory = std::get<std::string>(directory);
  }
  const std::vector<std::string> words = upgrader_command(launch, places);
  if (launch.print) return print(shell_line(words) + "\n");
  std::vector<char*> argv;
  for (const std::string& word : words)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  const int error = errno;
  return complain("cannot execute " + words[0] + ": " + in_words(upgrader::SystemError{error}),
                  error == ENOENT ? exit_not_found : exit_not_executable);
}

}  // namespace

int run_launch(const std::vector<std::string>& words) {
  LaunchLine line = parse_run(words);
  if (std::holds_alternative<HelpWanted>(line)) return print(run_help());
  if (std::holds_alternative<VersionWanted>(line)) return print(version_text());
  if (const auto* wrong = std::get_if<UsageError>(&line)) {
    return complain("run: " + wrong->reason, exit_usage);
  }
  Launch launch = std::get<Launch>(std::move(line));
  const std::string known = launch.releases ? name_of_releases(*launch.releases) : "";
  auto named = with_name(std::move(launch), known);
  if (const auto* wrong = std::get_if<UsageError>(&named)) {
    return complain("run: " + wrong->reason, exit_usage);
  }
  return start(std::get<Launch>(named));
}

}  // namespace agentify
