#include "tests/demo/stage.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace demo {
namespace {

namespace fs = std::filesystem;

std::string make_directory() {
  std::string pattern = (fs::temp_directory_path() / "upgrader-demo-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) std::abort();
  return fs::canonical(pattern).string();
}

// Waits until the condition is true. Checks it every millisecond.
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
  std::vector<char*> argv;
  for (const std::string& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

}  // namespace

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
