#include "tests/kill/theatre.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace kill_points {

Theatre::Theatre() : owner_(getpid()) {
  const std::filesystem::path here = std::filesystem::canonical("/proc/self/exe").parent_path();
  const char* const upgrader = std::getenv("UPGRADER");
  cast_.init = here / "small_init";
  cast_.upgrader =
      std::filesystem::weakly_canonical(upgrader == nullptr ? here / "../../upgrader" : upgrader);
  cast_.stand_in = here / "stand_in";
  const char* const temporary = std::getenv("TMPDIR");
  cast_.agents = std::string(temporary == nullptr ? "/tmp" : temporary) + "/kill-cast-XXXXXX";
  if (mkdtemp(cast_.agents.data()) == nullptr) std::abort();
  cast_.agents = std::filesystem::canonical(cast_.agents);
  for (const char* version : {"v1", "v2", "v3"})
    std::filesystem::copy_file(here / "actor", cast_.agents + "/" + version);
}

Theatre::~Theatre() {
  std::error_code ignored;
  if (getpid() == owner_) std::filesystem::remove_all(cast_.agents, ignored);
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
