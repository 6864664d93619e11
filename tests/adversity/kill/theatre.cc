#include "tests/adversity/kill/theatre.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace kill_points {

// Copies all programs that the tests run, so that a build during the run changes nothing.
Theatre::Theatre() : owner_(getpid()) {
  const std::filesystem::path here = std::filesystem::canonical("/proc/self/exe").parent_path();
  const char* const upgrader = std::getenv("UPGRADER");
  const char* const temporary = std::getenv("TMPDIR");
  std::string directory = std::string(temporary == nullptr ? "/tmp" : temporary) + "/cast-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) std::abort();
  directory_ = std::filesystem::canonical(directory);
  const auto copy = [this](const std::filesystem::path& program, const std::string& name) {
    std::filesystem::copy_file(program, directory_ + "/" + name);
    return directory_ + "/" + name;
  };
  cast_.init = copy(here / "small_init", "small_init");
  cast_.stand_in = copy(here / "stand_in", "stand_in");
  cast_.upgrader = copy(upgrader == nullptr ? here / "../../../upgrader" : upgrader, "upgrader");
  cast_.agents = directory_ + "/agents";
  std::filesystem::create_directory(cast_.agents);
  for (const char* version : {"agents/v1", "agents/v2", "agents/v3"})
    copy(here / "actor", version);
}

Theatre::~Theatre() {
  std::error_code ignored;
  if (getpid() == owner_) std::filesystem::remove_all(directory_, ignored);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);)
    lines.push_back(line);
  return lines;
}

std::string with_commas(std::size_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % 3 == 0) text.push_back(',');
    text.push_back(digits[at]);
  }
  return text;
}

}  // namespace kill_points
