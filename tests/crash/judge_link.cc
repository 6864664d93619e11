// Starts on directories as a power cut may have left them, as the upgrader does, and relinks there.
// Each line of standard input names a link and the executables that it may be made to name; each
// line of standard output says `ok`, or what went wrong.
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "upgrader/shell/program.h"
#include "upgrader/shell/relink.h"

using namespace upgrader;

namespace {

// What is wrong with a commit to that program; nothing if the state has no such program.
std::string relink(Link& link, const std::string& path, const std::string& to) {
  std::variant<Program, ProgramRefused> checked = check_program(to, to, {});
  const Program* const program = std::get_if<Program>(&checked);
  if (program == nullptr) return "";
  const BeforeSync nothing = [] {};
  if (const int error = link.prove(*program, nothing); error != 0) {
    return std::string("proof: ") + strerror(error);
  }
  if (const int error = link.commit(*program, nothing); error != 0) {
    return std::string("commit: ") + strerror(error);
  }
  std::error_code ignored;
  if (std::filesystem::canonical(path, ignored) != to) return "the link does not name " + to;
  return "";
}

std::string judge(const std::string& path, const std::vector<std::string>& programs) {
  std::variant<Link, LinkRefused> opened = Link::open(path);
  if (const auto* refused = std::get_if<LinkRefused>(&opened)) return refused->reason;
  const std::variant<Program, ProgramRefused> agent = check_agent(path, {});
  if (const auto* refused = std::get_if<ProgramRefused>(&agent)) return refused->reason;
  Link& link = std::get<Link>(opened);
  for (const std::string& program : programs) {
    const std::string wrong = relink(link, path, program);
    if (!wrong.empty()) return wrong;
  }
  const std::filesystem::path name(path);
  struct stat status {};
  const auto temporary = name.parent_path() / ("." + name.filename().string() + ".upgrader");
  if (lstat(temporary.c_str(), &status) == 0) return "the temporary is left";
  return "ok";
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string path;
    words >> path;
    std::vector<std::string> programs;
    for (std::string program; words >> program;)
      programs.push_back(program);
    std::cout << judge(path, programs) << std::endl;
  }
}
