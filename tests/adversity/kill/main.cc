// `make kill` sends signals at the steps of upgrades, and checks the rules that must hold
// afterwards.
//
// usage: kill_points      ONLY=NAME-OR-PATTERN, LONG=1, LIST=1, JOBS=N
//
// A kill point is a step of a story (an upgrade) at which a process gets a signal. Each story is
// first played twice to its end, which gives the names of its kill points. Then it is played once
// for each point that is tried, with the signal. LONG=1 tries all points; otherwise only some are
// tried. LIST=1 only prints the names of the points.
//
// At its end, the program prints the lines for the table of results. It exits with 0 if all rules
// hold and every canary (an injected bug) was found.

#include <fnmatch.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/adversity/kill/point.h"
#include "tests/adversity/kill/scene.h"
#include "tests/support/figures.h"
#include "tests/together/integration/process_table.h"

namespace kill_points {
namespace {

using upgrader::test::with_commas;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);)
    lines.push_back(line);
  return lines;
}

// The result of one task. Tasks are done by several worker processes at the same time.
struct Finding {
  std::size_t index = 0;  // the task's number, from 0
  std::string text;       // the text that the task has returned, in which it reports its result
};

constexpr std::size_t packet_bytes_max = 150'000;

// The time limit for a worker's task, in seconds. A worker that takes longer is killed.
constexpr unsigned task_seconds_max = 120;

struct Worker {
  pid_t pid = 0;
  int fd = -1;
  std::size_t next = 0;
};

// Does every `step`-th task, beginning with the task `first`, and sends the packet `INDEX TEXT` for
// each task. If a worker dies in a task, a new worker does the remaining tasks of the dead one.
[[noreturn]] void toil(int fd, std::size_t first, std::size_t count, std::size_t step,
                       const std::function<std::string(std::size_t)>& task) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (std::size_t index = first; index < count; index += step) {
    alarm(task_seconds_max);
    std::string packet = std::to_string(index) + " " + task(index);
    packet.resize(std::min(packet.size(), packet_bytes_max));
    if (send(fd, packet.data(), packet.size(), MSG_NOSIGNAL) < 0) std::exit(1);
  }
  // Exits without running destructors, because the objects belong to the parent process.
  _exit(0);
}

// Kills the processes that a dead worker had started. They are now children of this process, as the
// workers are.
void end_orphans(const std::vector<Worker>& crew) {
  for (const pid_t child : integration::children_of(getpid())) {
    const bool worker = std::any_of(crew.begin(), crew.end(),
                                    [child](const Worker& one) { return one.pid == child; });
    if (worker) continue;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

// Does the tasks 0 … count-1 in `workers` processes at a time. Calls `found` in this process with
// each result as it arrives. If a worker dies, the result of its task has no text.
void work(std::size_t count, std::size_t workers,
          const std::function<std::string(std::size_t)>& task,
          const std::function<void(const Finding&)>& found) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::vector<Worker> crew;
  const auto start = [&](Worker& worker) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    worker.fd = ends[0];
    worker.pid = fork();
    if (worker.pid == 0) {
      close(ends[0]);
      toil(ends[1], worker.next, count, workers, task);
    }
    close(ends[1]);
  };
  for (std::size_t first = 0; first < workers && first < count; ++first) {
    crew.push_back({.next = first});
    start(crew.back());
  }
  static char packet[packet_bytes_max + 100];
  for (std::size_t left = crew.size(); left > 0;) {
    std::vector<pollfd> polled;
    for (const Worker& worker : crew)
      polled.push_back({worker.fd, POLLIN, 0});
    poll(polled.data(), polled.size(), -1);
    for (std::size_t index = 0; index < crew.size(); ++index) {
      Worker& worker = crew[index];
      if (polled[index].revents == 0) continue;
      const ssize_t size = recv(worker.fd, packet, sizeof packet, 0);
      if (size > 0) {
        const std::string text(packet, static_cast<std::size_t>(size));
        found({std::strtoul(text.c_str(), nullptr, 10), text.substr(text.find(' ') + 1)});
        worker.next += workers;
        continue;
      }
      close(worker.fd);
      worker.fd = -1;
      waitpid(worker.pid, nullptr, 0);
      if (worker.next >= count) {
        --left;
        continue;
      }
      end_orphans(crew);
      found({worker.next, ""});
      worker.next += workers;
      start(worker);
    }
  }
}

}  // namespace

}  // namespace kill_points

namespace {

using namespace kill_points;

constexpr std::size_t points_wanted = 600;

// A short run tries all kill points of the story `good` (an upgrade that succeeds) in which the
// upgrader runs first. Of all other kill points, it tries only every fifth one.
constexpr std::size_t short_stride = 5;

std::string setting_of(const char* name) {
  const char* set = std::getenv(name);
  return set == nullptr ? "" : set;
}

struct Tally {
  // Maps each way in which an upgrade can end to the number of kill points (signals at one step)
  // after which the upgrade has ended in this way.
  std::map<std::string, std::size_t> ends;
  std::size_t played = 0;
  std::size_t struck = 0;
  std::size_t violations = 0;
};

class Run {
 public:
  Run(const Theatre& theatre, bool long_run, std::string only)
      : cast_(theatre.cast()), long_run_(long_run), only_(std::move(only)) {
    const std::string jobs = setting_of("JOBS");
    if (!jobs.empty()) jobs_ = std::max(1UL, std::strtoul(jobs.c_str(), nullptr, 10));
  }
  int run();

 private:
  bool name_points();
  void play_points();
  [[nodiscard]] bool is_wanted(const Point& point);
  [[nodiscard]] bool is_another(const Setting& setting) const;
  [[nodiscard]] bool all_canaries_caught() const;
  [[nodiscard]] bool report() const;

  const Cast& cast_;
  const bool long_run_;
  const std::string only_;
  std::size_t jobs_ = 2;
  std::size_t named_ = 0;
  std::size_t bad_stories_ = 0;
  std::vector<Point> points_;
  Tally tally_;
};

int Run::run() {
  Point exact;
  if (parse(only_, exact)) {
    points_ = {exact};
  } else if (!name_points()) {
    return 1;
  }
  if (points_.empty()) {
    std::printf("no point is named %s\n", only_.c_str());
    return 1;
  }
  if (!setting_of("LIST").empty()) {
    for (const Point& point : points_)
      std::printf("%s\n", point.name().c_str());
    return 0;
  }
  play_points();
  if (only_.empty()) return report() && all_canaries_caught() ? 0 : 1;
  std::printf("%zu points played, %zu struck, %zu violations\n", tally_.played, tally_.struck,
              tally_.violations);
  return tally_.struck == points_.size() && tally_.violations == 0 ? 0 : 1;
}

// Of this many kill points, at most one may be reached in only one of the two runs of a story. The
// limit leaves room for one more write of status.json, which is allowed: in a short story, its 24
// kill points are one in 15.
constexpr std::size_t points_per_stray_min = 8;

// Plays the story of this setting twice without a signal. Returns only the kill points that both
// runs have reached: on a busy machine, the upgrader may write status.json once more than usual.
// Fails if too many points were reached by only one of the runs (points_per_stray_min).
Survey survey_twice(const Cast& cast, const Setting& setting, bool every_call) {
  Survey first = survey(cast, setting, every_call);
  if (!first.verdict.good()) return first;
  Survey second = survey(cast, setting, every_call);
  if (!second.verdict.good()) return second;
  std::set<std::string> reached;
  for (const Point& point : first.points)
    reached.insert(point.name());
  const std::size_t strays = std::erase_if(
      second.points, [&](const Point& point) { return !reached.contains(point.name()); });
  const std::size_t missed = first.points.size() - second.points.size();
  if ((strays + missed) * points_per_stray_min > first.points.size()) {
    second.verdict.wrong = std::to_string(strays + missed) + " of " +
                           std::to_string(first.points.size()) +
                           " points were reached by only one of two runs";
  }
  return second;
}

// Lists the kill points of all stories (scripted upgrades). To find them, plays each story twice
// without a signal. Returns false if a story does not end as its line in story.cc says.
bool Run::name_points() {
  std::vector<Setting> settings = all_settings();
  std::erase_if(settings, [this](const Setting& setting) { return is_another(setting); });
  std::vector<std::vector<Point>> found(settings.size());
  const auto task = [&](std::size_t index) {
    const Survey surveyed = survey_twice(cast_, settings[index], long_run_);
    std::string text = surveyed.verdict.wrong + "\n";
    for (const Point& point : surveyed.points)
      text += point.victim + "/" + point.step + "/" + point.signal + "\n";
    return surveyed.verdict.good() ? text : text + surveyed.verdict.account;
  };
  work(settings.size(), jobs_, task, [&](const Finding& finding) {
    const Setting& setting = settings[finding.index];
    if (!finding.text.starts_with("\n")) {
      ++bad_stories_;
      std::printf("%s without any signal: %s\n", setting.name().c_str(),
                  finding.text.empty() ? "its worker died" : finding.text.c_str());
      return;
    }
    for (const std::string& line : lines_of(finding.text)) {
      Point point;
      if (parse(setting.name() + "/" + line, point)) found[finding.index].push_back(point);
    }
  });
  for (const std::vector<Point>& points : found) {
    std::copy_if(points.begin(), points.end(), std::back_inserter(points_),
                 [this](const Point& point) { return is_wanted(point); });
  }
  return bad_stories_ == 0;
}

// Returns true if the variable ONLY begins with the name of a different setting, without wildcards.
// In this case, no point of `setting` is wanted, so its story need not be played.
bool Run::is_another(const Setting& setting) const {
  std::size_t end = 0;
  for (int part = 0; part < 4 && end != std::string::npos; ++part)
    end = only_.find('/', end + 1);
  if (end == std::string::npos) return false;
  const std::string story = only_.substr(0, end);
  return story.find_first_of("*?[") == std::string::npos && story != setting.name();
}

// Returns whether this kill point is tried. If the variable ONLY is set, the points whose names
// match it are tried. Otherwise, a long run tries all points. A short run tries all points of the
// story `good` in which the upgrader runs first, and every fifth of all other points.
bool Run::is_wanted(const Point& point) {
  if (!only_.empty()) return fnmatch(only_.c_str(), point.name().c_str(), 0) == 0;
  const bool good = std::string_view(point.setting.story->name) == "good";
  if (long_run_ || (good && point.setting.order == Order::upgrader_first)) return true;
  return named_++ % short_stride == 0;
}

void Run::play_points() {
  const auto task = [this](std::size_t index) {
    const Verdict verdict = play(cast_, points_[index]);
    if (verdict.good()) return "good " + words(verdict.end);
    return (verdict.struck ? "wrong: " : "not struck: ") + verdict.wrong + "\n" + verdict.account;
  };
  work(points_.size(), jobs_, task, [this](const Finding& finding) {
    ++tally_.played;
    const bool good = finding.text.starts_with("good ");
    const bool struck = good || finding.text.starts_with("wrong: ");
    tally_.struck += struck ? 1 : 0;
    if (good) {
      ++tally_.ends[finding.text.substr(5)];
      return;
    }
    ++tally_.violations;
    std::printf("%s\n  repeat it: make kill ONLY=%s\n%s\n",
                struck ? "A point at which something is wrong:" : "A point that is none:",
                points_[finding.index].name().c_str(),
                finding.text.empty() ? "its worker died" : finding.text.c_str());
    std::fflush(stdout);
  });
}

bool Run::report() const {
  std::string ends;
  for (const auto& [end, count] : tally_.ends) {
    ends += (ends.empty() ? "" : ", ") + std::to_string(count) + " " + end;
  }
  const bool met =
      tally_.struck == points_.size() && tally_.violations == 0 && points_.size() >= points_wanted;
  std::printf(
      "result: V8 | make kill%s | %s points, %s struck: %s; %s violations | "
      ">= 600 points, one working agent after each | %s\n",
      long_run_ ? " LONG=1" : "", with_commas(points_.size()).c_str(),
      with_commas(tally_.struck).c_str(), ends.c_str(), with_commas(tally_.violations).c_str(),
      met ? "met" : "not met: see above");
  return met;
}

bool Run::all_canaries_caught() const {
  bool all = true;
  for (const Canary& canary : canaries(cast_)) {
    const std::string missed = canary.missed();
    std::printf("canary: V8 | %s | %s\n", canary.seeded.c_str(),
                missed.empty() ? "caught" : ("MISSED: " + missed).c_str());
    all = all && missed.empty();
  }
  return all;
}

}  // namespace

int main() {
  const Theatre theatre;
  return Run(theatre, !setting_of("LONG").empty(), setting_of("ONLY")).run();
}
