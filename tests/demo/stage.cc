#include "tests/demo/stage.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "base/pointers.h"

namespace demo {
namespace {

volatile std::sig_atomic_t told_to_stop = 0;

// A line whose number is a multiple of this is written in two halves, so that an agent may find
// only half a line. This number is a prime, so that such lines have a different position in each
// rotated file.
constexpr std::size_t lines_per_half_line = 97;

class Log {
 public:
  explicit Log(const WriterSettings& settings) : settings_(settings) { open(); }

  void write_line(std::size_t number) {
    const std::string line = "line " + std::to_string(number) + " of a log that is being written\n";
    const int file = is_late() ? old_ : descriptor_;
    if (number % lines_per_half_line != 0) return write(file, line);
    const std::string_view text = line;
    write(file, text.substr(0, text.size() / 2));
    poll(nullptr, 0, 1);
    write(file, text.substr(text.size() / 2));
  }

  // Renames the files as logrotate does: the oldest file first, so that no file is overwritten. The
  // next line goes to the new file. The `late_lines` lines after that go to the old file.
  void rotate() {
    const int old = descriptor_;
    for (std::size_t i = ++rotations_; i > 1; --i)
      rename(name(i - 1).c_str(), name(i).c_str());
    rename(settings_.path.c_str(), name(1).c_str());
    open();
    if (old_ >= 0) close(old_);
    old_ = old;
    late_ = settings_.late_lines + 1;
  }

 private:
  bool is_late() {
    if (late_ == 0) return false;
    return --late_ < settings_.late_lines;
  }
  void open() {
    descriptor_ = ::open(settings_.path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0) std::abort();
  }
  void write(int descriptor, std::string_view text) const {
    if (::write(descriptor, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      std::abort();
    }
  }
  [[nodiscard]] std::string name(std::size_t age) const {
    return settings_.path + "." + std::to_string(age);
  }

  WriterSettings settings_;
  int descriptor_ = -1;
  int old_ = -1;
  std::size_t late_ = 0;  // the number of lines until no more lines are late
  std::size_t rotations_ = 0;
};

[[noreturn]] void write_lines(const WriterSettings& settings) {
  using namespace std::chrono;
  Log log(settings);
  const auto begin = steady_clock::now();
  std::size_t written = 0;
  while (told_to_stop == 0) {
    const auto passed = duration_cast<microseconds>(steady_clock::now() - begin).count();
    const auto due = static_cast<std::size_t>(passed) * settings.lines_per_second / 1'000'000;
    while (written < due) {
      log.write_line(++written);
      if (settings.lines_per_file != 0 && written % settings.lines_per_file == 0) log.rotate();
    }
    poll(nullptr, 0, 1);
  }
  _exit(0);
}

namespace fs = std::filesystem;

// How long a writer may take until it begins its first line. The limit is that long because the
// processor may be busy with other programs.
constexpr std::chrono::minutes first_line_limit{1};

std::string make_directory() {
  std::string pattern = (fs::temp_directory_path() / "upgrader-demo-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) std::abort();
  return fs::canonical(pattern).string();
}

// Waits until the condition is true. Checks the condition every millisecond. Returns false if the
// condition is still false after `limit`.
bool wait_until(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

sample_agent::Lines open_lines(const std::string& path) {
  auto file = sample_agent::File::open(path, O_RDONLY | O_CREAT);
  if (!file) std::abort();
  return sample_agent::Lines(std::move(file.value()), 0);
}

[[noreturn]] void execute(const std::vector<std::string>& arguments, const std::string& log) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int error = open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0644);
  const int null = open("/dev/null", O_RDWR);
  dup2(null, 0);
  dup2(null, 1);
  dup2(error, 2);
  const std::vector<char*> argv = upgrader::pointers_to(arguments);
  execv(argv[0], argv.data());
  _exit(127);
}

}  // namespace

LineWriter::LineWriter(const WriterSettings& settings) {
  const int file = open(settings.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) std::abort();
  close(file);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ != 0) {
    const auto is_begun = [&settings] {
      return std::ifstream(settings.path).peek() != std::ifstream::traits_type::eof();
    };
    if (!wait_until(is_begun, first_line_limit)) std::abort();
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  std::signal(SIGTERM, [](int) { told_to_stop = 1; });
  write_lines(settings);
}

LineWriter::~LineWriter() {
  stop();
}

void LineWriter::stop() {
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

Stage::Stage(const StageSettings& settings) : settings_(settings), directory_(make_directory()) {
  fs::create_directory(path("releases"));
  fs::create_directory(path("state"));
  events_.emplace(open_lines(path("events")));
  writer_.emplace(WriterSettings{.path = path("log"),
                                 .lines_per_second = settings.lines_per_second,
                                 .lines_per_file = settings.lines_per_file,
                                 .late_lines = settings.late_lines});
}

Stage::~Stage() {
  if (upgrader_ > 0) {
    kill(upgrader_, SIGQUIT);
    if (!wait_for_upgrader(std::chrono::seconds(5))) kill(upgrader_, SIGKILL);
  }
  writer_.reset();
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

void Stage::release(const std::string& variant, const std::string& more) {
  fs::copy_file(settings_.variants + "/" + variant, path("releases/.unfinished"));
  std::ofstream(path("releases/.unfinished"), std::ios::app) << more;
  publish(variant.substr(0, variant.find('-')));
}

void Stage::release_script(const std::string& version, const std::string& text) {
  std::ofstream(path("releases/.unfinished")) << text;
  fs::permissions(path("releases/.unfinished"), fs::perms::owner_all);
  publish(version);
}

void Stage::publish(const std::string& version) const {
  fs::rename(path("releases/.unfinished"), path("releases/agent-v" + version));
}

void Stage::desire(const std::string& version) {
  const std::string unfinished = path("releases/.desired");
  std::ofstream(unfinished) << version << '\n';
  fs::rename(unfinished, path("releases/desired"));
}

void Stage::install(const std::string& version) {
  fs::create_symlink("agent-v" + version, path("releases/current"));
}

std::string Stage::current() const {
  return fs::read_symlink(path("releases/current"));
}

std::vector<std::string> Stage::agent_arguments() const {
  return {"--input=" + path("log"),     "--output=" + path("output"),
          "--state=" + path("state"),   "--releases=" + path("releases"),
          "--events=" + path("events"), "--rotate-wait=" + settings_.rotate_wait};
}

void Stage::start_upgrader(const std::vector<std::string>& options,
                           const std::vector<std::string>& agent_options) {
  std::vector<std::string> arguments{settings_.upgrader, "--relink"};
  std::ranges::copy(options, std::back_inserter(arguments));
  arguments.push_back(path("releases/current"));
  std::ranges::copy(agent_arguments(), std::back_inserter(arguments));
  std::ranges::copy(agent_options, std::back_inserter(arguments));
  start(arguments);
}

void Stage::start_alone(const std::string& version) {
  std::vector<std::string> arguments{path("releases/agent-v" + version)};
  std::ranges::copy(agent_arguments(), std::back_inserter(arguments));
  start(arguments);
}

void Stage::start(const std::vector<std::string>& arguments) {
  const std::string log = path("upgrader.log");
  upgrader_ = fork();
  if (upgrader_ == 0) execute(arguments, log);
}

void Stage::signal_upgrader(int signal) const {
  kill(upgrader_, signal);
}

std::optional<int> Stage::wait_for_upgrader(std::chrono::milliseconds limit) {
  int status = 0;
  const auto has_ended = [&] { return waitpid(upgrader_, &status, WNOHANG) == upgrader_; };
  if (!wait_until(has_ended, limit)) return std::nullopt;
  upgrader_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::optional<SeenEvent> Stage::wait_for(const Wanted& wanted, std::chrono::milliseconds limit) {
  std::optional<SeenEvent> found;
  const auto read_on = [&] {
    while (true) {
      const auto line = events_->peek();
      if (!line || !line.value()) return false;
      const SeenEvent event = parse_event(*line.value());
      events_->take();
      if (!wanted(event)) continue;
      found = event;
      return true;
    }
  };
  static_cast<void>(wait_until(read_on, limit));
  return found;
}

void Stage::stop_writing() {
  writer_.reset();
}

bool Stage::wait_until_copied(std::chrono::milliseconds limit) const {
  const std::size_t wanted = read_input(path("log")).size();
  return wait_until([&] { return read_output(path("output")).size() >= wanted; }, limit);
}

Proof Stage::proof() const {
  return prove(read_input(path("log")), read_output(path("output")), read_events(path("events")));
}

std::string Stage::upgrader_log() const {
  std::ifstream file(path("upgrader.log"));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace demo
