#include "tools/agent-conformance/effects.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tools/agent-conformance/script.h"

namespace conformance {

namespace {

// The most changes of files that a report lists. Nobody would read a longer list.
constexpr std::size_t notes_max = 20;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Removes the process id that `strace -f` writes in front of a system call, as in `4711 bind(3,
// ...) = 0`. Returns the rest of the line.
std::string_view call_of(std::string_view line) {
  const std::size_t start = line.find_first_not_of("0123456789 ");
  return start == std::string_view::npos ? std::string_view{} : line.substr(start);
}

// Returns true if the system call binds a socket to an address that other programs can know
// beforehand: a path, or a port other than 0. For port 0, the kernel chooses a port.
bool binds(std::string_view call) {
  if (!call.starts_with("bind(")) return false;
  if (has(call, "AF_UNIX")) return has(call, "sun_path=");
  const bool is_internet = has(call, "AF_INET");
  return is_internet && !has(call, "_port=htons(0)");
}

bool has_failed(std::string_view call) {
  const std::size_t result = call.rfind(") = ");
  return result != std::string_view::npos && call.substr(result + 4).starts_with('-');
}

// Returns the first string in double quotes in a line of strace, such as a path.
std::string_view path_of(std::string_view call) {
  const std::size_t begin = call.find('"');
  const std::size_t end = call.find('"', begin + 1);
  if (begin == std::string_view::npos || end == std::string_view::npos) return {};
  return call.substr(begin + 1, end - begin - 1);
}

// Returns true for paths below /dev and /proc, which are not files on disk.
bool is_harmless(std::string_view path) {
  return path.starts_with("/dev/") || path.starts_with("/proc/");
}

std::string change_in_words(std::string_view call) {
  const std::string path(path_of(call));
  if (path.empty() || is_harmless(path) || has_failed(call)) return {};
  if (call.starts_with("open")) {
    const bool writes = has(call, "O_WRONLY") || has(call, "O_RDWR") || has(call, "O_CREAT");
    return writes ? "it opened " + path + " for writing while it was held" : "";
  }
  if (call.starts_with("creat(")) return "it made " + path + " while it was held";
  if (call.starts_with("unlink")) return "it removed " + path + " while it was held";
  if (call.starts_with("rename")) return "it renamed " + path + " while it was held";
  if (call.starts_with("mkdir")) return "it made the directory " + path + " while it was held";
  return {};
}

}  // namespace

Effects effects_of(const std::vector<std::string>& trace) {
  Effects effects;
  for (const std::string& line : trace) {
    const std::string_view call = call_of(line);
    if (binds(call) || call.starts_with("listen(")) effects.faults.emplace_back(call);
    std::string note = change_in_words(call);
    const auto& notes = effects.notes;
    if (note.empty() || std::find(notes.begin(), notes.end(), note) != notes.end()) continue;
    if (notes.size() < notes_max) effects.notes.push_back(std::move(note));
  }
  return effects;
}

// ---- the check that a held agent, which is not activated yet, listens on no socket

namespace {

using Kind = Step::Kind;
using What = Step::What;

constexpr int slower_by_strace = 4;

Judgement judge_held_listeners(const Lives& lives, Time) {
  for (const ProcessFacts& process : lives[0].looks.back().processes) {
    if (process.listens.empty()) continue;
    return {.fault = Fault{.came = "process " + std::to_string(process.pid) + " (" + process.name +
                                   ") listens on " + process.listens.front()}};
  }
  return {.notes = {"there is no strace here: of what it does only listening was looked for; "
                    "files that it opens for writing were not seen"}};
}

Judgement judge_held_trace(const Lives& lives, Time) {
  Effects effects = effects_of(lives[0].trace);
  if (!effects.faults.empty()) {
    return {.fault = Fault{.came = "it called " + effects.faults.front()}};
  }
  return {.notes = std::move(effects.notes)};
}

}  // namespace

Script held_effects(Step start, const Terms& terms) {
  start.terms.traced = terms.has_strace;
  const Duration time = terms.has_strace ? terms.start_timeout * slower_by_strace : Duration{0};
  const Script held{start, await(0, What::hello, time), await(0, What::ready, time),
                    watch(terms.watch)};
  const Script end{hang_up(0), await(0, What::exit)};
  if (!terms.has_strace) return join({held, {look(0), examine(judge_held_listeners)}, end});
  return join({held, end, {of_kind(Kind::traced), examine(judge_held_trace)}});
}

}  // namespace conformance
