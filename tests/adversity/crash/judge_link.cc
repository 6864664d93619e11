// This program judges the upgrader's links after a power cut. Each line of standard input names
// links in a state in which a power cut may have left them:
//
//     [previous=PREVIOUS] LINK EXECUTABLE ...
//
// LINK is the path of AGENT's link (the link that the upgrader's argument AGENT names). PREVIOUS is
// the path of the link of --previous. For each EXECUTABLE in the order of the line, this program
// lets the upgrader's code commit an upgrade to the executable. The commit must succeed, and
// afterwards LINK must name the executable. An EXECUTABLE that is not a program is skipped. For
// each line, this program writes `ok` or the error to standard output.
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/program.h"
#include "upgrader/shell/attempts_file.h"
#include "upgrader/shell/relink.h"

using namespace upgrader;

namespace {

constexpr int attempts = 3;

bool is_there(const std::filesystem::path& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0;
}

// Returns the temporary name under which the upgrader makes a new link before it renames the link
// to `path`.
std::filesystem::path temporary_of(const std::filesystem::path& path) {
  return path.parent_path() / ("." + path.filename().string() + ".upgrader");
}

// Counts a start of the executable in the file of --attempts, as the upgrader does. This must
// succeed even if a power cut has damaged the file. Returns the error in words, or "".
std::string count_start(const std::string& previous, const std::string& executable) {
  AttemptsFile file;
  if (file.open(previous) != 0) return "the file of --attempts has no directory";
  const NextAttempt next = next_attempt(file.read(), executable, attempts, true);
  if (next.attempts_exhausted) return "counted as exhausted: " + *next.attempts_exhausted;
  if (const int error = file.write(next.attempts); error != 0) {
    return std::string("counting the start: ") + strerror(error);
  }
  return file.read() == next.attempts ? "" : "what was counted is not what is read";
}

// Lets the upgrader's code commit the program `to`, and checks that the link at `path` then names
// this program. Returns the error in words, or "". If `to` is not a program, does nothing and
// returns "".
std::string relink(Link& link, const std::string& path, const std::string& to) {
  agent_protocol::Result<Program> checked = check_program(to, to, {});
  const Program* const program = checked ? &checked.value() : nullptr;
  if (program == nullptr) return "";
  const BeforeSync nothing = [] {};
  if (const int error = link.prove_previous(); error != 0) {
    return std::string("proof of --previous: ") + strerror(error);
  }
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

// Checks the link of --previous after all commits. AGENT's link has named each program, one after
// the other, so the link of --previous must now name the second-to-last program.
std::string judge_previous(const std::string& previous, const std::vector<std::string>& programs) {
  std::error_code ignored;
  const std::string& before = programs[programs.size() - 2];
  if (std::filesystem::canonical(previous, ignored) != before) {
    return "the link of --previous does not name " + before;
  }
  return is_there(temporary_of(previous)) ? "the temporary of --previous is left" : "ok";
}

std::string judge(const std::string& path, const std::string& previous,
                  const std::vector<std::string>& programs) {
  agent_protocol::Result<Link> opened =
      Link::open(path, previous.empty() ? std::nullopt : std::optional(previous));
  if (!opened) return opened.reason();
  const agent_protocol::Result<Program> agent = check_agent(path, {});
  if (!agent) return agent.reason();
  Link& link = opened.value();
  if (!previous.empty()) {
    const std::string wrong = count_start(previous, agent.value().path);
    if (!wrong.empty()) return wrong;
  }
  for (const std::string& program : programs) {
    const std::string wrong = relink(link, path, program);
    if (!wrong.empty()) return wrong;
  }
  if (is_there(temporary_of(path))) return "the temporary is left";
  return previous.empty() ? "ok" : judge_previous(previous, programs);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string path;
    std::string previous;
    words >> path;
    if (path.starts_with("previous=")) {
      previous = path.substr(path.find('=') + 1);
      words >> path;
    }
    std::vector<std::string> programs;
    for (std::string program; words >> program;)
      programs.push_back(program);
    std::cout << judge(path, previous, programs) << std::endl;
  }
}
